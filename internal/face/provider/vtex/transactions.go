package vtex

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/base/phrase"
	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// money is an amount as a JSON number.
func (c *call) money(a money.Amount) jsontext.Value { return c.currency.Append(nil, a) }

type link struct {
	Href string `json:"href"`
}

func (c *call) self(more string) link { return link{"/giftcards/" + c.card.ID.String() + more} }

// date is a time as VTEX writes it: without a zone, which is UTC.
func date(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000") }

// answer writes an answer.
func answer(value any) service.Reply {
	body, err := json.Marshal(value)
	if err != nil {
		return service.Reply{Status: 500, Err: fmt.Errorf("writing an answer: %w", err)}
	}
	return service.Reply{Status: 200, Body: body}
}

func malformed(text phrase.Text, values ...any) error {
	return refusal.New(refusal.ValidationFailure, text, values...)
}

// usable reports whether something of the card can be spent here, where there is neither a ticket nor a verification
// code.
func (c *call) usable() bool {
	v := &c.card.Voucher
	return len(v.NotRedeemable(c.caller.Locations[0], c.Now, nil)) == 0 && v.Available(c.Now) > 0 &&
		!v.AsksVerification() && !provider.NeedsTicket(c.caller.Account, v)
}

// search lists the card of a code, if something of it can be spent here. Without a code there is none: gifts belong to
// whoever has them.
func (c *call) search() service.Reply {
	var asked struct {
		Cart struct {
			Code string `json:"redemptionCode"`
		} `json:"cart"`
	}
	none := answer([]int{})
	if provider.Read(c.body, &asked) != nil {
		return c.failed(malformed("The body is no search."))
	}
	code, err := codes.Read(c.Account, asked.Cart.Code)
	if err != nil {
		return none
	}
	c.card, err = c.Find(code, provider.Before{})
	switch {
	case errors.Is(err, refusal.Unavailable), err != nil && !isRefusal(err):
		return c.failed(err)
	case err != nil, c.card.Item, !c.usable():
		return none
	}
	type found struct {
		ID       string         `json:"id"`
		Provider string         `json:"provider"`
		Balance  jsontext.Value `json:"balance"`
		Self     link           `json:"_self"`
	}
	return answer([]found{{c.card.ID.String(), c.provider.Name, c.money(c.card.Available(c.Now)), c.self("")}})
}

func isRefusal(err error) bool {
	_, ok := errors.AsType[*refusal.Error](err)
	return ok && !errors.Is(err, refusal.UnexpectedError)
}

// never is when a card expires that does not.
const never = "2099-12-31T00:00:00.000"

// show tells what a card is, and gives the token with which it can be debited.
func (c *call) show() service.Reply {
	ends, available := never, money.Amount(0)
	if end := c.card.End(); !end.IsZero() {
		ends = date(end)
	}
	if c.usable() {
		available = c.card.Available(c.Now)
	}
	return answer(struct {
		ID       string         `json:"id"`
		Token    string         `json:"redemptionToken"`
		Code     string         `json:"redemptionCode"`
		Balance  jsontext.Value `json:"balance"`
		Emission string         `json:"emissionDate"`
		Expiring string         `json:"expiringDate"`
		Currency string         `json:"currencyCode"`
		Discount bool           `json:"discount"`
		List     link           `json:"transactions"`
	}{c.card.ID.String(), c.Token(c.card.ID), "********" + c.card.Card.Code.LastFour(), c.money(available),
		date(c.card.CreatedAt), ends, c.currency.Code, false, c.self("/transactions")})
}

// make refuses to make a card. What VTEX is answered names no code, so that nobody could be given it: its
// administration shows cards to whoever may look at them.
func (c *call) make() service.Reply {
	return c.failed(refusal.New(refusal.NotSupported, "No gift card is made here, as its code would be told to nobody. "+
		"Sell a gift where gifts are sent; a Credit can load it."))
}

// change is the body of what changes something.
type change struct {
	Operation   string          `json:"operation"`
	Value       provider.Amount `json:"value"`
	Description string          `json:"description"`
	Token       string          `json:"redemptionToken"`
	RequestID   string          `json:"requestId"`
	Order       struct {
		ID string `json:"orderId"`
	} `json:"orderInfo"`
}

// read reads a change and its amount.
func (c *call) read() (asked change, amount money.Amount, err error) {
	if provider.Read(c.body, &asked) != nil {
		return asked, 0, malformed("The body is not as the protocol has it.")
	}
	if amount, err = asked.Value.In(c.currency); err != nil {
		return asked, 0, malformed("The value %s.", err)
	}
	if !provider.IsReference(asked.RequestID) || strings.Contains(asked.RequestID, "/") {
		return asked, 0, malformed("The requestId is missing, or not one.")
	}
	return asked, amount, nil
}

// key is under which a request about the card is kept.
func (c *call) key(request string) string { return request + ":" + c.card.ID.String() }

// reference names an order and a request, as far as there is room.
func (a *change) reference() string {
	if both := a.Order.ID + "/" + a.RequestID; provider.IsReference(both) && a.Order.ID != "" {
		return both
	}
	return a.RequestID
}

// maxDescription is how many characters of a description are kept.
const maxDescription = 200

// described is what VTEX says of a transaction, on one line and cut: the words decide nothing, so none are refused.
func (a *change) described() string {
	words := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(a.Description, ""))
	if runes := []rune(words); len(runes) > maxDescription {
		return string(runes[:maxDescription])
	}
	return words
}

// The operations under which is kept what was done: a requestId counts once for all transactions of a card, once for
// all their cancellations, and once for the settlements of one of them.
const (
	doTransaction     operation.Name = "vtex-transaction"
	settleTransaction operation.Name = "vtex-settlement"
	cancelTransaction operation.Name = "vtex-cancellation"
)

// fingerprinted is what tells a repeat of a change from another with its requestId.
type fingerprinted struct {
	Amount      money.Amount
	Operation   string // Debit or Credit, of a transaction
	Order       string
	Transaction string // whose part it is
	Request     string // where the key is another
}

// transact takes an amount, all of it or nothing, or puts one in. What was made already stays what it was, whatever the
// set-up says now.
func (c *call) transact() service.Reply {
	asked, amount, err := c.read()
	if err == nil && !c.TokenOf(asked.Token, c.card.ID) {
		err = malformed("The redemptionToken is not this gift card's.")
	}
	if err != nil {
		return c.failed(err)
	}
	op, err := c.operation(asked)
	if err != nil {
		return c.failed(err)
	}
	done, err := c.Do(provider.Order{Operation: doTransaction, Key: c.key(asked.RequestID),
		Asked:   fingerprinted{Amount: amount, Operation: asked.Operation, Order: asked.Order.ID},
		Command: c.command(op, amount, asked),
		Render:  c.render(func(r ledger.Result) any { return c.made(r.Entries[0].ID) })})
	return c.told(done, err, op == operation.RedeemGift)
}

// operation is what a transaction asks for, in the words of the interface.
func (c *call) operation(asked change) (operation.Name, error) {
	switch {
	case asked.Operation == "Debit" && c.provider.HoldDays > 0:
		return operation.HoldGift, c.caller.Permit(merchant.MayRedeem, false)
	case asked.Operation == "Debit":
		return operation.RedeemGift, c.caller.Permit(merchant.MayRedeem, false)
	case asked.Operation == "Credit":
		return operation.ReloadGift, c.caller.Permit(merchant.MayReload, false)
	}
	return "", malformed("The operation must be Debit or Credit.")
}

// command has the engine do what a transaction asks for.
func (c *call) command(op operation.Name, amount money.Amount, asked change) ledger.Command {
	reference, reason := asked.reference(), asked.described()
	redeem := gift.Redeem{Context: c.Actor(c.Location), LocationID: c.caller.Locations[0], Amount: amount,
		Reference: reference,
		Reason:    reason, Account: c.caller.Account}
	switch op {
	case operation.RedeemGift:
		return &ledger.Redeem{VoucherID: c.card.ID, Notice: c.caller.Account.BalanceNotice, Redeem: redeem}
	case operation.HoldGift:
		return &ledger.Hold{VoucherID: c.card.ID, Hold: gift.Hold{Redeem: redeem, Lasts: c.holdTime()}}
	}
	load := gift.ReloadRequest{Amount: amount, Reference: reference, Reason: reason, Account: c.caller.Account,
		Purchase: gift.Purchase{Reference: reference, StorefrontID: c.provider.StorefrontID}}
	return &ledger.Change{Context: c.Actor(c.Location), VoucherID: c.card.ID, Counts: merchant.SentCount,
		Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			load.Context = at
			return v.Reload(load)
		}}
}

// holdTime is for how long a Debit is held.
func (c *call) holdTime() time.Duration { return time.Duration(c.provider.HoldDays) * 24 * time.Hour }

type made struct {
	Card string `json:"cardId"`
	ID   string `json:"id"`
	Self link   `json:"_self"`
}

func (c *call) made(id guid.ID) made {
	return made{c.card.ID.String(), id.String(), c.self("/transactions/" + id.String())}
}

// render makes the answer of what done says.
func (c *call) render(done func(ledger.Result) any) func(ledger.Result, error) ledger.Answer {
	return func(r ledger.Result, err error) ledger.Answer {
		if refused, ok := errors.AsType[*refusal.Error](err); ok {
			return ledger.Answer{Code: refused.Code, Body: c.problem(refused)}
		}
		return ledger.Answer{Code: ledger.OK, Body: answer(done(r)).Body}
	}
}

// told gives an answer of the engine; redeems tells that success redeems.
func (c *call) told(a ledger.Answer, err error, redeems bool) service.Reply {
	switch {
	case err != nil:
		return c.failed(err)
	case !a.Succeeded():
		return refused(a.Code, a.Body)
	case redeems && a.Fresh():
		c.Redeemed(c.card.ID, c.Location)
	}
	return service.Reply{Status: 200, Body: a.Body}
}

// transaction is a Debit or Credit of the provider's.
type transaction struct {
	gift.Entry
	parts []gift.Entry // the entry, and what became of it
}

// value is how much it took or put in.
func (t *transaction) value() money.Amount {
	if t.Kind == gift.HoldMade {
		return t.Held
	}
	return max(t.Delta, -t.Delta)
}

// isTransaction reports whether an entry is a transaction of the provider's.
func (c *call) isTransaction(e *gift.Entry) bool {
	is := e.Kind == gift.HoldMade || e.Kind == gift.Reload || e.Kind == gift.Redemption && e.HoldID.IsZero()
	return is && e.Actor.KeyID == c.caller.KeyID && c.caller.Enabled(e.Actor.LocationID)
}

// maxListed is how many changes of a card are looked at for a list, the newest: the protocol knows no pages.
const maxListed = 200

// transactions lists the provider's transactions on the card.
func (c *call) transactions() service.Reply {
	all, err := c.Newest(&c.card, maxListed)
	if err != nil {
		return c.failed(err)
	}
	list := []made{}
	for n := range all {
		if c.isTransaction(&all[n]) {
			list = append(list, c.made(all[n].ID))
		}
	}
	return answer(list)
}

// named is the transaction of the address.
func (c *call) named() (*transaction, error) {
	id, err := guid.Parse(c.ids[1])
	if err != nil {
		return nil, gift.NoSuchRedemption()
	}
	parts, err := c.Parts(c.card.ID, id)
	if err == nil && (len(parts) == 0 || !c.isTransaction(&parts[0])) {
		err = gift.NoSuchRedemption()
	}
	if err != nil {
		return nil, err
	}
	return &transaction{parts[0], parts}, nil
}

// transaction tells what was done.
func (c *call) transaction() service.Reply {
	t, err := c.named()
	if err != nil {
		return c.failed(err)
	}
	self, operation := "/transactions/"+t.ID.String(), "Debit"
	if t.Kind == gift.Reload {
		operation = "Credit"
	}
	return answer(struct {
		Value         jsontext.Value `json:"value"`
		Description   string         `json:"description"`
		Date          string         `json:"date"`
		RequestID     string         `json:"requestId"`
		Settlement    link           `json:"settlement"`
		Cancellation  link           `json:"cancellation"`
		Authorization link           `json:"authorization"`
		Operation     string         `json:"operation"`
	}{c.money(t.value()), t.Reason, date(t.At), t.Reference[strings.LastIndex(t.Reference, "/")+1:],
		c.self(self + "/settlements"), c.self(self + "/cancellations"), c.self(self + "/authorization"), operation})
}

func (c *call) authorization() service.Reply {
	t, err := c.named()
	if err != nil {
		return c.failed(err)
	}
	return answer(c.part(t.ID, t.value(), t.At))
}
