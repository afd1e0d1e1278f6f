package gifts

import (
	"errors"
	"slices"
	"strings"
	"time"

	"boon.example/internal/face/console/desk"
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
type state = desk.State

// stateOf tells first what keeps a gift from being used.
func stateOf(r *desk.Request, g *gift.Gift) state {
	name, tone := g.Status.String(), ""
	if g.Status == gift.Claimed && g.Balance == g.Funded { // all was given back
		name = gift.Delivered.String()
	}
	switch {
	case g.Blocked != "":
		name, tone = "BLOCKED", "bad"
	case g.Status.Receivable() && g.OverForGuest(r.Now):
		name = "EXPIRED"
	case g.Status == gift.Pending && g.Card.DeliveryDate.After(r.Now):
		day := r.Locale.Day(g.Card.DeliveryDate.In(r.Account.Zone))
		return state{Text: r.Locale.Text("console.state.SCHEDULED", day), Tone: "wait"}
	case g.Status == gift.FailedDelivery:
		tone = "bad"
	case g.Status == gift.Pending:
		tone = "wait"
	case g.Status.Redeemable():
		tone = "good"
	}
	return state{Text: r.Locale.Text("console.state." + name), Tone: tone}
}

// giftShown is what the page of a gift shows.
type giftShown struct {
	For      string
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
func (f *pages) gift(r *desk.Request) (desk.View, error) {
	g, err := f.named(r)
	if err != nil {
		return desk.View{}, err
	}
	history, err := f.Store.History(r.Context(), r.Account.ID, g.ID, max(0, g.Seq-maxEvents), maxEvents)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	state := stateOf(r, &g)
	shown := giftShown{For: recipient(r, &g), Merchant: card.Merchant(r.Account),
		Left: left(r, &g), LastFour: g.Card.Code.LastFour(), Facts: facts(r, &g), Earlier: g.Seq > maxEvents,
		Offered: f.offer(r, &g), Done: f.done(r, &g, history)}
	if held := g.HeldAt(r.Now); held > 0 {
		shown.Held = worth(r, &g, held)
	}
	for n := range slices.Backward(history) {
		shown.Events = append(shown.Events, eventOf(r, &g, &history[n]))
	}
	return desk.View{Template: "gift.html", Title: "console.gift", Heading: shown.For, State: &state, Data: shown}, nil
}

// named finds the gift that the address names.
func (f *pages) named(r *desk.Request) (gift.Gift, error) {
	id, err := guid.Parse(r.HTTP.PathValue("voucher"))
	if err != nil {
		return gift.Gift{}, desk.ErrNoPage
	}
	g, err := f.Store.Gift(r.Context(), r.Account.ID, id)
	switch {
	case errors.Is(err, refusal.NotFound):
		return gift.Gift{}, desk.ErrNoPage
	case err != nil:
		return gift.Gift{}, service.Stored(err)
	}
	return g, nil
}

// facts are what is known of a gift; what is not known is left out.
func facts(r *desk.Request, g *gift.Gift) (facts []fact) {
	l, zone := r.Locale, r.Account.Zone
	add := func(name string, lines ...string) {
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
		if len(lines) > 0 {
			facts = append(facts, fact{l.Text("console.fact." + name), strings.Join(lines, "\n")})
		}
	}
	program, _ := merchant.ProgramByID(g.ProgramID)
	promotion := ""
	if p := r.Account.Promotion(g.PromotionID); p != nil {
		promotion = p.Name
	}
	place := ""
	if at := r.Account.Location(g.LocationID); at != nil {
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
	add("value", worth(r, g, g.Worth()))
	if price := g.Card.Purchase.Price; price != 0 {
		add("price", l.Money(price, g.Currency))
	}
	add("program", program.Name, promotion)
	add("delivery", at(g.Card.DeliveryDate))
	add("delivered", at(g.Card.DeliveredAt))
	add("from", at(g.ValidFrom))
	add("until", at(g.End()))
	if g.GraceDays > 0 {
		add("grace", at(g.EndForTill()))
	}
	add("place", place)
	add("buyer", buyer, g.Card.Purchase.EmailAddress)
	add("customer", g.CustomerID)
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

// eventOf tells an entry in a sentence.
func eventOf(r *desk.Request, g *gift.Gift, e *gift.Entry) happened {
	moved := e.Delta
	if e.Seq == 1 {
		moved = e.Balance
	}
	h := happened{At: e.At.In(r.Account.Zone)}
	if moved != 0 {
		h.Left = worth(r, g, e.Balance)
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
		h.Text = r.Locale.Text(name)
	} else {
		h.Text = r.Locale.Text(name, worth(r, g, shown))
	}
	switch e.Kind {
	case gift.SendFailed, gift.Cancellation, gift.Blocked, gift.WrongVerificationCode:
		h.Tone = "bad"
	case gift.Redemption, gift.Sent, gift.Activation, gift.Reload, gift.CashOut:
		h.Tone = "good"
	}
	place := ""
	if at := r.Account.Location(e.Actor.LocationID); at != nil {
		place = at.Name
	}
	who := e.Actor.Person
	if who == "" && !e.Actor.KeyID.IsZero() {
		who = r.KeyName(e.Actor.KeyID)
	}
	until := ""
	if !e.Until.IsZero() {
		until = r.Locale.Text("console.until", r.Locale.Moment(e.Until.In(r.Account.Zone)))
	}
	parts := slices.DeleteFunc([]string{place, who, e.Purchase.Reference, e.Reference, until, string(e.ReasonCode),
		e.Reason}, func(s string) bool { return s == "" })
	h.By = strings.Join(parts, " · ")
	return h
}
