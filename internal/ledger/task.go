package ledger

import (
	"errors"
	"fmt"
	"io"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// Task is a call with its command, and what became of it. The engine has it drawn, prepared and decided, in this order,
// and all of it again if DrawsAgain says so.
type Task struct {
	Call    *Call
	Command Command
	Err     error // a failure, or a refusal that is not remembered; what is remembered is an answer

	issued Answer // to an Issue, unless it is refused
	result Result
	answer Answer
}

// Weigh finds out what the pieces of item gifts are worth that the command moves, where that counts.
func (t *Task) Weigh(worth func(voucher guid.ID) (gift.ItemWorth, error)) error {
	moves, ok := t.Command.(interface {
		weigh(worth func(guid.ID) (gift.ItemWorth, error)) error
	})
	if !ok || !t.Call.limitsMoney() {
		return nil
	}
	return moves.weigh(worth)
}

// Draw draws the codes that the command gives out. One may be taken already; the decision finds out.
func (t *Task) Draw(random io.Reader) error {
	if issue, issues := t.Command.(*Issue); issues {
		issue.ahead = t.Call.Ahead
	}
	if drawing, draws := t.Command.(interface{ draw(io.Reader) error }); draws {
		return drawing.draw(random)
	}
	return nil
}

// DrawsAgain reports whether nothing was done because the gifts have to be made anew: with other codes, or by another
// clock.
func (t *Task) DrawsAgain() bool {
	var moved clockMoved
	if errors.As(t.Err, &moved) {
		t.Call.Ahead = moved.ahead
		return true
	}
	return errors.Is(t.Err, errCodeTaken)
}

// Told is what the caller is told, once the changes are on stable storage.
func (t *Task) Told() (Answer, error) {
	if t.Err != nil || t.answer.Body != nil || t.answer.Long.Size > 0 {
		return t.answer.of(t.Call), t.Err
	}
	answer := t.Call.Render(t.result, nil)
	answer.Dry = t.Call.DryRun
	return answer.of(t.Call), nil
}

// Weight is how many gifts the command is about; where there is much to say of them, how many would say as much.
func (t *Task) Weight() int { return weight(t.Command) }

// Heavy reports whether the command is held back while light ones come.
func (t *Task) Heavy() bool { return Heavy(t.Command) }

// Affinity names the voucher that the command is about, as far as it is known; zero: none in particular.
func (t *Task) Affinity() guid.ID { return t.Command.affinity() }

// Background reports whether the command reports what became of a message: no caller of the interface waits for it.
func (t *Task) Background() bool {
	switch t.Command.(type) {
	case *Deliver, *Bounce, *Expire:
		return true
	}
	return false
}

// Group is what one transaction decides, of one command after the other.
type Group struct{ state *state }

// NewGroup begins a group of so many commands on what was loaded for them.
func NewGroup(loaded *State, want *Want, commands int, now time.Time) *Group {
	return &Group{newState(loaded, want, commands, now)}
}

// Decide decides a task, which sees the effect of those before it, and gives the jobs and entries that it made. They
// are part of Changes.
func (g *Group) Decide(t *Task) ([]Job, []gift.Entry) {
	s := g.state
	jobs, entries := len(s.changes.Jobs), len(s.changes.Entries)
	s.begin(t.Call)
	t.decide(s)
	s.end()
	return s.changes.Jobs[min(jobs, len(s.changes.Jobs)):], s.changes.Entries[min(entries, len(s.changes.Entries)):]
}

// Changes is what was decided.
func (g *Group) Changes() Changes { return g.state.changes }

// Prepare notes what a command needs, and does of an Issue, which may be long, what needs no transaction.
func (t *Task) Prepare(now time.Time, want *Want) {
	i, issues := t.Command.(*Issue)
	want.Heavy = want.Heavy || Heavy(t.Command)
	t.Call.wantClock(want)
	if s := t.Call.Setup; s > 0 && (want.Setup == 0 || s < want.Setup) {
		want.Setup = s
	}
	if issues {
		i.prepare(now, t.Call.Ahead)
	}
	if t.Call.Key != "" || t.Call.Operation.Idle() {
		t.Call.wantKept(want)
	}
	if t.Call.Key != "" {
		want.Requests = append(want.Requests, t.Call.RequestKey())
		if issues {
			t.issued = t.Call.Render(i.made, nil)
			want.Answers = append(want.Answers, Request{RequestKey: t.Call.RequestKey(), Answer: t.issued})
		}
	}
	t.Command.want(t.Call, want)
}

// decide gives a known key its stored answer, and anything else to the rules.
func (t *Task) decide(s *state) {
	t.result, t.answer, t.Err, t.Call.left = Result{}, Answer{}, nil, nil
	if t.Call.Key == "" {
		t.result, t.Err = t.carryOut(s)
		return
	}
	if known := s.Requests[t.Call.RequestKey()]; known != nil {
		t.replay(known, s)
		return
	}
	t.result, t.Err = t.carryOut(s)
	if !storable(t.Err) {
		return
	}
	// A wrong verification code was entered, whatever is answered, and those have a limit of their own.
	noted, _ := t.Command.(*Change)
	if len(t.result.Gifts)+len(t.result.Entries) == 0 && !gift.IsWrongCode(t.Err) &&
		(noted == nil || !noted.Notes || t.Err != nil) {
		if err := s.keep(t.Call); err != nil {
			t.result, t.Err = Result{}, err
			return
		}
	}
	if t.answer = t.issued; t.Err != nil || t.issued.Body == nil {
		t.answer, t.Err = t.Call.Render(t.result, t.Err), nil
	}
	r := Request{RequestKey: t.Call.RequestKey(), Fingerprint: t.Call.Fingerprint, Answer: t.answer, At: s.real}
	r.Locations = distinct(t.Command.locations(t.Call, s))
	if made := t.result.Entries; len(made) == 1 || len(made) == 2 && made[0].Counterpart == made[1].ID ||
		len(made) > 0 && made[0].Sale == made[0].ID {
		r.EntryID = t.result.Entries[0].ID
	}
	s.record(r)
}

// carryOut has the rules decide, as far as the key may still have calls kept that move nothing.
func (t *Task) carryOut(s *state) (Result, error) {
	if !t.Call.Operation.Idle() {
		return t.Command.decide(t.Call, s)
	}
	if err := s.mayKeep(t.Call); err != nil {
		return Result{}, err
	}
	result, err := t.Command.decide(t.Call, s)
	if err == nil && len(result.Entries) > 0 {
		err = s.keep(t.Call)
	}
	return result, err
}

func (t *Task) replay(known *Request, s *state) {
	if known.Spent {
		t.Err = madeElsewhere(giveNewKey)
		if known.MayBeToldTo(t.Call.Caller) {
			s.changes.Replays = append(s.changes.Replays, known.RequestKey)
			t.Err = refusal.New(refusal.RedemptionNotAllowed,
				"This request was taken back by its Idempotency-Key before it arrived; nothing was done.")
		}
		return
	}
	same, err := t.Call.made(known)
	switch {
	case err != nil:
		t.Err = fmt.Errorf("%w: %w", Unavailable("It cannot be told here whether this was done before."), err)
	case !same:
		t.Err = refusal.New(refusal.IdempotencyMismatch,
			"This Idempotency-Key was used for another request. Use a new key for each new request.")
	case !known.MayBeToldTo(t.Call.Caller):
		t.Err = madeElsewhere(giveNewKey)
	default:
		s.changes.Replays = append(s.changes.Replays, known.RequestKey)
		t.answer = known.Answer
		t.answer.Replayed = true
	}
}

const giveNewKey phrase.Text = "; give a new request a new, random Idempotency-Key"

// madeElsewhere refuses to tell of a request that was made where the caller may not be; then is what is left to do.
func madeElsewhere(then phrase.Text) *refusal.Error {
	return refusal.New(refusal.NotAuthorized,
		"The request with this Idempotency-Key was made at a location that this API key is not enabled for%s.", then)
}

// Fail gives a task an outcome that is no answer.
func (t *Task) Fail(err error) { t.result, t.answer, t.Err = Result{}, Answer{}, err }

// Unavailable asks a caller to repeat the request in a moment.
func Unavailable(why phrase.Text) *refusal.Error {
	refused := refusal.New(refusal.Unavailable, "%s Repeat the request in a moment with the same Idempotency-Key.", why)
	refused.RetryAfter = time.Second
	return refused
}
