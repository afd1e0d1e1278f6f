package provider

import (
	"cmp"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// Call is a call that a platform makes, in its own protocol. Whoever makes it, is told of what was done under the keys
// of the provider only.
type Call struct {
	service.Call
	// Sells: what is asked for gives a card its value, or takes that back. Who asks for a card that is not sold yet with
	// anything else is told of.
	Sells bool
	seen  *int // ledger.Call's Seen
}

// Handler answers the calls of a protocol with what do replies.
func Handler(s *service.Service, do func(*Call) service.Reply) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := new(Call)
		s.Serve(w, r, &c.Call, func() service.Reply { return do(c) })
	})
}

// ReadAll reads the body, whatever its type, of at most so many bytes. What it takes counts as the account's.
func (c *Call) ReadAll(most int64, of *merchant.Account) ([]byte, error) {
	known := c.Account
	c.Account = of
	defer func() { c.Account = known }()
	return c.Call.ReadAll(most)
}

// Before says how a gift is found that the caller used before.
type Before struct {
	// References are under which something may be kept: a key is a reference, a colon and the id of the gift, and more.
	References []string
	// Known tells whether a gift was used by what is asked for again, or to be taken back.
	Known func(*gift.Voucher) (bool, error)
}

// Find looks a gift up by its code, which is limited against guessing. Where no attempt is left, or the card was
// replaced, nothing is looked up by the code, but it is compared with those of gifts that the caller used before: what
// became of these can be asked for and undone all the same. The zero Before is none.
func (c *Call) Find(code codes.VoucherCode, before Before) (gift.Gift, error) {
	g, err := c.FindByCode(code, c.Location)
	if !c.Sells {
		c.NoteProbe(&g, c.Location)
	}
	seen := g.Replaced
	if errors.Is(err, refusal.RateLimited) || errors.Is(err, refusal.RedemptionNotAllowed) {
		g, seen, err = c.findUsed(code, before, err)
	}
	if err != nil {
		return gift.Gift{}, err // whose it is, is nobody's business
	}
	c.seen = &seen
	return g, nil
}

// findUsed finds a gift that was refused, if the caller used it before, and what Replaced was when its card was seen.
func (c *Call) findUsed(code codes.VoucherCode, before Before, refused error) (gift.Gift, int, error) {
	used, err := c.usedUnder(before.References)
	if err != nil {
		return gift.Gift{}, 0, err
	}
	g, err := c.Compare(code, c.Location, used)
	seen := g.Replaced
	_, replaced := errors.AsType[*gift.ReplacedError](err)
	switch {
	case replaced:
		seen = -1 // nothing new can be done with that card
	case errors.Is(err, refusal.NotFound), errors.Is(err, refusal.RateLimited):
		return gift.Gift{}, 0, refused
	case err != nil:
		return gift.Gift{}, 0, err
	}
	if _, err := gift.CheckUse(c.Caller.Account.ID, &g.Voucher, c.Location, gift.NoSuchCode); err != nil {
		return gift.Gift{}, 0, refused
	}
	if is, err := before.Known(&g.Voucher); err != nil || !is {
		return gift.Gift{}, 0, cmp.Or(err, refused)
	}
	return g, seen, nil
}

// maxUsed is how many gifts are compared: no guest pays one order with as many.
const maxUsed = 100

// usedUnder lists the gifts that the provider used under references.
func (c *Call) usedUnder(references []string) (used []guid.ID, _ error) {
	for _, reference := range references {
		begin := c.Scope(reference + ":")
		keys, err := c.Lookup().ProviderKeys(c.Context(), c.Account.ID, begin, maxUsed)
		if err != nil {
			return nil, service.Stored(err)
		}
		for _, key := range keys {
			text, _, _ := strings.Cut(strings.TrimPrefix(key, begin), ":")
			if id, err := guid.Parse(text); err == nil && !slices.Contains(used, id) {
				used = append(used, id)
			}
		}
	}
	return used, nil
}

// Gift finds a gift by its id, if it may be used where the call is made.
func (c *Call) Gift(id guid.ID) (gift.Gift, error) {
	g, err := c.Lookup().Gift(c.Context(), c.Account.ID, id)
	if errors.Is(err, refusal.NotFound) || err == nil && !g.AllowedAt(c.Location) {
		return gift.Gift{}, gift.NoSuchGift()
	}
	return g, service.Stored(err)
}

// Token is a proof for the provider that it was told of a gift: it is good for nobody else, and for no other gift.
func (c *Call) Token(voucher guid.ID) string {
	made := c.Fingerprint(c.tokenText(voucher))
	return hex.EncodeToString(made[:])
}

func (c *Call) tokenText(voucher guid.ID) []byte { return []byte(c.Scope("token " + voucher.String())) }

// TokenOf reports whether a text is the Token of a gift, also if it was made with an earlier key.
func (c *Call) TokenOf(text string, voucher guid.ID) bool {
	var shown [32]byte
	if len(text) != hex.EncodedLen(len(shown)) {
		return false
	}
	if _, err := hex.Decode(shown[:], []byte(text)); err != nil {
		return false
	}
	made := c.Fingerprint(c.tokenText(voucher))
	if subtle.ConstantTimeCompare(shown[:], made[:]) == 1 {
		return true
	}
	earlier, err := c.Fingerprinted(shown, c.tokenText(voucher))
	return err == nil && earlier
}

// Scope is an idempotency key of the provider that calls.
func (c *Call) Scope(key string) string { return ledger.ProviderKey(c.Caller.KeyID, key) }

// Requests gives the records under one of the provider's keys of which the caller may be told.
func (c *Call) Requests(key string) (told []ledger.Request, err error) {
	all, err := c.Kept(key)
	for _, r := range all {
		if r.MayBeToldTo(c.Caller) {
			told = append(told, r)
		}
	}
	return told, err
}

// Kept gives all records under one of the provider's keys, at whichever of its locations they were made.
func (c *Call) Kept(key string) ([]ledger.Request, error) {
	all, err := c.Lookup().Requests(c.Context(), c.Account.ID, "", c.Scope(key))
	if errors.Is(err, refusal.NotFound) {
		return nil, nil
	}
	return all, service.Stored(err)
}

// Newest gives the newest of what happened to a gift of the account, so many entries at most, the oldest of them first.
func (c *Call) Newest(g *gift.Gift, most int) ([]gift.Entry, error) {
	entries, err := c.Lookup().History(c.Context(), c.Account.ID, g.ID, max(0, g.Seq-most), most)
	return entries, service.Stored(err)
}

// Parts gives an entry of a gift of the account and what became of it, however long the gift's history is; none where
// it has no such entry.
func (c *Call) Parts(voucher, entry guid.ID) ([]gift.Entry, error) {
	parts, err := c.Lookup().Parts(c.Context(), c.Account.ID, entry)
	if len(parts) > 0 && (parts[0].ID != entry || parts[0].VoucherID != voucher) {
		parts = nil
	}
	return parts, service.Stored(err)
}

// Order is something to be done under a key.
type Order struct {
	Operation    operation.Name
	Key          string // the provider's; "": none
	Asked        any    // what was asked for: a struct of nothing else, whose fields can be written as JSON
	Verification string // that a card was shown with; "": none
	Command      ledger.Command
	// Render makes the answer, which is kept under the key; it is pure and may run more than once.
	Render func(ledger.Result, error) ledger.Answer
}

// Do has the engine do something. What the key may not do, and what cannot be told now, is an error; every other
// refusal is an answer.
func (c *Call) Do(o Order) (ledger.Answer, error) {
	if o.Key != "" {
		c.Key = c.Scope(o.Key)
	}
	r := c.Request(o.Operation, o.Asked)
	r.Seen = c.seen
	answer, err := r.Verified(o.Verification, c.Location, func() (ledger.Answer, error) {
		return r.Run(o.Command, o.Render)
	})
	if o.Verification != "" && errors.Is(err, refusal.RateLimited) { // what is known under the key is told all the same
		return r.Run(&ledger.Rejected{Err: err}, o.Render)
	}
	return answer, err
}
