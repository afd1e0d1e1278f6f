package api_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/face/api/contract"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// verdict is what a call must be answered.
type verdict struct {
	status int
	code   refusal.Code
}

var (
	done            = verdict{200, ""}
	malformed       = verdict{400, refusal.ValidationFailure}
	unauthenticated = verdict{401, refusal.Unauthenticated}
	notAuthorized   = verdict{403, refusal.NotAuthorized}
	notFound        = verdict{404, refusal.NotFound}
	notAllowed      = verdict{409, refusal.RedemptionNotAllowed}
	alreadyRedeemed = verdict{409, refusal.AlreadyRedeemed}
	alreadyReversed = verdict{409, refusal.AlreadyReversed}
	alreadyActive   = verdict{409, refusal.AlreadyActivated}
	holdNotOpen     = verdict{409, refusal.HoldNotOpen}
	insufficient    = verdict{409, refusal.InsufficientBalance}
	unsupported     = verdict{422, refusal.NotSupported}
	wrongProgram    = verdict{422, refusal.MissingOrInvalidGiftProgram}
)

// row says how an operation answers, by classes. A key that is none, unknown, expired or revoked is unauthenticated
// everywhere but where no key is asked for.
type row struct {
	open    bool    // no key is asked for
	needs   string  // the permission that the key needs
	also    string  // another, which it needs for this gift; by key, before anything is looked for
	lacking verdict // a key without it; the zero one: NOT_AUTHORIZED
	system  verdict // a system key
	live    verdict // a key of a live account, where the operation is for test accounts; the zero one: it is for both
	at      where   // whether the call says at which location it is made
	noSuch  verdict // where it names a location that the account does not have; the zero one: NOT_FOUND
	wide    bool    // a key that is limited to locations is refused
	by      string  // the ways in which it names a gift; "": it names none, and a key of an account is served
	// What another account's gift is, one that this key may not use here, and one that does not exist.
	foreign, elsewhere, absent verdict
	// of a gift that may be used; nil: all are alike. What is missing is done
	states map[string]verdict
}

// elsewhereTested are operations about no gift: see TestAuthorityOverWebhooks, TestAuthorityOverTills and
// TestImportRefusals.
var elsewhereTested = []row{{by: "webhook"}}

type where int

const (
	nowhereAtAll where = iota
	mayBe              // a location may be named
	mustBe             // a location must be known: it is named, or the key's only one, or the account's only one
)

// authority is the interface's word on who may do what, with the decisions about what it leaves open. Every operation
// of the OpenAPI file is here.
var authority = map[string][]row{
	"sendGift": {{needs: "send", system: done}}, // see sending: it has rules of its own
	"validateGift": {{needs: "validate", system: unsupported, at: mustBe, by: "code token", foreign: notAuthorized,
		elsewhere: notAuthorized, absent: notFound,
		states: map[string]verdict{"purchase failed": notAllowed}}},
	"redeemGift": {
		{needs: "redeem", system: unsupported, at: mustBe, by: "code token", foreign: notAuthorized, elsewhere: notAuthorized,
			absent: notFound, states: spendable},
		{needs: "redeem", system: unsupported, at: mustBe, by: "id", foreign: notFound, elsewhere: notAuthorized,
			absent: notFound, states: spendable}},
	"getClock":     {{lacking: unsupported, system: unsupported, live: unsupported}},
	"advanceClock": {{lacking: unsupported, system: unsupported, live: unsupported}},
	"createStock":  {{needs: "stock", system: unsupported}},
	"exportStock": {{needs: "export", system: unsupported, by: "stock", foreign: notFound, elsewhere: notFound,
		absent: notFound, states: map[string]verdict{"claimed": notFound}}},
	"activateGift": {
		{needs: "activate", system: unsupported, at: mustBe, by: "code token", foreign: notAuthorized,
			elsewhere: notAuthorized, absent: notFound, states: activatable},
		{needs: "activate", system: unsupported, at: mustBe, by: "id", foreign: notFound, elsewhere: notAuthorized,
			absent: notFound, states: activatable}},
	"reverseActivation": {
		{needs: "activate", system: unsupported, by: "activation", foreign: notFound, elsewhere: notFound, absent: notFound,
			states: deactivatable},
		{needs: "activate", system: unsupported, by: "activation's key", foreign: notFound, elsewhere: notAuthorized,
			absent: notFound, states: deactivatable}},
	"redeemGifts": {
		{needs: "redeem", system: unsupported, at: mustBe, by: "code token", foreign: notAuthorized, elsewhere: notAuthorized,
			absent: notFound, states: spendable},
		{needs: "redeem", system: unsupported, at: mustBe, by: "id", foreign: notFound, elsewhere: notAuthorized,
			absent: notFound, states: spendable}},
	"holdGift": {
		{needs: "redeem", system: unsupported, at: mustBe, by: "code token", foreign: notAuthorized, elsewhere: notAuthorized,
			absent: notFound, states: spendable},
		{needs: "redeem", system: unsupported, at: mustBe, by: "id", foreign: notFound, elsewhere: notAuthorized,
			absent: notFound, states: spendable}},
	"captureHold": {{needs: "redeem", system: unsupported, by: "hold", foreign: notFound, elsewhere: notFound,
		absent: notFound, states: map[string]verdict{"captured": holdNotOpen, "released": holdNotOpen}}},
	"releaseHold": {
		{needs: "redeem", system: unsupported, by: "hold", foreign: notFound, elsewhere: notFound, absent: notFound,
			states: map[string]verdict{"captured": holdNotOpen}},
		{needs: "redeem", system: unsupported, by: "hold's key", foreign: notFound, elsewhere: notAuthorized,
			absent: notFound,
			states: map[string]verdict{"captured": holdNotOpen}}},
	"reverseRedemption": {
		{needs: "reverse", system: unsupported, at: mayBe, by: "redemption", foreign: notFound, elsewhere: notFound,
			absent: notFound, states: reversible},
		{needs: "reverse", system: unsupported, at: mayBe, noSuch: malformed, by: "redemption's key", foreign: notFound,
			elsewhere: notAuthorized, absent: notFound, states: reversible},
		{needs: "reverse", also: "cash-out", system: unsupported, at: mayBe, by: "cash-out", foreign: notFound,
			elsewhere: notFound, absent: notFound, states: reversible},
		{needs: "reverse", also: "cash-out", system: unsupported, at: mayBe, noSuch: malformed, by: "cash-out's key",
			foreign: notFound, elsewhere: notAuthorized, absent: notFound, states: reversible}},
	"reloadGift": {
		{needs: "reload", system: unsupported, at: mustBe, by: "code token", foreign: notAuthorized, elsewhere: notAuthorized,
			absent: notFound, states: reloadable},
		{needs: "reload", system: unsupported, at: mustBe, by: "id", foreign: notFound, elsewhere: notAuthorized,
			absent: notFound, states: reloadable}},
	"cashOutGift": {
		{needs: "cash-out", system: unsupported, at: mustBe, by: "code token", foreign: notAuthorized,
			elsewhere: notAuthorized, absent: notFound, states: cashable},
		{needs: "cash-out", system: unsupported, at: mustBe, by: "id", foreign: notFound, elsewhere: notAuthorized,
			absent: notFound, states: cashable}},
	"reverseReload": {
		{needs: "reload", system: unsupported, by: "reload", foreign: notFound, elsewhere: notFound, absent: notFound,
			states: unloadable},
		{needs: "reload", system: unsupported, by: "reload's key", foreign: notFound, elsewhere: notAuthorized,
			absent: notFound, states: unloadable}},
	"cancelGift": {{needs: "cancel", system: malformed, by: "id order reference", foreign: notFound,
		elsewhere: notFound, absent: notFound, states: cancellable}},
	"reinstateGift": {{needs: "cancel", system: unsupported, by: "id order", foreign: notFound, elsewhere: notFound,
		absent: notFound}},
	"resendGift": {{needs: "resend", system: unsupported, by: "id", foreign: notFound, elsewhere: notFound,
		absent: notFound, states: sendable}},
	"rescheduleGift": {{needs: "resend", system: unsupported, by: "id", foreign: notFound, elsewhere: notFound,
		absent: notFound, states: movable}},
	"replaceGift": {{needs: "replace", system: unsupported, by: "id", foreign: notFound, elsewhere: notFound,
		absent: notFound, states: sendable}},
	"linkCustomer": {{needs: "link", system: unsupported, by: "id", foreign: notFound, elsewhere: notFound,
		absent: notFound, states: map[string]verdict{"not activated": notAllowed}}},
	"transferBalance": {
		{needs: "transfer", system: unsupported, by: "from", foreign: notFound, elsewhere: notFound, absent: notFound,
			states: givable},
		{needs: "transfer", system: unsupported, by: "to", foreign: notFound, elsewhere: notFound, absent: notFound,
			states: receivable}},
	"adjustGift": {{needs: "adjust", system: unsupported, by: "id", foreign: notFound, elsewhere: notFound,
		absent: notFound, states: map[string]verdict{"cancelled": notAllowed, "purchase failed": notAllowed,
			"not activated": notAllowed}}},
	"extendGift": {{needs: "extend", system: unsupported, by: "id", foreign: notFound, elsewhere: notFound,
		absent: notFound, states: extendable}},
	"getGift": {{needs: "look-up", system: malformed, by: "id", foreign: notFound, elsewhere: notFound,
		absent: notFound}},
	"getGiftHistory": {{needs: "look-up", system: malformed, by: "id", foreign: notFound, elsewhere: notFound,
		absent: notFound}},
	"getRequest": {{needs: "send", lacking: notFound, system: malformed, by: "key", foreign: notFound,
		elsewhere: notFound, absent: notFound}},
	"getNewCard":    elsewhereTested, // TestCardsForTillsOnly
	"listGifts":     {{needs: "look-up", system: malformed}},
	"listActivity":  {{needs: "look-up", system: unsupported}},
	"exportGifts":   {{needs: "export", system: unsupported}},
	"exportEntries": {{needs: "export", system: unsupported}},
	"pairTill":      elsewhereTested, "listTills": elsewhereTested, "revokeTill": elsewhereTested,
	"listPeople": elsewhereTested, "setPIN": elsewhereTested,
	"checkImport": elsewhereTested, "importGifts": elsewhereTested, "listImports": elsewhereTested,
	"getImport":  elsewhereTested,
	"undoImport": elsewhereTested, "getImportCertificate": elsewhereTested,
	"createWebhook": elsewhereTested, "listWebhooks": elsewhereTested, "getWebhook": elsewhereTested,
	"changeWebhook": elsewhereTested, "deleteWebhook": elsewhereTested, "rotateWebhook": elsewhereTested,
	"replayWebhook": elsewhereTested, "listAttempts": elsewhereTested,
	"listEvents": {{needs: "events", system: unsupported}},
	"listAudit":  {{needs: "audit", system: unsupported, wide: true}},
	// What a key of some locations is told: see TestReportsNeedThePermission.
	"getLiability":   {{needs: "reports", system: unsupported}},
	"getRollForward": {{needs: "reports", system: unsupported}},
	"getRedemptions": {{needs: "reports", system: unsupported}},
	"getSettlement":  {{needs: "reports", system: unsupported}},
	"getAgeing":      {{needs: "reports", system: unsupported}},
	"getBreakage":    {{needs: "reports", system: unsupported}},
	"getDormant":     {{needs: "reports", system: unsupported}},
	// What it books, and for whom: see TestBreakageIsBooked.
	"bookBreakage": elsewhereTested,
	"getJournal":   {{needs: "reports", system: unsupported}},
	"getHealth":    {{open: true}},
	"getReadiness": {{open: true}},
	"getOpenAPI":   {{open: true}},
	"getOpenAPI30": {{open: true}},
	"getDocs":      {{open: true}},
	"getErrorDocs": {{open: true}},
	"getDocsAsset": {{open: true}},
	"getDocsPage":  {{open: true}}, "getOperationDocs": {{open: true}},
}

// rowsOf are the rows of an operation. A plain operation that is done to a gift in any state needs no row of its own:
// the permission stands in the table of operations.
func rowsOf(op contract.Route) []row {
	rows := authority[op.OperationID]
	o := operation.Name(path.Base(op.Path))
	if rows == nil && theRequests()[string(o)].plain {
		rows = []row{{needs: o.Needs().String(), system: unsupported, by: "id", foreign: notFound, elsewhere: notFound,
			absent: notFound}}
	}
	return rows
}

var (
	spendable = map[string]verdict{"pending": notAllowed, "redeemed": alreadyRedeemed, "cancelled": notAllowed,
		"purchase failed": notAllowed, "not activated": notAllowed,
		"expired": notAllowed, "not yet valid": notAllowed}
	deactivatable = map[string]verdict{"activated, used": notAllowed, "deactivated": alreadyReversed}
	activatable   = map[string]verdict{"pending": alreadyActive, "delivered": alreadyActive,
		"failed delivery": alreadyActive, "claimed": alreadyActive, "redeemed": alreadyActive, "cancelled": notAllowed,
		"purchase failed": notAllowed, "expired": alreadyActive, "not yet valid": alreadyActive}
	cancellable = map[string]verdict{"redeemed": notAllowed, "purchase failed": notAllowed}
	sendable    = map[string]verdict{"redeemed": alreadyRedeemed, "cancelled": notAllowed, "purchase failed": notAllowed,
		"expired": notAllowed, "not activated": notAllowed}
	movable = map[string]verdict{"delivered": notAllowed, "failed delivery": notAllowed, "claimed": notAllowed,
		"redeemed":  alreadyRedeemed,
		"cancelled": notAllowed, "purchase failed": notAllowed, "expired": notAllowed, "not yet valid": notAllowed,
		"not activated": notAllowed}
	extendable = map[string]verdict{"pending": unsupported, "delivered": unsupported, "failed delivery": unsupported,
		"claimed": unsupported, "redeemed": unsupported, "cancelled": unsupported, "purchase failed": unsupported,
		"not activated": unsupported}
	reversible = map[string]verdict{"given back": alreadyReversed, "cash given back": alreadyReversed}
	// The other gift of a transfer is a purchased one, those that have an end are promotional.
	givable = map[string]verdict{"pending": notAllowed, "redeemed": alreadyRedeemed, "cancelled": notAllowed,
		"purchase failed": notAllowed, "expired": wrongProgram, "not yet valid": wrongProgram,
		"not activated": notAllowed}
	receivable = map[string]verdict{"pending": notAllowed, "cancelled": notAllowed, "purchase failed": notAllowed,
		"expired": wrongProgram, "not yet valid": wrongProgram, "not activated": notAllowed}
	reloadable = map[string]verdict{"pending": notAllowed, "cancelled": notAllowed, "purchase failed": notAllowed,
		"not activated": notAllowed,
		"expired":       unsupported, "not yet valid": unsupported} // which are promotional
	// Of each gift more is left than the law speaks of, or there is no law: TestCashOut has those of which it is not.
	cashable = map[string]verdict{"pending": notAllowed, "redeemed": alreadyRedeemed, "cancelled": notAllowed,
		"purchase failed": notAllowed, "not activated": notAllowed, "delivered": unsupported, "claimed": unsupported,
		"failed delivery": unsupported, "expired": unsupported, "not yet valid": unsupported}
	unloadable = map[string]verdict{"reload taken back": alreadyReversed, "reload spent": insufficient}
)

var (
	deadKeys = []string{"", "boon_test_nobody", expiredKey, revokedKey}
	liveKeys = []string{harborKey, pierKey, cornerKey}
	everyKey = append(append([]string{systemKey, partnerKey}, deadKeys...), liveKeys...)
	// Where gifts are good: anywhere in the account of harbor, at one of its locations, in the account of corner,
	// nowhere as there is none.
	everyGood  = []string{"anywhere", pier, wharf, corner, nowhere}
	everyPlace = []string{"", pier, wharf, cornerPlace, nowhere}
	everyState = []string{"pending", "delivered", "failed delivery", "claimed", "redeemed", "cancelled",
		"purchase failed", "expired", "not yet valid", "not activated"}
	redemptions = []string{"claimed", "redeemed", "cancelled after", "given back"}
	activations = []string{"activated", "activated, used", "deactivated"}
	reloads     = []string{"reloaded", "reload spent", "reload taken back", "cancelled reloaded"}
	cashOuts    = []string{"cashed out", "cash given back"}
	holds       = []string{"held", "held in part", "captured", "released"}
)

// limitedTo is the one location that a key is limited to; "": none in particular.
func limitedTo(key string) string {
	if key == pierKey || strings.Contains(key, "pier-may-") {
		return pier
	}
	return ""
}

// located is where a till's call is made: a location that it names must be its account's and its key's; else it is
// the key's only one, else the account's only one.
func located(key, place string) (string, verdict) {
	foreign := place == nowhere || place != "" && (place == cornerPlace) != (key == cornerKey)
	switch {
	case foreign:
		return "", notFound
	case limitedTo(key) == pier && place == wharf:
		return "", notAuthorized
	case place != "":
		return place, done
	case limitedTo(key) == pier:
		return pier, done
	case key == cornerKey:
		return cornerPlace, done
	}
	return "", malformed
}

// verdict applies a row to one case.
func (r row) verdict(key, place, good, state string) verdict {
	if !may(key, r.needs) {
		return cmp.Or(r.lacking, notAuthorized)
	}
	barred := r.also != "" && !may(key, r.also)
	if barred && strings.HasSuffix(r.by, "'s key") {
		return notAuthorized
	}
	at := ""
	if r.at != nowhereAtAll {
		var v verdict
		if at, v = located(key, place); v != done && (r.at == mustBe || place != "") {
			if v == notFound && r.noSuch != (verdict{}) {
				return r.noSuch
			}
			return v
		}
	}
	limited := good == pier || good == wharf
	switch {
	case r.wide && limitedTo(key) != "":
		return notAuthorized
	case r.by == "":
		return cmp.Or(r.live, done)
	case good == nowhere:
		return r.absent
	case (good == corner) != (key == cornerKey):
		return r.foreign
	case r.at == mustBe && limited && good != at:
		return r.elsewhere
	// what is redeemed or held of those is, at the pier
	case limitedTo(key) == pier && r.at != mustBe && good != pier &&
		!(good == "anywhere" && (r.at == mayBe || strings.HasPrefix(r.by, "hold") ||
			strings.HasPrefix(r.by, "activation") || strings.HasPrefix(r.by, "reload"))):
		return r.elsewhere
	case barred:
		return notAuthorized
	}
	if v, told := r.states[state]; told {
		return v
	}
	return done
}

// stage is a service with gifts on it.
type stage struct {
	*world
	calls    int
	partners map[string]string // for transfers: the id of a gift that is good somewhere, by that
}

// newStage makes a stage. change, if any, alters its configuration.
func newStage(t *testing.T, change ...func(*config)) *stage {
	var caller atomic.Int64 // each call comes from a network of its own: anonymous ones are not tested here
	s := &stage{partners: map[string]string{}}
	s.world = newWorld(t, append([]func(*config){func(c *config) {
		c.Records = unlimited{c.Records} // no till runs out of attempts
		c.ClientAddress = func(*http.Request) netip.Addr {
			n := caller.Add(1)
			return netip.AddrFrom4([4]byte{byte(10 + n>>16), byte(n >> 8), byte(n), 1})
		}
	}}, change...)...)
	s.addKeys(allPermitted()...)
	for _, account := range []string{harbor, corner} { // so that cash can be asked for at every location
		s.configureOne(account, func(a *merchant.Account) {
			a.Locations = slices.Clone(a.Locations)
			for n := range a.Locations {
				a.Locations[n].Jurisdiction = "US-CA"
			}
		})
	}
	return s
}

// permittedKey is a key of harbor that has one permission, everywhere or at the pier.
func permittedKey(permission string, at string) string {
	limit := "all"
	if at == pier {
		limit = "pier"
	}
	return "boon_test_" + limit + "-may-" + permission + "-000000000000000000"
}

// may tells whether a key has a permission; keys whose names tell none have all.
func may(key, permission string) bool {
	_, only, found := strings.Cut(key, "-may-")
	return !found || permission != "" && strings.HasPrefix(only, permission+"-0")
}

func allPermitted() (keys []*merchant.Key) {
	for n, name := range merchant.PermissionNames() {
		p, _ := merchant.PermissionByName(name)
		for m, at := range []string{"", pier} {
			text := permittedKey(name, at)
			k := &merchant.Key{ID: id(fmt.Sprintf("00000000-0000-7000-8000-000000002%d%02d", m, n)), Kind: merchant.AccountKey,
				AccountID: id(harbor), Name: text[10:],
				Hash: merchant.HashKey(text), CreatedAt: time.Now().Add(-time.Hour), Permissions: p}
			if at == pier {
				k.Locations = []guid.ID{id(pier)}
			}
			keys = append(keys, k)
		}
	}
	return keys
}

// known is a gift by all its names.
type known struct {
	made
	key, reference, redemption, hold, good, activation, reload, cashOut string
}

// name gives the member of a request that names the gift.
func (k known) name(by string) string {
	member, value := "", ""
	switch by {
	case "id":
		member, value = "voucherID", k.id
	case "code":
		member, value = "voucherCode", k.code
	case "token":
		member, value = "voucherPublicToken", k.token
	case "order":
		member, value = "orderID", k.order
	case "reference":
		member, value = "externalTransactionReferenceNumber", k.reference
	case "redemption":
		member, value = "redemptionID", k.redemption
	case "redemption's key":
		member, value = "idempotencyKey", "sale "+k.key
	case "cash-out":
		member, value = "redemptionID", k.cashOut
	case "cash-out's key":
		return `"idempotencyKey":"cash ` + k.key + `","operation":"cash-out-gift"`
	case "activation":
		member, value = "activationID", k.activation
	case "activation's key":
		member, value = "idempotencyKey", "activation "+k.key
	case "hold":
		member, value = "holdID", k.hold
	case "hold's key":
		member, value = "idempotencyKey", "hold "+k.key
	case "from":
		member, value = "fromVoucherID", k.id
	case "to":
		member, value = "toVoucherID", k.id
	case "reload":
		member, value = "reloadID", k.reload
	case "reload's key":
		member, value = "idempotencyKey", "load "+k.key
	}
	return `"` + member + `":"` + value + `"`
}

func (k known) secrets() []string {
	return []string{k.id, k.code, k.token, k.order, k.redemption, k.reference, k.hold, k.activation, k.reload, k.cashOut}
}

// make makes a gift that is good somewhere and brings it into a state.
func (s *stage) make(good, state string) known {
	s.calls++
	k := known{key: fmt.Sprintf("k%d", s.calls), reference: fmt.Sprintf("ref-%d", s.calls), good: good}
	if good == nowhere {
		k.made = made{nowhere, fmt.Sprint(900_000_000_000 + s.calls), fmt.Sprintf("%022d", s.calls), nowhere}
		k.redemption, k.hold, k.activation, k.reload, k.cashOut = nowhere, nowhere, nowhere, nowhere, nowhere
		return k
	}
	owner, storefront, promotion, place := harborKey, shop, bareSpring, pier
	if good == corner {
		owner, storefront, promotion, place = cornerKey, cornerShop, cornerPromotion, cornerPlace
	}
	limit := ""
	if good == pier || good == wharf {
		limit, place = member("organizationID", good), good
	}
	if state == "not activated" || slices.Contains(activations, state) {
		k.made = s.stock(`"count":1`+limit, append(as(owner), once(k.key)...)...)[0]
		if state != "not activated" {
			k.activation = s.post("activate-gift", `{"voucherID":"`+k.id+`","organizationID":"`+place+`","amount":5,`+
				purchaseAt(storefront)+`}`, append(as(owner), once("activation "+k.key)...)...).want(200).at("activationID")
		}
		switch state {
		case "activated, used":
			s.post("hold-gift", `{"voucherID":"`+k.id+`","organizationID":"`+place+`","amount":1}`, as(owner)...).want(200)
		case "deactivated":
			s.post("reverse-activation", `{"activationID":"`+k.activation+`"}`, as(owner)...).want(200)
		}
		return k
	}
	method, payment := `"deliveryMethodID":3`, strings.Replace(purchaseAt(storefront), `"R-1"`, `"`+k.reference+`"`, 1)
	switch state {
	case "pending", "failed delivery":
		method = `"deliveryMethodID":1,"recipientContact":"ann@example.com"`
	case "expired", "not yet valid":
		from := yearsFrom(s.now(), map[string]int{"expired": -1, "not yet valid": 1}[state])
		payment = `"paymentMethodID":4,"promotionID":"` + promotion + `","validStarting":"` + from +
			`","validForDays":1,"promotionalTerms":"x"`
	}
	if state == "expired" { // a gift that is over already would not be made
		s.skew.Store(int64(-2 * 365 * 24 * time.Hour))
		defer s.skew.Store(0)
	}
	k.made = s.send(`{"monetaryGift":{"value":500,`+method+limit+`},`+payment+`}`, append(as(owner), once(k.key)...)...)
	redeem := func(amount string) {
		s.post("redeem-gift", `{"voucherID":"`+k.id+`","organizationID":"`+place+`"`+amount+`}`,
			append(as(owner), once("sale "+k.key)...)...).want(200)
		k.redemption = s.get("/requests/sale%20"+k.key, as(owner)...).at("requests[0].answer.redemptionID")
	}
	hold := func() {
		k.hold = s.post("hold-gift", `{"voucherID":"`+k.id+`","organizationID":"`+place+`","amount":1}`,
			append(as(owner), once("hold "+k.key)...)...).want(200).at("holdID")
	}
	reload := func() {
		k.reload = s.post("reload-gift",
			`{"voucherID":"`+k.id+`","organizationID":"`+place+`","amount":1,`+paidAt(storefront)+
				`}`, append(as(owner), once("load "+k.key)...)...).want(200).at("reloadID")
	}
	cancel := func(cause string) {
		s.post("cancel-gift", `{"voucherID":"`+k.id+`","cause":"`+cause+`"}`, as(owner)...).want(200)
	}
	switch state {
	case "failed delivery":
		s.fail(good, k.id)
	case "claimed":
		redeem(`,"amount":1`)
	case "redeemed":
		redeem("")
	case "cancelled":
		cancel("CANCELLED")
	case "cashed out", "cash given back":
		redeem(`,"amount":490`)
		k.cashOut = s.post("cash-out-gift", `{"voucherID":"`+k.id+`","organizationID":"`+place+`"}`,
			append(as(owner), once("cash "+k.key)...)...).want(200).at("cashOutID")
		if state == "cash given back" {
			s.post("reverse-redemption", `{"redemptionID":"`+k.cashOut+`"}`, as(owner)...).want(200)
		}
	case "cancelled after":
		redeem(`,"amount":1`)
		cancel("CANCELLED")
	case "given back":
		redeem(`,"amount":1`)
		s.post("reverse-redemption", `{"redemptionID":"`+k.redemption+`"}`, as(owner)...).want(200)
	case "purchase failed":
		cancel("PURCHASE_FAILED")
	case "held":
		hold()
	case "held in part", "captured":
		hold()
		s.post("capture-hold", `{"holdID":"`+k.hold+`","amount":0.5,"final":`+fmt.Sprint(state == "captured")+`}`,
			as(owner)...).want(200)
	case "reloaded":
		reload()
	case "reload spent":
		reload()
		redeem("")
	case "reload taken back":
		reload()
		s.post("reverse-reload", `{"reloadID":"`+k.reload+`"}`, as(owner)...).want(200)
	case "cancelled reloaded":
		reload()
		cancel("CANCELLED")
	case "released":
		hold()
		s.post("release-hold", `{"holdID":"`+k.hold+`"}`, as(owner)...).want(200)
	}
	return k
}

// partner is a gift of the key's own that is as good as another one, as far as the key has such.
func (s *stage) partner(key, good string) string {
	switch {
	case key == cornerKey:
		good = corner
	case limitedTo(key) == pier:
		good = pier
	case good == corner || good == nowhere:
		good = "anywhere"
	}
	if s.partners[good] == "" {
		s.partners[good] = s.make(good, "delivered").id
	}
	return s.partners[good]
}

func yearsFrom(now time.Time, years int) string {
	return now.AddDate(years, 0, 0).UTC().Format(time.RFC3339)
}

// fail has the delivery of a gift fail for good.
func (s *stage) fail(good, voucher string) {
	s.Helper()
	account := id(harbor)
	if good == corner {
		account = id(corner)
	}
	call := ledger.Call{AccountID: account, Operation: "deliver", Render: func(ledger.Result,
		error) ledger.Answer {
		return ledger.Answer{}
	}}
	if _, err := s.engine.Do(s.Context(), call, &ledger.Deliver{Job: ledger.Job{ID: guid.ID{1},
		AccountID: account, VoucherID: id(voucher)}}); err != nil {
		s.Fatal(err)
	}
}

// expect judges one answer: the verdict, and that nothing shows of what is hidden.
func (s *stage) expect(t *testing.T, r reply, key string, want verdict, hidden []string, call string) {
	t.Helper()
	s.calls++
	status := r.status
	if status == 201 {
		status = 200
	}
	code := ""
	if status >= 400 {
		code = r.at("code")
	}
	if status != want.status || code != string(want.code) {
		t.Errorf("%s as %q: %d %s, want %d %s: %s", call, key, r.status, code, want.status, want.code, r.body)
	}
	for _, secret := range hidden {
		if secret != "" && strings.Contains(string(r.body), secret) {
			t.Errorf("%s as %q shows %s, which is not for it: %s", call, key, secret, r.body)
		}
	}
}

// foreign is what a key of an account must never be shown of the others.
func foreign(key string) []string {
	switch key {
	case cornerKey:
		return []string{harbor, "Harbor", shop, "Pier 39", pier, wharf}
	case harborKey, pierKey:
		return []string{corner, "Corner", cornerShop, cornerPlace}
	}
	if strings.Contains(key, "-may-") {
		return foreign(harborKey)
	}
	return []string{harbor, "Harbor", shop, "Pier 39", corner, "Corner", cornerShop}
}

func member(name, value string) string {
	if value == "" {
		return ""
	}
	return `,"` + name + `":"` + value + `"`
}

// ask makes the call of an operation on a gift that it names in one way.
func (s *stage) ask(op contract.Route, by string, k known, key, place string) reply {
	path, body := s.request(op, by, k, key, place)
	return s.do(op.Method, path, body, as(key)...)
}

// request is the call of an operation on a gift that it names in one way: its path and its body.
func (s *stage) request(op contract.Route, by string, k known, key, place string) (address, body string) {
	at := member("organizationID", place)
	name, storefront := k.name(by), shop
	if key == cornerKey {
		storefront = cornerShop
	}
	body = map[string]string{
		"validateGift": `{` + name + at + `}`, "redeemGift": `{` + name + at + `,"amount":0.01}`,
		"reverseRedemption": `{` + name + at + map[bool]string{true: `,"amount":0.01`}[strings.HasPrefix(by, "redemption")] + `}`,
		"cancelGift":        `{` + name + `,"cause":"CANCELLED"}`, "reinstateGift": `{` + name + `}`, "resendGift": `{` + name + `}`,
		"rescheduleGift": `{` + name + `,"deliveryDate":"` + s.now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`,
		"sendGift":       ofMoney("1", member("accountID", harbor)),
		"advanceClock":   `{"advance":"P1D"}`,
		"createStock":    `{"count":1}`, "reverseActivation": `{` + name + `}`,
		"activateGift": `{` + name + at + `,"amount":1,` + purchaseAt(storefront) + `}`,
		"holdGift":     `{` + name + at + `,"amount":0.01}`,
		"redeemGifts":  `{"gifts":[{` + name + `,"amount":0.01}]` + at + `}`,
		"captureHold":  `{` + name + `,"amount":0.01,"final":false}`, "releaseHold": `{` + name + `}`,
		"reloadGift":    `{` + name + at + `,"amount":0.01,` + paidAt(storefront) + `}`,
		"reverseReload": `{` + name + `}`,
		"adjustGift":    `{` + name + `,"amount":0.01,"reasonCode":"SUPPORT","reason":"why"}`,
		"extendGift":    `{` + name + `,"validUntil":"2040-01-01T00:00:00Z"}`,
		"cashOutGift":   `{` + name + at + `}`,
	}[op.OperationID]
	if body == "" && theRequests()[path.Base(op.Path)].plain {
		body = exampleRequests(path.Base(op.Path), k.id)[0]
	}
	if op.OperationID == "replaceGift" {
		body = `{` + name + `,"reason":"x"}`
	}
	if op.OperationID == "transferBalance" {
		other := map[string]string{"from": "toVoucherID", "to": "fromVoucherID"}[by]
		body = `{` + name + member(other, s.partner(key, k.good)) + `,"amount":0.01}`
	}
	address = strings.NewReplacer("{voucherID}", k.id, "{key}", k.key, "{orderID}", k.order,
		"{webhookID}", nowhere, "{keyID}", nowhere).Replace(op.Path)
	if strings.Contains(op.Path, "/reports/") {
		address += "?" + askReports
	}
	if op.OperationID == "exportStock" {
		address += "?format=csv"
	}
	return address, body
}

// TestAuthority holds every operation of the OpenAPI file against the table, for every kind of key × every location
// that a call may name × every place where a gift may be good, another account and none among them × every state of
// the gift.
func TestAuthority(t *testing.T) {
	racetest.SkipShort(t, "thousands of calls, one after the other")
	t.Parallel()
	pgtest.Once(t)
	s := newStage(t)
	operations, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	inFile := map[string]bool{}
	for _, op := range operations {
		inFile[op.OperationID] = true
		if len(rowsOf(op)) == 0 {
			t.Errorf("%s has no row in the table of authority: say who may call it, and what others are answered",
				op.OperationID)
		}
	}
	for name := range authority {
		if !inFile[name] {
			t.Errorf("the table of authority tells of %s, which is no operation", name)
		}
	}
	for _, good := range everyGood { // so that lists and reports have something to hide
		for _, state := range []string{"delivered", "claimed", "reloaded"} {
			s.make(good, state)
		}
	}
	// Reports read every gift, and are asked while there are few: what names no gift comes first.
	for _, named := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(operations), func(op contract.Route) bool { return namesGifts(op) != named })
		for _, op := range some {
			s.operation(t, op)
		}
		t.Run(fmt.Sprint("permissions, named gifts ", named), func(t *testing.T) { s.permissions(t, some) })
	}
	t.Run("send", s.sending)
	t.Run("what became of it", s.requests)
	t.Logf("%d calls were made", s.calls)
	if s.calls < 3000 {
		t.Errorf("only %d calls were made", s.calls)
	}
}

// namesGifts tells whether an operation names a gift in one of its rows.
func namesGifts(op contract.Route) bool {
	return slices.ContainsFunc(rowsOf(op), func(r row) bool { return r.by != "" })
}

// operation asks for an operation in each of its ways.
func (s *stage) operation(t *testing.T, op contract.Route) {
	for _, r := range rowsOf(op) {
		if r.by == "webhook" {
			continue
		}
		t.Run(op.OperationID+" by "+r.by, func(t *testing.T) {
			s.keys(t, op, r)
			if r.by != "" {
				s.gifts(t, op, r)
			}
		})
	}
}

// keys asks with every key that belongs to no account, and where no gift is named, with all others.
func (s *stage) keys(t *testing.T, op contract.Route, r row) {
	if r.open {
		if op.OperationID != "getHealth" && op.OperationID != "getReadiness" { // the server's
			page := s.do("GET", "/docs", "", as("")...)
			style := regexp.MustCompile(`docs\.[0-9a-f]+\.css`).FindString(string(page.body))
			path := strings.NewReplacer("{file}", style, "{page}", "events", "{operation}", "redeemGift").Replace(op.Path)
			s.do(op.Method, path, "", as("")...).want(200)
		}
		return
	}
	places := everyPlace
	if r.at == nowhereAtAll {
		places = everyPlace[:1]
	}
	for _, good := range r.goods() {
		k := s.make(good, "delivered")
		for _, place := range places {
			for _, key := range deadKeys {
				s.expect(t, s.ask(op, ways(r.by)[0], k, key, place), key, unauthenticated, append(foreign(key), k.secrets()...),
					op.OperationID)
			}
			for _, key := range []string{systemKey, partnerKey} {
				hidden := append(foreign(key), k.secrets()...)
				if r.system == done {
					hidden = nil // it sends for the account that it names, and is told
				}
				s.expect(t, s.ask(op, ways(r.by)[0], k, key, place), key, r.system, hidden, op.OperationID)
			}
		}
	}
	if r.by == "" && op.Method == http.MethodGet {
		for _, key := range liveKeys {
			hidden := foreign(key)
			if key == pierKey {
				hidden = append(hidden, wharf)
			}
			for _, query := range []string{"", "&organizationID=" + wharf, "&organizationID=" + cornerPlace, "&organizationID=" +
				pier} {
				if strings.Contains(op.Path, "/reports/") {
					query += "&" + askReports
				}
				s.expect(t, s.do(op.Method, op.Path+"?limit=200"+query, "", as(key)...), key, r.verdict(key, "", "", ""), hidden,
					op.OperationID+query)
			}
		}
	}
}

// permissions asks for every operation with keys that have one permission each, everywhere or at the pier only, about
// gifts that are good in every kind of place.
func (s *stage) permissions(t *testing.T, operations []contract.Route) {
	for _, op := range operations {
		for _, r := range rowsOf(op) {
			if r.by == "webhook" || r.open {
				continue
			}
			for _, good := range r.goods() {
				s.permitted(t, op, r, good)
			}
		}
	}
}

func (s *stage) permitted(t *testing.T, op contract.Route, r row, good string) {
	places, by := everyPlace[:3], ""
	if r.at == nowhereAtAll {
		places = everyPlace[:1]
	}
	if r.by != "" {
		by = ways(r.by)[0]
	}
	state := r.usual()
	k := s.make(good, state)
	for _, name := range merchant.PermissionNames() {
		for _, key := range []string{permittedKey(name, ""), permittedKey(name, pier)} {
			for _, place := range places {
				want := r.verdict(key, place, good, state)
				if r.by == "" && op.Method == http.MethodPost && want == done && limitedTo(key) != "" {
					want = malformed // the gift would be good everywhere
				}
				hidden := foreign(key)
				if want != done && want != r.states[state] {
					hidden = append(hidden, k.secrets()...)
				}
				call := fmt.Sprintf("%s by %s of a gift for %s at %q", op.OperationID, by, good, place)
				s.expect(t, s.ask(op, by, k, key, place), key, want, hidden, call)
				if want == done && op.Method == http.MethodPost {
					k = s.make(good, state)
				}
			}
		}
	}
}

// goods are where the gifts are good that a call is tried with: a call that names none is the same for all.
func (r row) goods() []string {
	if r.by == "" {
		return everyGood[:1]
	}
	return everyGood
}

// usual is the state of a gift on which most of what names it in a row's ways can be done.
func (r row) usual() string {
	for by, state := range map[string]string{"hold": "held", "activation": "activated", "cash-out": "cashed out",
		"reload": "reloaded"} {
		if strings.HasPrefix(r.by, by) {
			return state
		}
	}
	return "claimed"
}

// ways lists the ways to name a gift; one of them is two words.
func ways(by string) []string {
	if strings.HasSuffix(by, "'s key") {
		return []string{by}
	}
	return strings.Split(by, " ")
}

// gifts asks with every key of an account about gifts that are good anywhere, in every state.
func (s *stage) gifts(t *testing.T, op contract.Route, r row) {
	places, states := everyPlace, everyState
	if r.at == nowhereAtAll {
		places = everyPlace[:1]
	}
	if strings.HasPrefix(r.by, "redemption") {
		states = redemptions
	}
	if strings.HasPrefix(r.by, "hold") {
		states = holds
	}
	if strings.HasPrefix(r.by, "activation") {
		states = activations
	}
	if strings.HasPrefix(r.by, "cash-out") {
		states = cashOuts
	}
	if strings.HasPrefix(r.by, "reload") {
		states = reloads
	}
	if r.by == "stock" {
		states = []string{"not activated", "activated", "claimed"} // the last was not made as a card of a stock
	}
	changes := slices.Contains([]string{"cancelGift", "reinstateGift", "reverseRedemption", "resendGift", "activateGift",
		"reverseActivation", "reverseReload", "adjustGift", "extendGift"}, op.OperationID) || authority[op.OperationID] == nil
	for _, good := range everyGood {
		for _, state := range states {
			k := s.make(good, state)
			for _, by := range ways(r.by) {
				for _, key := range liveKeys {
					for _, place := range places {
						want := r.verdict(key, place, good, state)
						hidden := foreign(key)
						if want != done && want != r.states[state] {
							hidden = append(hidden, k.secrets()...)
						}
						if state == "expired" || state == "not yet valid" || state == "not activated" {
							if by == "reference" { // it has none
								continue
							}
						}
						call := fmt.Sprintf("%s by %s of a %s gift for %s at %q", op.OperationID, by, state, good, place)
						s.expect(t, s.ask(op, by, k, key, place), key, want, hidden, call)
						if changes && want == done {
							k = s.make(good, state)
						}
					}
				}
			}
		}
	}
}

func (s *stage) sending(t *testing.T) {
	for _, key := range everyKey {
		for _, place := range everyPlace {
			for _, account := range []string{"", harbor, corner, nowhere} {
				home := map[string]string{harborKey: harbor, pierKey: harbor, cornerKey: corner, systemKey: account,
					partnerKey: account}[key]
				paid := purchase
				if home == corner {
					paid = purchaseAt(cornerShop)
				}
				body := `{"monetaryGift":{"value":1,"deliveryMethodID":3` + member("organizationID", place) +
					member("accountID", account) + `},` + paid + `}`
				want := done
				switch {
				case home == "" && (key == systemKey || key == partnerKey):
					want = malformed
				case home == nowhere: // a system key does not learn whether there is such an account
					want = notAuthorized
				case home == "":
					want = unauthenticated
				case account != "" && account != home:
					want = notAuthorized
				case place == nowhere, place != "" && (place == cornerPlace) != (home == corner):
					want = malformed
				case key == pierKey && place == wharf:
					want = notAuthorized
				case key == pierKey && place == "": // it sends gifts only that are good at the pier
					want = malformed
				}
				s.expect(t, s.post("send-gift", body, as(key)...), key, want, nil, fmt.Sprintf("send for %q at %q", account, place))
			}
		}
	}
}

// requests: a stored answer is given, on a repeat and on asking, to keys only that are enabled for every location of
// which it tells.
func (s *stage) requests(t *testing.T) {
	anywhere := s.make("anywhere", "delivered")
	atWharf := member("organizationID", wharf)
	redeem := `{"voucherCode":"` + anywhere.code + `","amount":1` + atWharf + `}`
	taken := s.post("redeem-gift", redeem, append(as(wharfKey), once("of the wharf")...)...).want(200).at("redemptionID")
	held := func() string { return s.post("hold-gift", redeem, as(wharfKey)...).want(200).at("holdID") }
	cancelled := s.make(wharf, "delivered")
	load := `{"voucherCode":"` + anywhere.code + `","amount":1` + atWharf + `,` + paidAt(shop) + `}`
	loaded := s.post("reload-gift", load, as(wharfKey)...).want(200).at("reloadID")
	bodies := []struct{ operation, body string }{
		{"reload-gift", load}, {"reverse-reload", `{"reloadID":"` + loaded + `"}`},
		{"redeem-gift", redeem},
		{"send-gift", ofMoney("3", atWharf)},
		{"cancel-gift", `{"voucherID":"` + cancelled.id + `","cause":"CANCELLED"}`},
		{"reverse-redemption", `{"redemptionID":"` + taken + `"}`},
		{"hold-gift", redeem}, {"capture-hold", `{"holdID":"` + held() + `"}`}, {"release-hold", `{"holdID":"` + held() +
			`"}`},
	}
	for _, b := range bodies {
		maker := harborKey // so that where nothing is named, the request itself is the same for every key
		first := s.post(b.operation, b.body, append(as(maker), once("of the wharf")...)...)
		if first.status >= 300 {
			t.Fatalf("%s: %s", b.operation, first.body)
		}
		s.post(b.operation, b.body, append(as(rotatedKey), once("of the wharf")...)...).again(first)
		again := s.post(b.operation, b.body, append(as(pierKey), once("of the wharf")...)...)
		want := notAuthorized
		if b.operation == "reverse-redemption" { // there the pier's key says where, too: another request
			want = verdict{422, refusal.IdempotencyMismatch}
		}
		s.expect(t, again, pierKey, want, foreign(pierKey), "repeat of "+b.operation)
	}
	refused := `{"voucherCode":"` + anywhere.code + `","amount":9000` + atWharf + `}`
	s.post("redeem-gift", refused, append(as(wharfKey), once("refused at the wharf")...)...).refused(409,
		refusal.InsufficientBalance)
	for _, key := range []string{"of%20the%20wharf", "refused%20at%20the%20wharf"} {
		s.get("/requests/"+key, as(wharfKey)...).want(200)
		s.expect(t, s.get("/requests/"+key, as(harborKey)...), harborKey, done, foreign(harborKey), "what became of "+key)
		for _, other := range []string{pierKey, cornerKey} {
			s.expect(t, s.get("/requests/"+key, as(other)...), other, notFound, foreign(other), "what became of "+key)
		}
		s.expect(t, s.get("/requests/"+key, as(systemKey)...), systemKey, malformed, foreign(systemKey), "what became of "+
			key)
	}
}
