package console

import (
	"errors"
	"slices"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/card"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

type amount = money.Amount

// state is what is to be said of a gift in a word or two.
type state struct {
	Text string
	Tone string // good, wait, bad or ""
}

// state tells first what keeps a gift from being used.
func (r *request) state(g *gift.Gift) state {
	name, tone := g.Status.String(), ""
	if g.Status == gift.Claimed && g.Balance == g.Funded { // all was given back
		name = gift.Delivered.String()
	}
	switch {
	case g.Blocked != "":
		name, tone = "BLOCKED", "bad"
	case g.Status.Receivable() && g.ExpiredBy(r.Now):
		name = "EXPIRED"
	case g.Status == gift.Pending && g.Card.DeliveryDate.After(r.Now):
		return state{r.locale.Text("console.state.SCHEDULED", r.locale.Day(g.Card.DeliveryDate.In(r.account.Zone))), "wait"}
	case g.Status == gift.FailedDelivery:
		tone = "bad"
	case g.Status == gift.Pending:
		tone = "wait"
	case g.Status.Redeemable():
		tone = "good"
	}
	return state{r.locale.Text("console.state." + name), tone}
}

// giftShown is what the page of a gift shows.
type giftShown struct {
	For      string
	State    state
	Merchant string
	Left     string
	Held     string // ""; nothing is
	LastFour string
	Facts    []fact
	Events   []happened
	Earlier  bool // there is more than is shown
	Offered  []offered
	Done     *doneShown // nil: nothing was done just now
}

// fact is something that is known of a gift.
type fact struct{ Name, Text string }

// maxEvents is how much of a gift's history its page shows.
const maxEvents = 200

// gift shows a gift: what it is worth, what happened to it, and what is known of it.
func (f *console) gift(r *request) (view, error) {
	g, err := f.named(r)
	if err != nil {
		return view{}, err
	}
	history, err := f.Store.History(r.Context(), r.account.ID, g.ID, max(0, g.Seq-maxEvents), maxEvents)
	if err != nil {
		return view{}, service.Stored(err)
	}
	shown := giftShown{For: r.recipient(&g), State: r.state(&g), Merchant: card.Merchant(r.account),
		Left: r.left(&g), LastFour: g.Card.Code.LastFour(), Facts: r.facts(&g), Earlier: g.Seq > maxEvents,
		Offered: f.offer(r, &g), Done: f.done(r, &g, history)}
	if held := g.HeldAt(r.Now); held > 0 {
		shown.Held = r.worth(&g, held)
	}
	for n := range slices.Backward(history) {
		shown.Events = append(shown.Events, r.happened(&g, &history[n]))
	}
	return view{template: "gift.html", title: "console.gift", heading: shown.For, data: shown}, nil
}

// named finds the gift that the address names.
func (f *console) named(r *request) (gift.Gift, error) {
	id, err := guid.Parse(r.HTTP.PathValue("voucher"))
	if err != nil {
		return gift.Gift{}, errNoPage
	}
	g, err := f.Store.Gift(r.Context(), r.account.ID, id)
	switch {
	case errors.Is(err, refusal.NotFound):
		return gift.Gift{}, errNoPage
	case err != nil:
		return gift.Gift{}, service.Stored(err)
	}
	return g, nil
}

// facts are what is known of a gift; what is not known is left out.
func (r *request) facts(g *gift.Gift) (facts []fact) {
	l, zone := r.locale, r.account.Zone
	add := func(name string, lines ...string) {
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
		if len(lines) > 0 {
			facts = append(facts, fact{l.Text("console.fact." + name), strings.Join(lines, "\n")})
		}
	}
	program, _ := merchant.ProgramByID(g.ProgramID)
	promotion := ""
	if p := r.account.Promotion(g.PromotionID); p != nil {
		promotion = p.Name
	}
	place := ""
	if at := r.account.Location(g.LocationID); at != nil {
		place = at.Name
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return l.Moment(t.In(zone))
	}
	buyer := strings.TrimSpace(g.Card.Purchase.FirstName + " " + g.Card.Purchase.LastName)
	add("recipient", g.Card.Recipient, g.Card.Contact)
	add("sender", g.Card.Sender)
	add("message", g.Card.Message)
	add("value", r.worth(g, g.Worth()))
	add("program", program.Name, promotion)
	add("delivery", at(g.Card.DeliveryDate))
	add("delivered", at(g.Card.DeliveredAt))
	add("from", at(g.ValidFrom))
	add("until", at(g.End()))
	add("place", place)
	add("buyer", buyer, g.Card.Purchase.EmailAddress)
	add("reference", g.Card.Purchase.Reference)
	add("terms", g.Card.Terms, g.Card.PromotionalTerms)
	add("notes", g.Card.Notes)
	add("order", g.OrderID.String())
	add("id", g.ID.String())
	return facts
}

// happened is an entry of a gift's history.
type happened struct {
	Text string
	Left string // after it; "": it was as before
	Tone string
	At   time.Time
	By   string // where, who, what for
}

// unmoved reports whether entries of a kind tell of no amount.
func unmoved(k gift.Kind) bool {
	return k.Balance() == gift.Stays && k.Held() == gift.Stays && !k.Begins()
}

// happened tells an entry in a sentence.
func (r *request) happened(g *gift.Gift, e *gift.Entry) happened {
	moved := e.Delta
	if e.Seq == 1 {
		moved = e.Balance
	}
	h := happened{At: e.At.In(r.account.Zone)}
	if moved != 0 {
		h.Left = r.worth(g, e.Balance)
	}
	shown := moved
	if e.Held != 0 && moved == 0 {
		shown = e.Held
	}
	name := "console.kind." + string(e.Kind)
	if shown < 0 {
		shown = -shown
	}
	if e.Kind == gift.Adjustment && moved < 0 {
		name += "_DOWN"
	}
	if unmoved(e.Kind) {
		h.Text = r.locale.Text(name)
	} else {
		h.Text = r.locale.Text(name, r.worth(g, shown))
	}
	switch e.Kind {
	case gift.SendFailed, gift.Cancellation, gift.Blocked, gift.WrongVerificationCode:
		h.Tone = "bad"
	case gift.Redemption, gift.Sent, gift.Activation, gift.Reload, gift.CashOut:
		h.Tone = "good"
	}
	place := ""
	if at := r.account.Location(e.Actor.LocationID); at != nil {
		place = at.Name
	}
	who := e.Actor.Person
	if who == "" && !e.Actor.KeyID.IsZero() {
		who = r.keyName(e.Actor.KeyID)
	}
	until := ""
	if !e.Until.IsZero() {
		until = r.locale.Text("console.until", r.locale.Moment(e.Until.In(r.account.Zone)))
	}
	parts := slices.DeleteFunc([]string{place, who, e.Purchase.Reference, e.Reference, until, string(e.ReasonCode),
		e.Reason}, func(s string) bool { return s == "" })
	h.By = strings.Join(parts, " · ")
	return h
}
