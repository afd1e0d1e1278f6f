package delivery

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"boon.example/internal/base/span"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/post/message"
)

// Worker sends the messages that are due. Many workers may share one store.
type Worker struct {
	Jobs    Jobs
	Gateway Gateway
	Log     *slog.Logger

	// Record has the engine write the outcome of a job: that the job is done and what it means for the voucher, in one
	// transaction. It returns nil when that is durable. Recording twice is recording once.
	Record func(context.Context, ledger.Deliver) error

	// Allow tells whether a notice may still be sent today; nil: it may. One that may not is left out.
	Allow func(context.Context, ledger.Job, *gift.Gift) (bool, error)

	Senders     int           // how many messages are sent at once, slow ones apart; 0: 8
	PerDomain   int           // how many of an account at once to a domain that is slow; 0: a quarter of Senders
	SendTimeout time.Duration // how long a gateway may take for one; 0: 30 s
	RetryFor    time.Duration // how long a message that is refused for now is tried again; 0: 24 h
	StopWithin  time.Duration // how long messages under way may take when Run is told to stop; 0: 10 s

	Tracer  *span.Tracer                  // begins the spans of jobs whose request was recorded; nil: none
	Observe func(contact.Method, Attempt) // called after every attempt, if not nil; it must be quick

	Random func() float64 // in [0, 1), for jitter; nil: math/rand/v2

	once  sync.Once
	wake  chan struct{}
	lanes lanes
}

// Attempt is what one attempt at sending a message came to.
type Attempt string

// What an attempt can come to.
const (
	Accepted  Attempt = "accepted"
	GivenUp   Attempt = "given_up"  // refused for good, or out of retries
	PutOff    Attempt = "put_off"   // it failed for now and is made again
	NotAsked  Attempt = "not_asked" // the gateway is being left alone
	Abandoned Attempt = "abandoned" // the service was stopping
)

// Attempts lists them all.
func Attempts() []Attempt { return []Attempt{Accepted, GivenUp, PutOff, NotAsked, Abandoned} }

const (
	// idle is how long the worker pauses at most: it looks again for jobs that another process left, and after the clock
	// was set.
	idle = 5 * time.Second
	// retryPause is how long it waits when the store fails.
	retryPause = time.Second
	// writing bounds one write to the store, which a stop does not cut short.
	writing = 10 * time.Second
	// maxDoubts is how often a message is handed over without an answer: a third time could make a third copy.
	maxDoubts = 2
	// blockedPause is how long a gift that is blocked waits to be looked at again; what unblocks it brings that forward.
	blockedPause = time.Hour
	// recordAgain is the first pause before an outcome is recorded again.
	recordAgain = 100 * time.Millisecond
)

var errStopping = errors.New("the service is stopping")

// Run sends due jobs until ctx ends. Then it claims no more, gives what is under way StopWithin to finish, cuts off the
// rest and gives those jobs back as if they had not been tried. It returns when nothing of it is running any more. It
// is called once.
func (w *Worker) Run(ctx context.Context) {
	w.prepare()
	sending, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	var running sync.WaitGroup
	w.claimUntil(ctx, func(job ledger.Job, lease time.Time, done func()) {
		running.Go(func() {
			done := sync.OnceFunc(done)
			defer done()
			w.deliver(sending, job, lease, done)
		})
	})
	limit := time.AfterFunc(w.StopWithin, func() { cut(errStopping) })
	defer limit.Stop()
	running.Wait()
}

// Wake tells the worker that there may be something due now. It never blocks.
func (w *Worker) Wake() {
	w.prepare()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// prepare fills in the defaults.
func (w *Worker) prepare() {
	w.once.Do(func() {
		w.wake = make(chan struct{}, 1)
		if w.Senders == 0 {
			w.Senders = 8
		}
		if w.PerDomain == 0 {
			w.PerDomain = max(1, w.Senders/4)
		}
		w.lanes.perLane, w.lanes.slowest, w.lanes.spare = w.PerDomain, slowShare*w.Senders, w.Senders
		for _, d := range []struct {
			field *time.Duration
			value time.Duration
		}{{&w.SendTimeout, 30 * time.Second}, {&w.RetryFor, 24 * time.Hour}, {&w.StopWithin, 10 * time.Second}} {
			if *d.field == 0 {
				*d.field = d.value
			}
		}
		if w.Observe == nil {
			w.Observe = func(contact.Method, Attempt) {}
		}
		if w.Random == nil {
			w.Random = rand.Float64
		}
	})
}

// lease is how long a claimed job is ours: enough to send it, with all its writes.
func (w *Worker) lease() time.Duration { return w.SendTimeout + 3*writing }

// claimUntil claims jobs, as many as there are senders, and starts them, never more at once than that. A claim is a
// durable write: in a bulk it is one for so many messages.
func (w *Worker) claimUntil(ctx context.Context, start func(job ledger.Job, lease time.Time, done func())) {
	senders := make(chan struct{}, w.Senders)
	done := func() { <-senders }
	for {
		select {
		case <-ctx.Done():
			return
		case senders <- struct{}{}:
		}
		done() // only this goroutine takes senders, so what is free stays free
		if ctx.Err() != nil {
			return // select may have chosen the sender
		}
		now := time.Now()
		jobs, err := w.claim(ctx, now, w.Senders)
		if err != nil {
			w.Log.Error("claiming delivery jobs failed; they stay where they are", "error", err)
		}
		lease := now.Add(w.lease())
		for n, job := range jobs {
			if !w.takeSender(ctx, senders, lease) {
				w.giveBack(ctx, jobs[n:])
				break
			}
			start(job, lease, done)
		}
		if len(jobs) < w.Senders {
			w.sleep(ctx, w.pause(ctx, now, len(jobs), err))
		}
	}
}

// takeSender waits for a sender; not when ctx has ended, nor for so long that the lease might end before the message is
// sent.
func (w *Worker) takeSender(ctx context.Context, senders chan struct{}, lease time.Time) bool {
	late := time.NewTimer(time.Until(lease) - w.SendTimeout - writing)
	defer late.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-late.C:
		return false
	case senders <- struct{}{}:
	}
	if ctx.Err() != nil { // select may have chosen the sender
		<-senders
		return false
	}
	return true
}

// claim is not cut short by a stop: jobs that were claimed and never heard of would wait for their lease to end.
func (w *Worker) claim(ctx context.Context, now time.Time, n int) ([]ledger.Job, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writing)
	defer cancel()
	return w.Jobs.ClaimJobs(ctx, now, w.lease(), n)
}

// pause is how long there is nothing to do, after claimed jobs were found to be due at now.
func (w *Worker) pause(ctx context.Context, now time.Time, claimed int, failed error) time.Duration {
	if failed != nil {
		return retryPause
	}
	limited, cancel := context.WithTimeout(ctx, writing)
	defer cancel()
	next, err := w.Jobs.NextJob(limited)
	switch {
	case ctx.Err() != nil:
		return 0
	case err != nil:
		w.Log.Error("asking for the next delivery job failed", "error", err)
		return retryPause
	case next.IsZero():
		return idle
	case !next.After(now) && claimed == 0:
		return retryPause // it is due, but was not to be had: no point in asking again at once
	}
	return min(idle, time.Until(next))
}

// sleep waits until the pause is over, Wake is called or ctx ends.
func (w *Worker) sleep(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.wake:
	case <-ctx.Done():
	}
}

// deliver does one job. ctx ends when the worker is stopping and can wait no longer; lease is when the job is no longer
// ours; free lets another message begin beside this one.
func (w *Worker) deliver(ctx context.Context, job ledger.Job, lease time.Time, free func()) {
	ctx, traced := w.Tracer.Later(ctx, job.Trace, "job", attribute.Int("boon.attempt", job.Attempts+1),
		attribute.String("boon.job", string(job.Kind)))
	defer traced.End()
	log := w.Log.With("job", job.ID.String(), "gift", job.VoucherID.String(), "attempt", job.Attempts+1)
	find := w.one
	if job.Kind == ledger.OrderJob {
		find = w.order
	}
	gifts, err := find(ctx, log, job, lease)
	switch {
	case errors.Is(err, ledger.ErrTakenBack):
		return
	case err != nil:
		log.Error("loading the gift of a delivery job failed; it is tried again", "error", err)
		w.postpone(ctx, log, job, firstDelay, "")
		return
	case len(gifts) == 0:
		return
	}
	g := &gifts[0]
	place, behind := w.lanes.enter(laneOf(g), time.Now())
	if place == nil {
		w.postpone(ctx, log, job, slowDelay(behind, w.Random()), "")
		return
	}
	slow := time.AfterFunc(slowAfter, func() {
		if w.lanes.slow(place) {
			free()
		}
	})
	if !job.Kind.ToBuyer() { // who is told what became of a gift, also after its end
		err = tooLate(g, job.Now())
	}
	if err == nil {
		err = w.send(ctx, gifts, job)
	}
	slow.Stop()
	w.lanes.leave(place, time.Now())
	w.conclude(ctx, log, job, gifts, err, lease)
}

// one gives the gift that a job is about, to be sent now; none, where what becomes of the job was written already.
func (w *Worker) one(ctx context.Context, log *slog.Logger, job ledger.Job, lease time.Time) ([]gift.Gift, error) {
	g, err := w.load(ctx, job)
	if err != nil {
		return nil, err
	}
	switch to := g.Card.Purchase.EmailAddress; {
	case job.Kind == ledger.RedirectedJob:
		g.Card.Method, g.Card.Contact = job.Method, job.Contact
	case job.Kind.ToBuyer() && (to == "" || g.Card.Address() == to && job.Kind == ledger.ArrivedJob):
		// The buyer was erased, or bought the gift for themselves and has it.
		w.record(ctx, log, ledger.Deliver{Job: job, Unwanted: true}, lease)
		return nil, nil
	case job.Kind.ToBuyer():
		g.Card.Method, g.Card.Contact = contact.Email, to
	}
	if !wanted(job, &g, job.Now()) {
		w.record(ctx, log, ledger.Deliver{Job: job, Unwanted: true}, lease)
		return nil, nil
	}
	if job.Kind == ledger.GiftJob && g.Blocked != "" && !g.OverForGuest(job.Now()) {
		w.postpone(ctx, log, job, blockedPause, "")
		return nil, nil
	}
	if job.Kind.Notice() && w.Allow != nil {
		switch allowed, err := w.Allow(ctx, job, &g); {
		case err != nil:
			log.Error("asking for a daily limit failed; the notice is tried again", "error", err)
			w.postpone(ctx, log, job, firstDelay, "")
			return nil, nil
		case !allowed:
			log.Info("a notice is left out: a daily limit is reached")
			w.record(ctx, log, ledger.Deliver{Job: job, Unwanted: true}, lease)
			return nil, nil
		}
	}
	return []gift.Gift{g}, nil
}

// order gives the gifts that an OrderJob brings to their buyer now; none, where what becomes of the job was written
// already. Gifts that were taken out of use are left out, and of those that nobody could use it is written that they
// did not arrive. While one is blocked, the message waits, as that of a gift does.
func (w *Worker) order(ctx context.Context, log *slog.Logger, job ledger.Job, lease time.Time) ([]gift.Gift, error) {
	limited, cancel := context.WithTimeout(ctx, writing)
	defer cancel()
	gifts, accepted, err := w.Jobs.OrderOf(limited, job)
	if err != nil {
		return nil, err
	}
	gifts = slices.DeleteFunc(gifts, func(g gift.Gift) bool { return !g.Status.Receivable() })
	if accepted { // and the program was stopped before it had written that of all
		w.record(ctx, log, ledger.Deliver{Job: job, Outcome: gift.Outcome{Delivered: true}, Gifts: idsOf(gifts)}, lease)
		return nil, nil
	}
	var late []gift.Gift
	var why error
	for n := range gifts {
		if err := tooLate(&gifts[n], job.Now()); err != nil {
			late, why = append(late, gifts[n]), err
		} else if gifts[n].Blocked != "" {
			w.postpone(ctx, log, job, blockedPause, "")
			return nil, nil
		} else if !contact.Same(gifts[n].Card.Contact, gifts[0].Card.Contact) {
			return nil, errors.New("gifts of one order go to several addresses")
		}
	}
	switch {
	case len(gifts) == 0:
		w.record(ctx, log, ledger.Deliver{Job: job, Unwanted: true}, lease)
	case len(late) > 0:
		all := len(late) == len(gifts)
		w.record(ctx, log, ledger.Deliver{Job: job, Outcome: gift.Outcome{Reason: words(why, &late[0])},
			Gifts: idsOf(late), More: !all}, lease)
		gifts = slices.DeleteFunc(gifts, func(g gift.Gift) bool { return tooLate(&g, job.Now()) != nil })
		if all {
			return nil, nil
		}
	}
	return gifts, nil
}

func idsOf(gifts []gift.Gift) (ids []guid.ID) {
	for n := range gifts {
		ids = append(ids, gifts[n].ID)
	}
	return ids
}

// conclude writes what an attempt came to.
func (w *Worker) conclude(ctx context.Context, log *slog.Logger, job ledger.Job, gifts []gift.Gift, err error,
	lease time.Time) {
	g := &gifts[0]
	var refusal *message.Refusal
	var doubt *message.Doubt
	var paused *Paused
	if errors.As(err, &doubt) {
		job.Doubts++
	}
	switch stopping := context.Cause(ctx) == errStopping; {
	case err == nil:
		w.Observe(g.Card.Method, Accepted)
		w.record(ctx, log, ledger.Deliver{Job: job, Outcome: gift.Outcome{Delivered: true}, Gifts: idsOf(gifts),
			NoticeBy: g.Card.Method, NoticeTo: g.Card.Contact}, lease)
	case errors.As(err, &refusal) || job.Doubts >= maxDoubts:
		w.fail(ctx, log, job, gifts, words(err, g), lease)
	case stopping:
		w.Observe(g.Card.Method, Abandoned)
		w.giveBack(ctx, []ledger.Job{job})
	case errors.As(err, &paused):
		w.Observe(g.Card.Method, NotAsked)
		pause := paused.After
		if !paused.First {
			pause += time.Duration(w.Random() * float64(paused.After)) // spread, so that not all come at once
		}
		w.postpone(ctx, log, job, pause, words(err, g))
	default:
		w.retry(ctx, log, job, gifts, err, lease)
	}
}

// wanted reports whether a job's message is still to be sent: that of a gift that was cancelled or used up is not, nor
// is a notice of what is left when nothing is, or cannot be used, or to nobody.
func wanted(job ledger.Job, g *gift.Gift, now time.Time) bool {
	switch job.Kind {
	case ledger.RedirectedJob, ledger.UsedJob:
		return true
	case ledger.BalanceJob:
		// A buyer who hands gifts out is not told what others do with them.
		return g.Status == gift.Claimed && g.Card.Method != contact.Printed && g.Card.Contact != "" && g.Blocked == "" &&
			g.Card.Attachment == "" && !g.OverForGuest(now)
	}
	return g.Status.Receivable()
}

// tooLate refuses to deliver a gift that has expired, be it that its gateway was down for as long: it could not be
// redeemed; and one whose recipient was erased.
func tooLate(g *gift.Gift, now time.Time) error {
	if g.OverForGuest(now) {
		return &message.Refusal{Words: "The gift expired before it could be delivered."}
	}
	if g.Card.Contact == "" && g.Card.Method != contact.Printed {
		return &message.Refusal{Words: "The recipient's contact was erased."}
	}
	return nil
}

func (w *Worker) load(ctx context.Context, job ledger.Job) (gift.Gift, error) {
	ctx, cancel := context.WithTimeout(ctx, writing)
	defer cancel()
	return w.Jobs.GiftOf(ctx, job)
}

// send makes one attempt, under the timeout. A gateway that panics has failed.
func (w *Worker) send(ctx context.Context, gifts []gift.Gift, job ledger.Job) (err error) {
	ctx, cancel := context.WithTimeout(ctx, w.SendTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	ctx, traced := span.Start(ctx, "gateway", attribute.String("boon.method", gifts[0].Card.Method.String()))
	defer func() { span.End(traced, err) }()
	return w.Gateway.Send(ctx, gifts, job)
}

// retry puts the job off after a failed attempt, or gives it up when it was the last.
func (w *Worker) retry(ctx context.Context, log *slog.Logger, job ledger.Job, gifts []gift.Gift, err error,
	lease time.Time) {
	g := &gifts[0]
	said := words(err, g)
	var p *panicked
	if errors.As(err, &p) {
		log.Error("a gateway panicked", "panic", p.value, "stack", string(p.stack))
	}
	job.Attempts++
	pause, again := retryAfter(job.Attempts, w.RetryFor, w.Random())
	if !again {
		w.fail(ctx, log, job, gifts, said, lease)
		return
	}
	w.Observe(g.Card.Method, PutOff)
	if later, ok := errors.AsType[*message.Later](err); ok {
		pause = max(pause, min(later.After, w.RetryFor))
	}
	log.Warn("a delivery failed for now", "words", said, "again_in", pause.String())
	w.postpone(ctx, log, job, pause, said)
}

func (w *Worker) fail(ctx context.Context, log *slog.Logger, job ledger.Job, gifts []gift.Gift, said string,
	lease time.Time) {
	w.Observe(gifts[0].Card.Method, GivenUp)
	log.Warn("a delivery failed for good", "words", said)
	w.record(ctx, log, ledger.Deliver{Job: job, Outcome: gift.Outcome{Reason: said}, Gifts: idsOf(gifts)}, lease)
}

// postpone makes the job due again after pause. Should that fail, it is due again when its lease ends.
func (w *Worker) postpone(ctx context.Context, log *slog.Logger, job ledger.Job, pause time.Duration, said string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writing)
	defer cancel()
	job.Due = job.Now().Add(pause).UTC()
	switch err := w.Jobs.PostponeJob(ctx, job, said); {
	case err == nil:
		w.Wake() // the worker may pause beyond the new time
	case !errors.Is(err, ledger.ErrTakenBack):
		log.Error("postponing a delivery job failed; it is due again when its lease ends", "error", err)
	}
}

// giveBack releases jobs: they are due at once, for any worker, and lose no attempt.
func (w *Worker) giveBack(ctx context.Context, jobs []ledger.Job) {
	for _, job := range jobs {
		w.postpone(ctx, w.Log.With("job", job.ID.String()), job, 0, "")
	}
}

// perRecord is of how many gifts the outcome of an OrderJob is written at once: no till waits for that.
const perRecord = 16

// record writes the outcome, of a few gifts after the other. That one was brought shows, should the program be stopped
// in between, that the message needs not go out again.
func (w *Worker) record(ctx context.Context, log *slog.Logger, d ledger.Deliver, lease time.Time) {
	for all := d.Gifts; len(all) > perRecord; all = d.Gifts {
		part := d
		part.Gifts, part.More, d.Gifts = all[:perRecord], true, all[perRecord:]
		if !w.write(ctx, log, part, lease) {
			return
		}
	}
	w.write(ctx, log, d, lease)
}

// write records an outcome, again and again until it is written or the job is no longer ours: a message that went out
// must not go out again only because the engine was busy.
func (w *Worker) write(ctx context.Context, log *slog.Logger, d ledger.Deliver, lease time.Time) bool {
	var err error
	for pause := recordAgain; ; pause = min(2*pause, writing) {
		if err = w.finish(ctx, d); err == nil {
			return true
		}
		if time.Until(lease) <= pause || ctx.Err() != nil {
			break
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	log.Error("the outcome of a delivery could not be recorded; it is due again when its lease ends", "delivered",
		d.Delivered, "error", err)
	return false
}

// finish makes one attempt at recording the outcome. A stop does not cut it short.
func (w *Worker) finish(ctx context.Context, d ledger.Deliver) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writing)
	defer cancel()
	return w.Record(ctx, d)
}
