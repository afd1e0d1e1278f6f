// Package toast speaks the gift card integration of Toast: one address that takes POSTs, of which a header says what
// is to be done.
package toast

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/base/admission"
	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// Within is how long a call takes at most once its body has come: Toast allows 500 ms. What is not known then is
// answered with a status of 500, after which Toast repeats the call, or reverses it, by its GUID.
const Within = 450 * time.Millisecond

// Handler serves the calls of all restaurants; the path value provider names whose they are.
func Handler(s *service.Service) http.Handler { return provider.Handler(s, serve) }

// The headers of a transaction.
const (
	headerType       = "Toast-Transaction-Type"
	headerGUID       = "Toast-Transaction-GUID"
	headerRestaurant = "Toast-Restaurant-External-ID"
)

// kind is one type of transaction.
type kind struct {
	body, answer string // the members of the request and of the answer that hold what it is about
	needs        merchant.Permissions
	priority     admission.Priority
	do           func(*transaction) service.Reply
}

const reverseResponse = "reverseResponse"

// kinds are what the header can ask for.
var kinds = map[string]kind{
	"GIFTCARD_GET_BALANCE": {"getBalanceTransactionInformation", "getBalanceResponse", merchant.MayValidate,
		admission.Validate, (*transaction).balance},
	"GIFTCARD_REDEEM": {"redeemTransactionInformation", "redeemResponse", merchant.MayRedeem,
		admission.Redeem, (*transaction).redeem},
	"GIFTCARD_REVERSE": {"reverseTransactionInformation", reverseResponse, merchant.MayReverse,
		admission.Redeem, (*transaction).reverse},
	"GIFTCARD_ACTIVATE": {"activateTransactionInformation", "activateResponse", merchant.MayActivate,
		admission.Redeem, (*transaction).activate},
	"GIFTCARD_ADD_VALUE": {"addValueTransactionInformation", "addValueResponse", merchant.MayReload,
		admission.Redeem, (*transaction).addValue},
}

// Calls are all calls that the protocol has, by their type of transaction.
func Calls() []string { return slices.Sorted(maps.Keys(kinds)) }

// transaction is one call that can be carried out.
type transaction struct {
	*provider.Call
	kind
	guid     string
	asked    information
	caller   *merchant.Caller
	provider *merchant.Provider
	card     gift.Gift
	opened   bool // it was activated with nothing, and nothing is in it yet
}

// information is what a call is about; each type of transaction has some of the members.
type information struct {
	Card            string          `json:"giftCardIdentifier"`
	Online          keyedOnline     `json:"identifierSource"`
	Verification    verification    `json:"verificationCode"`
	InitialBalance  provider.Amount `json:"initialBalance"`
	AdditionalValue provider.Amount `json:"additionalValue"`
	RedeemedValue   provider.Amount `json:"redeemedValue"`
	Check           string          `json:"checkIdentifier"`
	CashOut         bool            `json:"isCashOut"`
	Previous        string          `json:"previousTransaction"`
}

// keyedOnline tells that a guest typed the card at the restaurant's online ordering.
type keyedOnline bool

// UnmarshalJSON reads an identifierSource. What is none of Toast's is not online.
func (k *keyedOnline) UnmarshalJSON(text []byte) error {
	var source string
	*k = json.Unmarshal(text, &source) == nil && source == "KEYED_ONLINE"
	return nil
}

type verification struct {
	Value string `json:"value"`
}

// serve answers one call.
func serve(d *provider.Call) service.Reply {
	if d.HTTP.Method != http.MethodPost {
		return service.Reply{Status: http.StatusMethodNotAllowed, Code: refusal.NotSupported}
	}
	account, p := authenticate(d)
	if p == nil {
		return refuseAnonymous(d)
	}
	if err := d.From(p.Networks); err != nil {
		return service.Reply{Status: http.StatusBadRequest, Body: refuse(invalidToken, "").Body, Err: err}
	}
	name, guid, restaurant := header(d, headerType), header(d, headerGUID), header(d, headerRestaurant)
	if name == "" || restaurant == "" || !provider.IsReference(guid) {
		return refuse(invalidInput, refusal.ValidationFailure)
	}
	k, known := kinds[name]
	at := p.Location(restaurant)
	switch {
	case !known:
		return refuse(invalidType, refusal.NotSupported)
	case at.IsZero():
		return refuse(invalidRestaurant, refusal.NotAuthorized)
	}
	body, err := d.ReadAll(provider.MaxBody, account)
	if err != nil {
		return refuse(invalidInput, refusal.ValidationFailure)
	}
	account, p = authenticate(d)
	if p == nil { // it may have been taken away while the body came
		return refuse(invalidToken, refusal.Unauthenticated)
	}
	t := &transaction{Call: d, kind: k, guid: guid, caller: p.Caller(account, at), provider: p}
	if err := d.Begin(t.caller, k.priority, Within); err != nil {
		return t.failed(err)
	}
	if !t.mayDo() {
		return refuse(notSupported, refusal.NotAuthorized)
	}
	if !t.read(body) {
		return refuse(invalidInput, refusal.ValidationFailure)
	}
	t.caller.WebShop = bool(t.asked.Online)
	if err := t.find(); err != nil {
		return t.failed(err)
	}
	if t.card.Status == gift.NotActivated && t.card.Blocked == "" {
		list, err := t.openings()
		if err != nil {
			return t.failed(err)
		}
		t.opened = isOpen(list)
	}
	return t.do(t)
}

// authenticate finds who calls by the address and the whole of the header Authorization; nil: nobody does.
func authenticate(d *provider.Call) (*merchant.Account, *merchant.Provider) {
	id, err := guid.Parse(d.HTTP.PathValue("provider"))
	shown := d.HTTP.Header.Values("Authorization")
	if err != nil || len(shown) != 1 {
		return nil, nil
	}
	account, p := d.Directory().Provider(merchant.Toast, id)
	if p == nil || !p.Verify(shown[0]) {
		return nil, nil
	}
	return account, p
}

// refuseAnonymous answers a call that proved no right to be made.
func refuseAnonymous(d *provider.Call) service.Reply {
	err := d.CountAnonymous()
	if r, away := unavailable(err); away {
		return r
	}
	reply := refuse(invalidToken, refusal.Unauthenticated)
	if d.HTTP.Header.Get("Authorization") == "" {
		reply = refuse(invalidInput, refusal.Unauthenticated)
	}
	if err != nil {
		reply.Code, reply.Err = "", err
	}
	return reply
}

// header gives a header that stands there once; "": it does not.
func header(d *provider.Call, name string) string {
	values := d.HTTP.Header.Values(name)
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// mayDo reports whether the set-up lets the platform do what it asks for. Cashing out is judged when it is known
// whether that is meant.
func (t *transaction) mayDo() bool { return t.caller.May(t.needs) }

// read reads what the call is about. What is missing or of the wrong type cannot be carried out.
func (t *transaction) read(body []byte) bool {
	var members map[string]jsontext.Value
	if json.Unmarshal(body, &members) != nil || members[t.body] == nil {
		return false
	}
	if json.Unmarshal(members[t.body], &t.asked) != nil || t.asked.Card == "" {
		return false
	}
	return t.asked.Check == "" || provider.IsReference(t.asked.Check)
}

// find finds the card.
func (t *transaction) find() error {
	code, err := codes.Read(t.Account, t.asked.Card)
	if err != nil {
		return err
	}
	t.Sells = t.needs&(merchant.MayActivate|merchant.MayReload) != 0 || t.reverses()
	t.card, err = t.Find(code, t.before())
	if err == nil && t.card.Item {
		return refusal.New(refusal.NotSupported, "This is an item gift.")
	}
	return err
}

// before is how the card is found of a transaction that was made before, or that takes back one that was.
func (t *transaction) before() (b provider.Before) {
	if t.needs == merchant.MayValidate { // of which nothing is kept
		return b
	}
	b.References, b.Known = []string{strings.ToLower(t.guid)}, t.used
	if t.reverses() && provider.IsReference(t.asked.Previous) {
		b.References = append(b.References, strings.ToLower(t.asked.Previous))
	}
	return b
}

// used reports whether the transaction was made before, or takes back one that was.
func (t *transaction) used(v *gift.Voucher) (bool, error) {
	told := func(op operation.Name, guid string) (bool, error) {
		known, err := t.kept(op, guid, v)
		return known != nil && known.MayBeToldTo(t.caller), err
	}
	if !t.reverses() {
		return told(transact, t.guid)
	}
	is, err := told(takeBack, t.guid)
	if err == nil && !is && provider.IsReference(t.asked.Previous) {
		is, err = told(transact, t.asked.Previous)
	}
	return is, err
}
