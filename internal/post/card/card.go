// Package card tells how a gift looks to its recipient: in which words and language, in which colours, and what may be
// shown in the state it is in. The gift page, the mail and the text message all say the same because they all ask here.
//
// It is pure and knows neither markup nor the network. Everything in a View that a sender wrote is still hostile text:
// one-line members hold no line breaks and no marks that could reorder the text around them, but escaping is the
// template's part.
package card

import (
	"strings"
	"time"
	"unicode/utf8"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/locale"
)

// State is what a gift is to its recipient at one moment. Unlike gift.Status it knows the time.
type State string

// The states.
const (
	Ready     State = "ready"
	Pending   State = "pending" // not delivered yet
	NotYet    State = "not-yet" // its validity has not begun
	Redeemed  State = "redeemed"
	Expired   State = "expired"
	Cancelled State = "cancelled"
	Blocked   State = "blocked"
	Unpaid    State = "unpaid" // its purchase failed
	Unsold    State = "unsold" // a card of a stock that was not activated yet
)

// View is a gift in words.
type View struct {
	*locale.Locale // in whose language it is written

	Merchant  string // that of a test account begins with TestMark
	Test      string // a sentence on every gift of a test account; "": it is of a live one
	Headline  string
	Accent    Color
	Sender    string
	Recipient string // "" when the sender named none
	Message   []string

	Worth   Worth  // what was given
	Balance Worth  // what is left and can be used
	Partly  bool   // something is left, but not all of it can be used
	Held    *Worth // how much more is left, which is held for purchases; nil: nothing

	Code     string         // 4 4 4
	Bars     string         // what a bar code holds, for tills whose scanners read no QR codes; "": there is none
	Second   string         // the verification code, for print only; "": none
	ToSell   string         // the activation code, 4 4 4 4, for print only; "": none
	Terms    []string       // paragraphs of lines, those of the promotion last
	GoodFor  string         // the names of the items that it is good for; "": anything
	Validity string         // a sentence
	Ends     time.Time      // when its validity ends, by the clock that Validity goes by; zero: never
	Where    string         // a sentence
	WhereIn  []locale.Piece // Where, with names apart
	Places   []string       // the locations that Where is about, the first few
	OnMap    []Place        // the same, with all that guests are told of them
	More     int            // how many locations Places leaves out

	Footer  []string           // lines of the merchant's own
	Logo    merchant.AssetHash // zero: none
	Picture merchant.AssetHash // zero: none

	State    State
	Notice   string         // what the state means, a sentence or two; "" when there is nothing to say
	NoticeIn []locale.Piece // Notice, with names apart
}

// Worth is an amount: of money, which Number says whole, "$25.00", or of an item, of which Number says how many.
type Worth struct {
	Number string
	Unit   string // the item; "" for money
	Item   bool
	After  bool // the number stands after the item, as in Japanese
}

// Long tells that the number is written smaller where it stands large, so that it stays on one line.
func (w Worth) Long() bool { return utf8.RuneCountInString(w.Number) > 10 }

// String writes the amount on one line: "$25.00", "2 x Latte". The x is in every alphabet that a phone can be sent.
func (w Worth) String() string {
	if w.Item {
		if w.After {
			return w.Unit + " x " + w.Number
		}
		return w.Number + " x " + w.Unit
	}
	return w.Number
}

// Names tells whom the gift is for and from, with the names apart.
func (v *View) Names() []locale.Piece {
	if v.Recipient == "" {
		return v.Pieces("card.from", v.Sender)
	}
	return v.Pieces("card.names", v.Recipient, v.Sender)
}

// Shown reports whether the code is to be shown: not before the gift is delivered, for a till would refuse it, and not
// once the gift can never be used again.
func (v *View) Shown() bool { return v.State == Ready || v.State == NotYet }

// Over reports whether the gift will not be used any more.
func (v *View) Over() bool {
	return v.State == Redeemed || v.State == Expired || v.State == Cancelled || v.State == Unpaid
}

// StateTitle names the state above its Notice; "" when there is none.
func (v *View) StateTitle() string {
	if v.State == Ready {
		return ""
	}
	return v.Text("card.state." + string(v.State))
}

// Amount is the big figure on the card: what is left where that is the question, else what was given. A card that was
// not sold shows nothing that it could be taken for.
func (v *View) Amount() Worth {
	if v.Shown() || v.State == Redeemed || v.State == Unsold {
		return v.Balance
	}
	return v.Worth
}

const maxPlaces = 12

// TestMark stands before the name of a merchant that only tests, in every language.
const TestMark = "TEST "

// Merchant is how an account is called on its gifts.
func Merchant(a *merchant.Account) string {
	if a.Test {
		return TestMark + Line(a.Name)
	}
	return Line(a.Name)
}

// New describes a gift of an account at one moment, in the language of its recipient.
func New(g *gift.Gift, a *merchant.Account, now time.Time) View {
	return In(locale.For(g.Reads(a)), g, a, now)
}

// In is New for a reader of another language. Amounts, dates and times are as locale.Of writes them.
func In(l *locale.Locale, g *gift.Gift, a *merchant.Account, now time.Time) View {
	l = locale.Of(l.Language(), g, a)
	v := View{
		Locale:   l,
		Merchant: Merchant(a), Headline: l.Text("card.headline"), Accent: builtInAccent,
		Sender: unlinked(Line(g.Card.Sender)), Recipient: unlinked(Line(g.Card.Recipient)),
		Message: unlinkedLines(Lines(g.Card.Message)),
		Worth:   worth(l, g, g.Funded), Balance: worth(l, g, g.Available(now)),
		Partly: g.Balance > 0 && g.Available(now) < g.Funded,
		Code:   g.Card.Code.Grouped(), Terms: unlinkedLines(append(Lines(g.Card.Terms), Lines(g.Card.PromotionalTerms)...)),
	}
	if a.Test {
		v.Test = l.Text("card.test")
	}
	if n := g.HeldAt(now); n > 0 {
		v.Held = new(worth(l, g, n))
	}
	if v.Sender == "" {
		v.Sender = v.Merchant
	}
	if d := a.Design(g.Card.DesignID); d != nil {
		if headline := Line(d.HeadlineIn.In(l.Language(), d.Headline)); headline != "" {
			v.Headline = headline
		}
		if c, ok := ParseColor(d.AccentColor); ok {
			v.Accent = c
		}
		if d.BarCode {
			v.Bars = strings.ReplaceAll(v.Code, " ", "")
		}
		v.Footer, v.Logo, v.Picture = Lines(d.FooterIn.In(l.Language(), d.Footer)), d.Logo, d.Picture
	}
	zone := zoneOf(g, a)
	v.GoodFor = Line(merchant.ItemNames(g.GoodFor(a)).String())
	v.Validity = validity(l, g, zone)
	if end := g.End(); !end.IsZero() {
		v.Ends = end.In(zone)
	}
	v.place(g, a)
	v.state(g, zone, now)
	return v
}

// Blank describes a card of a stock as it is printed before it is sold: with its secrets and what it is going to be
// worth.
func Blank(l *locale.Locale, g *gift.Gift, a *merchant.Account, now time.Time) View {
	v := In(l, g, a, now)
	v.State, v.Notice, v.NoticeIn, v.Second, v.ToSell = Ready, "", nil, g.Verification, g.Card.Activation.Grouped()
	if v.Balance = worth(v.Locale, g, g.Fixed); g.Fixed == 0 {
		v.Balance = Worth{Number: v.Text("card.blank")} // what it will be worth is not known
	}
	return v
}

func worth(l *locale.Locale, g *gift.Gift, n money.Amount) Worth {
	if g.Item {
		return Worth{l.Number(int64(n)), unlinked(Line(g.Card.Label)), true, l.Language() == merchant.Japanese}
	}
	return Worth{Number: l.Money(n, g.Currency)}
}

// place says where the gift can be used.
func (v *View) place(g *gift.Gift, a *merchant.Account) {
	where := func(name string, args ...string) {
		v.WhereIn = v.Pieces(name, args...)
		v.Where = plain(v.WhereIn)
	}
	if l := a.Location(g.LocationID); l != nil && !g.LocationID.IsZero() {
		where("card.where.one")
		v.add(l, true)
		return
	}
	switch len(a.Locations) {
	case 0:
		where("card.where.ask", v.Merchant)
	case 1:
		where("card.where.one")
	default:
		where("card.where.any")
	}
	for i := range a.Locations {
		if i == maxPlaces {
			v.More = len(a.Locations) - i
			break
		}
		v.add(&a.Locations[i], len(a.Locations) == 1)
	}
}

// add adds a location, which may be the only one.
func (v *View) add(l *merchant.Location, only bool) {
	p := placeOf(l)
	v.Places, v.OnMap = append(v.Places, p.inOneLine(only)), append(v.OnMap, p)
}

// state judges what the gift is now. What can never change back comes first.
func (v *View) state(g *gift.Gift, zone *time.Location, now time.Time) {
	notice := func(s State, name string, args ...string) {
		v.State, v.NoticeIn = s, v.Pieces(name, args...)
		v.Notice = plain(v.NoticeIn)
	}
	switch {
	case g.Status == gift.NotActivated:
		notice(Unsold, "card.unsold", v.Merchant)
	case g.Status == gift.Cancelled:
		notice(Cancelled, "card.cancelled", v.Merchant)
	case g.Status == gift.PurchaseFailed:
		notice(Unpaid, "card.unpaid", v.Sender)
	case g.Status == gift.Redeemed || g.Balance == 0:
		notice(Redeemed, "card.redeemed")
	case g.OverForGuest(now):
		name, end := until(v.Locale, "card.expired", g.End().In(zone))
		notice(Expired, name, end)
	case g.Blocked != "":
		notice(Blocked, "card.blocked", v.Merchant)
	case g.Status == gift.Pending && g.Card.DeliveryDate.After(now):
		notice(Pending, "card.scheduled", v.Moment(g.Card.DeliveryDate.In(zone)))
	case g.Status == gift.Pending:
		notice(Pending, "card.pending")
	case now.Before(g.ValidFrom):
		notice(NotYet, "card.not-yet", since(v.Locale, g.ValidFrom.In(zone)))
	default:
		v.State = Ready
	}
}

// plain is a text whose arguments are not to be told apart.
func plain(pieces []locale.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// GiftURL is the address of a gift's page, which its QR code holds too.
func GiftURL(publicURL string, t codes.Token) string {
	return strings.TrimSuffix(publicURL, "/") + "/g/" + t.Reveal()
}

// PassPath ends the address of the pass of a gift for Apple Wallet, which begins as that of its page.
const PassPath = "/pass.pkpass"

// GooglePath ends the address that leads to Google, which saves the pass of a gift to Google Wallet.
const GooglePath = "/google"

// PassURL is the address of the pass of a gift for Apple Wallet.
func PassURL(publicURL string, t codes.Token) string { return GiftURL(publicURL, t) + PassPath }
