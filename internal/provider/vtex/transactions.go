package vtex

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/api"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/provider"
)

// settleTransaction is under which settlements are kept.
const settleTransaction ledger.Operation = "vtex-settlement"

// money is an amount as a JSON number.
func (c *call) money(a gift.Amount) jsontext.Value { return c.currency.Append(nil, a) }

type link struct {
	Href string `json:"href"`
}

func (c *call) self(more string) link { return link{"/giftcards/" + c.card.ID.String() + more} }

// date is a time as VTEX writes it: without a zone, which is UTC.
func date(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000") }

// answer writes an answer.
func answer(value any) api.Reply {
	body, err := json.Marshal(value)
	if err != nil {
		return api.Reply{Status: 500, Err: fmt.Errorf("writing an answer: %w", err)}
	}
	return api.Reply{Status: 200, Body: body}
}

func malformed(format string, args ...any) error {
	return gift.Refuse(gift.ValidationFailure, format, args...)
}

// usable reports whether something of the card can be spent.
func (c *call) usable() bool {
	return len(c.card.NotRedeemable(c.caller.Locations[0], c.Now, nil)) == 0 && c.card.Available(c.Now) > 0
}

// search lists the card of a code, if something of it can be spent. Without a code there is none: gifts belong to
// whoever has them.
func (c *call) search() api.Reply {
	var asked struct {
		Cart struct {
			Code string `json:"redemptionCode"`
		} `json:"cart"`
	}
	none := answer([]int{})
	if json.Unmarshal(c.body, &asked) != nil {
		return c.failed(malformed("The body is no search."))
	}
	code, err := gift.ParseVoucherCode(asked.Cart.Code)
	if err != nil {
		return none
	}
	c.card, err = c.Find(code, func(*gift.Voucher) (bool, error) { return false, nil })
	switch {
	case errors.Is(err, gift.Unavailable), err != nil && !refusal(err):
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

func refusal(err error) bool {
	_, ok := errors.AsType[*gift.Error](err)
	return ok && !errors.Is(err, gift.UnexpectedError)
}

// never is when a card expires that does not.
const never = "2099-12-31T00:00:00.000"

// show tells what a card is, and gives the token with which it can be debited.
func (c *call) show() api.Reply {
	ends, available := never, gift.Amount(0)
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

// change is the body of what changes something.
type change struct {
	Operation string          `json:"operation"`
	Value     provider.Amount `json:"value"`
	Token     string          `json:"redemptionToken"`
	RequestID string          `json:"requestId"`
	Order     struct {
		ID string `json:"orderId"`
	} `json:"orderInfo"`
}

// read reads a change and its amount.
func (c *call) read() (asked change, amount gift.Amount, err error) {
	if json.Unmarshal(c.body, &asked) != nil {
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

// redemption is what a change's fingerprint is of.
type redemption struct {
	Amount      gift.Amount
	Transaction string
}

// debit takes an amount: all of it, or nothing.
func (c *call) debit() api.Reply {
	asked, amount, err := c.read()
	switch {
	case err != nil:
		return c.failed(err)
	case asked.Operation != "Debit":
		return c.failed(gift.Refuse(gift.NotSupported, "The operation must be Debit."))
	case !c.TokenOf(asked.Token, c.card.ID):
		return c.failed(malformed("The redemptionToken is not this gift card's."))
	}
	made, err := c.Do(api.Order{Operation: ledger.RedeemGift, Key: c.key(asked.RequestID),
		Asked: redemption{Amount: amount}, Command: &ledger.Redeem{VoucherID: c.card.ID,
			Notice: c.caller.Account.BalanceNotice, Redeem: gift.Redeem{Context: c.Context(),
				LocationID: c.caller.Locations[0], Amount: amount,
				Reference: asked.reference(), Account: c.caller.Account}},
		Render: c.render(func(r ledger.Result) any { return c.made(r.Entries[0].ID) })})
	return c.told(made, err)
}

type made struct {
	Card string `json:"cardId"`
	ID   string `json:"id"`
	Self link   `json:"_self"`
}

func (c *call) made(id gift.ID) made {
	return made{c.card.ID.String(), id.String(), c.self("/transactions/" + id.String())}
}

// render makes the answer of what done says.
func (c *call) render(done func(ledger.Result) any) func(ledger.Result, error) ledger.Answer {
	return func(r ledger.Result, err error) ledger.Answer {
		if refused, ok := errors.AsType[*gift.Error](err); ok {
			return ledger.Answer{Code: refused.Code, Body: c.problem(refused)}
		}
		return ledger.Answer{Code: ledger.OK, Body: answer(done(r)).Body}
	}
}

func (c *call) told(a ledger.Answer, err error) api.Reply {
	switch {
	case err != nil:
		return c.failed(err)
	case !a.Succeeded():
		return refused(a.Code, a.Body)
	}
	return api.Reply{Status: 200, Body: a.Body}
}

// own are the provider's redemptions of the card, and all that happened to it.
func (c *call) own() (taken, all []gift.Entry, err error) {
	all, err = c.History(c.card.ID)
	for _, e := range all {
		if e.Kind == gift.Redemption && e.Actor.KeyID == c.caller.KeyID && c.caller.Enabled(e.Actor.LocationID) {
			taken = append(taken, e)
		}
	}
	return taken, all, err
}

// transactions lists the provider's redemptions of the card.
func (c *call) transactions() api.Reply {
	taken, _, err := c.own()
	if err != nil {
		return c.failed(err)
	}
	list := []made{}
	for _, e := range taken {
		list = append(list, c.made(e.ID))
	}
	return answer(list)
}

// named is the redemption of the address, and all that happened to its card.
func (c *call) named() (gift.Entry, []gift.Entry, error) {
	taken, all, err := c.own()
	if err != nil {
		return gift.Entry{}, nil, err
	}
	for _, e := range taken {
		if e.ID.String() == strings.ToLower(c.ids[1]) {
			return e, all, nil
		}
	}
	return gift.Entry{}, nil, gift.NoSuchRedemption()
}

// transaction tells what was redeemed.
func (c *call) transaction() api.Reply {
	e, _, err := c.named()
	if err != nil {
		return c.failed(err)
	}
	self := "/transactions/" + e.ID.String()
	return answer(struct {
		Value         jsontext.Value `json:"value"`
		Description   string         `json:"description"`
		Date          string         `json:"date"`
		RequestID     string         `json:"requestId"`
		Settlement    link           `json:"settlement"`
		Cancellation  link           `json:"cancellation"`
		Authorization link           `json:"authorization"`
		Operation     string         `json:"operation"`
	}{c.money(-e.Delta), "", date(e.At), e.Reference[strings.LastIndex(e.Reference, "/")+1:],
		c.self(self + "/settlements"), c.self(self + "/cancellations"), c.self(self + "/authorization"), "Debit"})
}

// part is something that was done about a transaction.
type part struct {
	ID    string         `json:"oid"`
	Value jsontext.Value `json:"value"`
	Date  string         `json:"date"`
}

func (c *call) authorization() api.Reply {
	e, _, err := c.named()
	if err != nil {
		return c.failed(err)
	}
	return answer(part{e.ID.String(), c.money(-e.Delta), date(e.At)})
}

// cancellations lists what was given back of a transaction, whoever did it.
func (c *call) cancellations() api.Reply {
	e, all, err := c.named()
	if err != nil {
		return c.failed(err)
	}
	list := []part{}
	for _, back := range all {
		if back.Reverses == e.ID {
			list = append(list, part{back.ID.String(), c.money(back.Delta), date(back.At)})
		}
	}
	return answer(list)
}

// cancel gives back of a transaction, no more than is left of it.
func (c *call) cancel() api.Reply {
	e, _, err := c.named()
	if err != nil {
		return c.failed(err)
	}
	asked, amount, err := c.read()
	if err != nil {
		return c.failed(err)
	}
	done, err := c.Do(api.Order{Operation: ledger.ReverseRedemption, Key: c.key(asked.RequestID),
		Asked: redemption{amount, e.ID.String()}, Command: &ledger.Reverse{RedemptionID: e.ID,
			Reverse: gift.Reverse{Context: c.Context(), Caller: c.caller, Amount: amount}},
		Render: c.render(func(r ledger.Result) any {
			return part{r.Entries[0].ID.String(), c.money(r.Entries[0].Delta), date(r.Entries[0].At)}
		})})
	return c.told(done, err)
}

// settled is a settlement as it is kept.
type settled struct {
	part
	RequestID string `json:"requestId"`
}

// settled reads the settlements of a transaction: each stands under the next number.
func (c *call) settled(transaction gift.ID) (list []settled, sum gift.Amount, err error) {
	for {
		known, err := c.Requests(numbered(transaction, len(list)+1))
		if err != nil || len(known) == 0 {
			return list, sum, err
		}
		var s settled
		if err := json.Unmarshal(known[0].Answer.Body, &s); err != nil {
			return nil, 0, fmt.Errorf("a settlement is damaged: %w", err)
		}
		amount, err := c.currency.Parse(gift.Number(s.Value))
		if err != nil {
			return nil, 0, fmt.Errorf("a settlement is damaged: %w", err)
		}
		list, sum = append(list, s), sum+amount
	}
}

func numbered(transaction gift.ID, n int) string {
	return fmt.Sprintf("%s:settlement:%d", transaction, n)
}

func (c *call) settlements() api.Reply {
	e, _, err := c.named()
	if err != nil {
		return c.failed(err)
	}
	list, _, err := c.settled(e.ID)
	if err != nil {
		return c.failed(err)
	}
	parts := []part{}
	for _, s := range list {
		parts = append(parts, s.part)
	}
	return answer(parts)
}

// maxSettlements is in how many parts a transaction is settled.
const maxSettlements = 100

// settle keeps that a part of a transaction is settled, which moves nothing. All parts together are no more than what
// was taken.
func (c *call) settle() api.Reply {
	e, _, err := c.named()
	if err != nil {
		return c.failed(err)
	}
	asked, amount, err := c.read()
	if err != nil {
		return c.failed(err)
	}
	for {
		list, sum, err := c.settled(e.ID)
		if err != nil {
			return c.failed(err)
		}
		for _, s := range list {
			switch {
			case s.RequestID == asked.RequestID && string(s.Value) == string(c.money(amount)):
				return answer(s.part)
			case s.RequestID == asked.RequestID:
				return c.failed(gift.Refuse(gift.IdempotencyMismatch, "This requestId was used for another settlement."))
			}
		}
		if sum+amount > -e.Delta || len(list) >= maxSettlements {
			return c.failed(malformed("Of this transaction, %s is left to settle, in at most %d parts.",
				c.currency.Money(-e.Delta-sum), maxSettlements))
		}
		kept, err := c.keepSettlement(numbered(e.ID, len(list)+1), asked.RequestID, amount)
		if !errors.Is(err, gift.IdempotencyMismatch) { // else another one came first, and counts
			return kept
		}
	}
}

// keepSettlement keeps a settlement under its number.
func (c *call) keepSettlement(key, request string, amount gift.Amount) (api.Reply, error) {
	var s settled
	made, err := c.Do(api.Order{Operation: settleTransaction, Key: key, Asked: struct{ Request string }{request},
		Command: &ledger.Change{Context: c.Context(), VoucherID: c.card.ID,
			Rule: func(v gift.Voucher, _ gift.Context) (gift.Voucher, gift.Entry, error) { return v, gift.Entry{}, nil }},
		Render: c.render(func(ledger.Result) any {
			return settled{part{key, c.money(amount), date(c.Now)}, request}
		})})
	if err != nil {
		return c.failed(err), err
	}
	if err := json.Unmarshal(made.Body, &s); err != nil || !made.Succeeded() {
		return c.told(made, nil), nil
	}
	return answer(s.part), nil
}
