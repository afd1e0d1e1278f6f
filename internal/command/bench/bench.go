// Package bench is the command boon bench: it puts load on a running service, as many tills would, measures it, and
// checks afterwards that the gifts have lost what was acknowledged. It knows the service by its interface only.
package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"boon.example/client"
	"boon.example/internal/command/load"
	"boon.example/internal/command/remote"
	"boon.example/internal/command/terminal"
)

// Command has the flags of boon bench.
type Command struct {
	What string `arg:"" enum:"redeem,validate,send,mix" help:"redeem, validate, send, or mix: of twenty calls ten validate, nine redeem, one sends."`

	Target string `required:"" placeholder:"URL" help:"Address of the service. Never taken from the environment: load goes where you mean it to."`
	Key    string `setting:"env" placeholder:"KEY" help:"API key. Better in the environment: arguments show in lists of processes."`

	Connections int           `default:"64" placeholder:"N" help:"How many tills call at the same time. Default: ${default}."`
	Duration    time.Duration `default:"10s" placeholder:"TIME" help:"How long. Default: ${default}."`
	Rate        float64       `placeholder:"N" help:"Calls a second, however the service fares (an open loop). Default: each till calls again when it has its answer (a closed loop)."`
	Vouchers    int           `default:"1000" placeholder:"N" help:"How many gifts to prepare. Default: ${default}."`
	Hot         int           `placeholder:"N" help:"Use only so many of them; 1: every till redeems the same gift."`
	Value       string        `default:"10000" placeholder:"AMOUNT" help:"What each gift is worth. Default: ${default}."`
	Amount      string        `default:"0.01" placeholder:"AMOUNT" help:"What each redemption takes. Default: ${default}."`
	Location    string        `placeholder:"ID" help:"Location where the gifts are used. Not needed when the key or the account has only one."`
	Storefront  string        `setting:"env" required:"" placeholder:"ID" help:"Storefront of the account that the gifts are sold by."`
	RandomKeys  bool          `help:"Use random Idempotency-Keys, in place of those in time order that our client makes."`
	Keep        bool          `help:"Leave the prepared gifts as they are, instead of cancelling them."`
	JSON        bool          `name:"json" help:"Print the figures as JSON, instead of text for people."`
}

func (Command) Help() string {
	return `Prepares printed gifts of its own, calls for a while, and tells how many calls a second succeeded, how long they took, and what
became of the others. Then it checks the money: what the gifts have lost must be the sum of what was acknowledged, where a call that got
no answer may count or not, until the service tells what became of it. Last it cancels the gifts it prepared; those that send and mix have
made stay. Use an account that is there for this: the gifts are real.

Latencies are from when a call was meant to be made. With --rate that is a fixed schedule: a call that had to wait for a free connection
has waited, and one that never got one is counted as not sent. Give enough connections for the rate.

Examples:

    export BOON_KEY=… BOON_STOREFRONT=7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21
    boon bench redeem --target http://127.0.0.1:8080
    boon bench redeem --target http://127.0.0.1:8080 --connections 256 --duration 30s --vouchers 100000
    boon bench mix --target https://gifts.example.com --rate 500 --connections 200 --json

Next: docs/why/benchmarks.md says how to read the figures, and what ours are.`
}

func (c *Command) Run(t *terminal.Terminal) error {
	b, err := c.bench(t)
	if err != nil {
		return err
	}
	t.Status("preparing %d gifts", c.Vouchers)
	if err := b.prepare(t); err != nil {
		return err
	}
	loaded, stop := context.WithCancel(t)
	defer stop()
	b.plan.Each = func(e load.Event) {
		if b.showRefusal.note(e) {
			stop() // every other call would be refused as well
		}
	}
	run, err := load.Start(loaded, b.plan)
	if err != nil {
		return fmt.Errorf("calling the service: %w", err)
	}
	b.watch(t, run)
	return b.finish(t, run)
}

// finish checks the money, cancels what was prepared, and reports.
func (b *bench) finish(t *terminal.Terminal, run *load.Run) (err error) {
	after := context.WithoutCancel(t) // a load that is ended early is reported too
	report, refusal := b.report(run), b.showRefusal.err()
	if report.Calls > 0 || refusal == nil {
		t.Status("checking %d gifts", b.Vouchers)
		report.Verified, err = b.verify(after, run)
	}
	if !b.Keep {
		t.Status("cancelling %d gifts", b.Vouchers)
		err = errors.Join(err, b.cancel(after))
	}
	t.Status("")
	if report.Calls > 0 || refusal == nil {
		err = errors.Join(err, report.print(t, b.JSON))
	}
	switch {
	case refusal != nil:
		if err != nil {
			fmt.Fprintf(t.Stderr, "boon: %s\n", terminal.Plain(err.Error()))
		}
		return refusal
	case err == nil && !report.Verified.OK:
		return terminal.ErrQuiet // the report says so
	}
	return err
}

// firstRefusal is the first answer that says that this load can never succeed.
type firstRefusal struct {
	mu    sync.Mutex
	event *load.Event
}

// note keeps an answer when it is such a refusal: one that comes neither from the load itself nor from the gifts being
// used up by it.
func (f *firstRefusal) note(e load.Event) bool {
	switch client.Code(e.Code) {
	case client.Unavailable, client.RequestInProgress, client.RateLimited, client.AlreadyRedeemed,
		client.InsufficientBalance, client.UnexpectedError:
		return false
	}
	if e.Status < http.StatusBadRequest || e.Status >= http.StatusInternalServerError {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.event == nil {
		f.event = &e
	}
	return true
}

// err is the refusal as the client would have given it; nil: there was none.
func (f *firstRefusal) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.event == nil {
		return nil
	}
	var problem struct {
		Messages  []client.Message `json:"messages"`
		RequestID string           `json:"requestID"`
	}
	if err := json.Unmarshal([]byte(f.event.Body), &problem); err != nil || f.event.Code == "" {
		return fmt.Errorf("%s calls are answered with HTTP %d, not by boon", f.event.Kind, f.event.Status)
	}
	return &client.Error{Status: f.event.Status, Code: client.Code(f.event.Code), Messages: problem.Messages,
		RequestID: problem.RequestID}
}

// bench is a load with what it is about.
type bench struct {
	*Command
	api         *client.Client
	plan        load.Plan
	orders      load.Orders
	prepared    []*client.Order
	reference   string // of what was prepared
	sales       string // of what the load sends
	amount      *big.Rat
	value       client.Decimal
	worth       *big.Rat // of all prepared gifts together, at first
	currency    string
	showRefusal firstRefusal
}

// bench checks the flags.
func (c *Command) bench(t *terminal.Terminal) (*bench, error) {
	if c.Key == "" {
		return nil, terminal.UsageError("An API key is needed: set BOON_KEY, or give --key. boon key create makes one.")
	}
	if c.Connections < 1 || c.Vouchers < 1 || c.Duration <= 0 || c.Rate < 0 || c.Hot < 0 || c.Hot > c.Vouchers {
		return nil, terminal.UsageError("--connections, --vouchers and --duration must be above 0, --rate not below, and " +
			"--hot at " +
			"most --vouchers.")
	}
	take, err := remote.Amount("--amount", c.Amount)
	if err != nil {
		return nil, err
	}
	b := &bench{Command: c, amount: take.Rat(), worth: new(big.Rat)}
	if b.value, err = remote.Amount("--value", c.Value); err != nil {
		return nil, err
	}
	if b.api, err = client.New(c.Target, c.Key, client.WithUserAgent("boon-bench/"+t.Version)); err != nil {
		return nil, terminal.UsageError(fmt.Sprintf("--target or --key: %v.", err))
	}
	target, err := load.NewTarget(c.Target, c.Key)
	if err != nil {
		return nil, terminal.UsageError(fmt.Sprintf("--target: %v.", err))
	}
	id := uuid.NewString()
	b.reference, b.sales = "boon-bench-"+id, "boon-bench-sale-"+id
	b.orders = load.Orders{Location: c.Location, Amount: c.Amount, RandomID: c.RandomKeys,
		Sale: load.Sale(c.Value, c.Storefront, b.sales)}
	next := map[string]func(*load.Orders) load.Next{"redeem": target.Redeem, "validate": target.Validate,
		"send": target.Send, "mix": target.Mix}
	b.plan = load.Plan{Target: target, Next: next[c.What](&b.orders), Connections: c.Connections, Duration: c.Duration,
		Rate: c.Rate}
	return b, nil
}

// prepare makes the gifts, up to a thousand a call.
func (b *bench) prepare(ctx context.Context) error {
	for len(b.orders.Gifts) < b.Vouchers {
		order, err := b.api.SendGift(ctx, client.SendGiftRequest{
			MonetaryGift:    &client.MonetaryGift{Value: b.value, DeliveryMethodID: client.Printed},
			Recipients:      make([]client.Recipient, min(1000, b.Vouchers-len(b.orders.Gifts))),
			PaymentMethodID: client.ExternalTransaction, ExternalPayment: client.ExternalPayment{
				ExternalTransactionReferenceNumber:      b.reference,
				ExternalTransactionCustomerFirstName:    "Boon",
				ExternalTransactionCustomerLastName:     "Bench",
				ExternalTransactionCustomerEmailAddress: "bench@example.com",
				ExternalStorefrontID:                    b.Storefront,
			},
		})
		if err != nil {
			return fmt.Errorf("preparing gifts: %w", err)
		}
		b.prepared = append(b.prepared, order)
		for _, g := range order.Gifts {
			id, err1 := uuid.Parse(g.VoucherID)
			code, err2 := strconv.ParseUint(g.VoucherCode, 10, 64)
			if err := errors.Join(err1, err2); err != nil {
				return fmt.Errorf("preparing gifts: %w", err)
			}
			b.orders.Gifts, b.currency = append(b.orders.Gifts, load.Gift{ID: id, Code: code}), g.Currency
			b.worth.Add(b.worth, g.CurrentBalance.Rat())
		}
	}
	if b.Hot > 0 {
		b.orders.Gifts = b.orders.Gifts[:b.Hot]
	}
	return nil
}

// watch shows a person how it goes, until it is over.
func (b *bench) watch(t *terminal.Terminal, run *load.Run) {
	ended := make(chan struct{})
	go func() {
		run.Wait()
		close(ended)
	}()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	var before int64
	seen := time.Now()
	for {
		select {
		case <-ended:
			return
		case now := <-tick.C:
			s := run.Stats()
			n := s.OK.Count()
			t.Status("%4.0f s  %8.0f calls/s  p50 %s  p99 %s  %d failed", now.Sub(run.Begun()).Seconds(),
				float64(n-before)/now.Sub(seen).Seconds(),
				short(s.OK.Quantile(0.5)), short(s.OK.Quantile(0.99)), failed(s))
			before, seen = n, now
		}
	}
}

func failed(s *load.Stats) (n int64) {
	for _, each := range s.Failures() {
		n += each
	}
	return n
}

// cancel takes the prepared gifts out of use, but for those that are used up.
func (b *bench) cancel(ctx context.Context) error {
	for _, order := range b.prepared {
		ask := client.CancelGiftRequest{OrderID: order.OrderID, Cause: client.CauseCancelled, Reason: "made by boon bench"}
		_, err := b.api.CancelGift(ctx, ask)
		if errors.Is(err, client.RedemptionNotAllowed) {
			err = nil
			for n := 0; n < len(order.Gifts) && err == nil; n++ {
				ask.OrderID, ask.VoucherID = "", order.Gifts[n].VoucherID
				if _, err = b.api.CancelGift(ctx, ask); errors.Is(err, client.RedemptionNotAllowed) {
					err = nil
				}
			}
		}
		if err != nil {
			return fmt.Errorf("cancelling the prepared gifts (their purchase is %s): %w", b.reference, err)
		}
	}
	return nil
}

// verified is what the gifts tell, beside what the load was told.
type verified struct {
	OK           bool           `json:"ok"`
	Acknowledged client.Decimal `json:"acknowledged"` // money, by redemptions
	Gone         client.Decimal `json:"gone"`         // from the gifts
	Unsure       int            `json:"unsure"`       // calls of which no answer told the outcome
	Settled      int            `json:"settled"`      // of them: those that the service has told of since
	AtMost       client.Decimal `json:"atMost"`       // that may be gone, should all others of them have taken effect
	Sent         int64          `json:"sent"`         // gifts acknowledged
	Found        int64          `json:"found"`        // gifts made, as the service lists them
	currency     string
	none         bool // not one call succeeded, so that nothing was put to the test
}

// askable is how many calls of unknown outcome are asked about one by one; with more, the sum is an interval.
const askable = 1000

// verify reads every balance and compares.
func (b *bench) verify(ctx context.Context, run *load.Run) (_ *verified, err error) {
	var v verified
	redeemed, sent := run.Of(load.Redeem).OK.Count(), run.Of(load.Send).OK.Count()
	open := map[load.Kind]int64{}
	for _, n := range run.Unsure() {
		v.Unsure++
		done, known := false, false
		if len(run.Unsure()) <= askable {
			if done, known, err = b.outcome(ctx, n); err != nil {
				return nil, err
			}
		}
		switch {
		case !known:
			open[n.Kind]++
			continue
		case done && n.Kind == load.Redeem:
			redeemed++
		case done && n.Kind == load.Send:
			sent++
		}
		v.Settled++
	}
	left, _, err := b.balances(ctx, b.reference)
	if err != nil {
		return nil, err
	}
	if sent+open[load.Send] > 0 {
		if _, v.Found, err = b.balances(ctx, b.sales); err != nil {
			return nil, err
		}
	}
	gone := new(big.Rat).Sub(b.worth, left)
	least, most := b.times(redeemed), b.times(redeemed+open[load.Redeem])
	v.none = run.Stats().OK.Count() == 0
	v.OK = !v.none && gone.Cmp(least) >= 0 && gone.Cmp(most) <= 0 && v.Found >= sent && v.Found <= sent+open[load.Send]
	v.Acknowledged, v.AtMost, v.Gone, v.Sent, v.currency = decimal(least), decimal(most), decimal(gone), sent, b.currency
	return &v, nil
}

func (b *bench) times(n int64) *big.Rat { return new(big.Rat).Mul(b.amount, big.NewRat(n, 1)) }

func decimal(r *big.Rat) client.Decimal {
	text := r.FloatString(4)
	return client.MustDecimal(strings.TrimSuffix(strings.TrimSuffix(text, "00"), ".00"))
}

// outcome asks the service for the outcome of a call.
func (b *bench) outcome(ctx context.Context, n load.Note) (done, known bool, _ error) {
	op := client.OpRedeemGift
	if n.Kind == load.Send {
		op = client.OpSendGift
	}
	for range 10 {
		states, err := b.api.RequestStatus(ctx, n.Key.String(), op)
		switch {
		case errors.Is(err, client.NotFound):
			return false, true, nil
		case err != nil:
			return false, false, fmt.Errorf("asking what became of a call: %w", err)
		case len(states) == 1 && states[0].State == client.RequestFinished:
			return states[0].Status < http.StatusMultipleChoices, true, nil
		}
		time.Sleep(500 * time.Millisecond) // it is under way
	}
	return false, false, nil
}

// balances adds up what the gifts of a purchase are worth.
func (b *bench) balances(ctx context.Context, reference string) (sum *big.Rat, n int64, _ error) {
	sum = new(big.Rat)
	for v, err := range b.api.Gifts(ctx, client.GiftsFilter{ExternalTransactionReferenceNumber: reference,
		PageSize: 200}) {
		if err != nil {
			return nil, 0, fmt.Errorf("reading the balances: %w", err)
		}
		sum.Add(sum, v.CurrentBalance.Rat())
		n++
	}
	return sum, n, nil
}
