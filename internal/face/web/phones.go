package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/base/ratelimit"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/pass"
	"boon.example/internal/refusal"
)

// Phones keeps which phones have passes in their wallets.
type Phones interface {
	// EventsEnd is the place after the newest event of an account.
	EventsEnd(ctx context.Context, account guid.ID) (merchant.EventPlace, error)
	// RegisterPass has a device be told of changes of a pass, which changed at Changed at the latest, and tells whether
	// that is new.
	RegisterPass(ctx context.Context, d event.PassDevice, now time.Time) (fresh bool, err error)
	// UnregisterPass ends that for the pass of a card. Where it is not told of that one, nothing changes.
	UnregisterPass(ctx context.Context, d *event.PassDevice) error
	// PassesOf gives the passes of an account that a device is told of.
	PassesOf(ctx context.Context, account guid.ID, device [32]byte) ([]event.PassDevice, error)
	// PassChanged is the position of the newest event that changed the pass of a card; 0: none is known.
	PassChanged(ctx context.Context, account, voucher guid.ID, card event.PassCard) (int64, error)
	// GooglePass is the card of which Google has an object of a gift; zero: it has none.
	GooglePass(ctx context.Context, account, voucher guid.ID) (event.PassCard, error)
	// Gift finds a gift of an account; refusal.NotFound when there is none.
	Gift(ctx context.Context, account, voucher guid.ID) (gift.Gift, error)
}

// Proofs proves that a text was written into a pass by the service.
type Proofs interface {
	PassProof(text string) []byte
	PassProven(proof []byte, text string) (bool, error)
}

// applePath begins the addresses that phones with Apple Wallet ask: Apple says how they go on.
const applePath = "/wallet/apple"

// phones adds what phones with Apple Wallet ask: that they are told of changes of a pass, which passes changed, and the
// pass as it is now.
//
// # Who may ask what
//
//   - Whoever shows the proof that is in a pass may read that pass, and have a device be told of it. While the gift has
//     the card that the pass is of, that is as much as the pass itself says. Once the gift has another card, the pass
//     says that it was replaced, and no device begins to be told of it.
//   - Whoever knows the id that a device gave itself may read which gifts it has passes of, by ids that open nothing.
//
// What is wrong is answered in one way, counts as a miss of the network, and leads to no look-up of a gift.
func (s *site) phones(mux *http.ServeMux) {
	if !s.updatesPasses() {
		return
	}
	const registrations = applePath + "/v1/devices/{device}/registrations/{type}"
	handle := func(pattern string, h http.Handler) { mux.Handle(pattern, bodied(h)) }
	handle("POST "+registrations+"/{serial}", s.Admit(s.phone(s.register)))
	handle("DELETE "+registrations+"/{serial}", s.Admit(s.phone(s.unregister)))
	handle("GET "+registrations, s.Admit(s.phone(s.changedPasses)))
	handle("GET "+applePath+"/v1/passes/{type}/{serial}", s.phone(s.currentPass)) // it waits for a printer instead
	// What phones complain of names gifts, and may be anybody's words: nothing keeps it.
	handle("POST "+applePath+"/v1/log", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
	}))
	mux.HandleFunc(applePath+"/", func(w http.ResponseWriter, _ *http.Request) { tell(w, http.StatusNotFound) })
}

// updatesPasses reports whether passes change in the wallet: phones ask by HTTPS only.
func (s *site) updatesPasses() bool {
	return s.Phones != nil && strings.HasPrefix(s.PublicURL, "https://")
}

// maxSent is how many bytes of a body are read: a phone, or the form of a guest, sends a hundred.
const maxSent = 4 << 10

// bodied reads the body of a request before the request waits for its turn: how long that takes is up to the sender.
func bodied(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSent))
		if err != nil {
			tell(w, http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// tell answers a phone, or whoever seems to be one, with a status and no more words than that has.
func tell(w http.ResponseWriter, status int) {
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "ApplePass")
	}
	send(w, "text/plain; charset=utf-8", status, []byte(http.StatusText(status)+"\n"))
}

// errNoPass tells that a request does not prove that it may ask for what it asks for.
var errNoPass = errors.New("a request does not prove that it has a pass")

// phone answers with what h fails with.
func (s *site) phone(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if errors.Is(err, errNoPass) {
			if err = s.miss(r); errors.Is(err, refusal.NotFound) {
				tell(w, http.StatusUnauthorized)
				return
			}
		}
		many, ok := errors.AsType[*tooMany](err)
		switch {
		case err == nil:
		case ok:
			w.Header().Set("Retry-After", many.seconds())
			tell(w, http.StatusTooManyRequests)
		case errors.Is(err, errBusy), s.Away(err):
			w.Header().Set("Retry-After", "1")
			tell(w, http.StatusServiceUnavailable)
		default:
			if r.Context().Err() == nil { // else the phone has gone
				s.Log.Error("a phone could not be answered", "route", r.Pattern, "error", err)
			}
			tell(w, http.StatusInternalServerError)
		}
	})
}

// held is a pass that a request proves to have.
type held struct {
	account *merchant.Account
	voucher guid.ID
	proof   string
	card    event.PassCard // of which it is
}

func proven(account, voucher guid.ID, c event.PassCard) string {
	return string(account[:]) + string(voucher[:]) + string(c[:])
}

// passProof is what stands in the pass of a gift for the phone to show: which card it is of, and that the service wrote
// so.
func (s *site) passProof(g *gift.Gift) string {
	c := pass.CardOf(g)
	return base64.RawURLEncoding.EncodeToString(append(c[:], s.Proofs.PassProof(proven(g.AccountID, g.ID, c))...))
}

// cardIn is the card that a proof is for.
func cardIn(proof string) (c event.PassCard) {
	b, _ := base64.RawURLEncoding.DecodeString(proof)
	copy(c[:], b)
	return c
}

// accountsOf are the accounts whose passes are of a type: several, where a merchant tests with the same certificate.
func (s *site) accountsOf(passType string) (all []*merchant.Account) {
	for _, a := range s.Directory().Accounts {
		if a.Wallet.Apple.PassType == passType && a.Wallet.Apple.Certificate != "" {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *merchant.Account) int { return slices.Compare(a.ID[:], b.ID[:]) })
	return all
}

// heldPass is the pass that a request is about, if it proves to have it; errNoPass otherwise.
func (s *site) heldPass(r *http.Request) (h held, err error) {
	if h.voucher, err = guid.Parse(r.PathValue("serial")); err != nil {
		return h, errNoPass
	}
	scheme, proof, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	raw, wrong := base64.RawURLEncoding.DecodeString(proof)
	if h.proof, h.card = proof, cardIn(proof); scheme != "ApplePass" || wrong != nil || len(raw) < len(h.card) {
		return h, errNoPass
	}
	for _, a := range s.accountsOf(r.PathValue("type")) {
		is, err := s.Proofs.PassProven(raw[len(h.card):], proven(a.ID, h.voucher, h.card))
		if is {
			h.account = a
			return h, nil
		}
		if err != nil {
			return h, errNoPass // it may be of a key that there never was
		}
	}
	return h, errNoPass
}

// writeRate is how often phones may register and unregister for one gift: each waits for the writer of the store.
var writeRate = ratelimit.Rate{Burst: 20, Refill: 10 * time.Second}

// writing counts a request that writes.
func (s *site) writing(h *held) error {
	if wait := s.writes.take(writeRate, h.voucher.String(), time.Now()); wait > 0 {
		return &tooMany{wait: wait}
	}
	return nil
}

// deviceOf is a digest of the id that a device gave itself: whatever it sent, it is as long as any other.
func deviceOf(r *http.Request) [32]byte { return sha256.Sum256([]byte(r.PathValue("device"))) }

// maxPush is how many digits a push token has at most; Apple's have 64.
const maxPush = 200

// pushToken reads the push token of a body: hexadecimal digits, and so nothing else in an address; "": it has none.
func pushToken(r *http.Request) string {
	var body struct {
		PushToken string `json:"pushToken"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.PushToken) > maxPush ||
		strings.Trim(body.PushToken, "0123456789abcdefABCDEF") != "" {
		return ""
	}
	return body.PushToken
}

// register has a device be told of changes of a pass.
func (s *site) register(w http.ResponseWriter, r *http.Request) error {
	h, err := s.heldPass(r)
	if err != nil {
		return err
	}
	d := event.PassDevice{AccountID: h.account.ID, VoucherID: h.voucher, Device: deviceOf(r), Card: h.card,
		Push: pushToken(r)}
	if d.Push == "" {
		tell(w, http.StatusBadRequest)
		return nil
	}
	if err := s.present(r.Context(), &h); err != nil {
		return err
	}
	if err := s.writing(&h); err != nil {
		return err
	}
	// The gift may have been used since the phone got the pass. So the pass counts as changed by all that happened until
	// now: the phone gets it when it asks, though it has a tag from its other passes.
	end, err := s.Phones.EventsEnd(r.Context(), d.AccountID)
	if err != nil {
		return err
	}
	d.Changed = end.Position
	fresh, err := s.Phones.RegisterPass(r.Context(), d, time.Now())
	if err != nil {
		return err
	}
	// It may have been replaced meanwhile, and whoever tells phones may be past that.
	if err := s.present(r.Context(), &h); err != nil {
		return cmp.Or(s.Phones.UnregisterPass(r.Context(), &d), err)
	}
	if s.Registered != nil {
		s.Registered(d)
	}
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	w.WriteHeader(status)
	return nil
}

// present refuses a pass that is not of the card that the gift has.
func (s *site) present(ctx context.Context, h *held) error {
	g, err := s.Phones.Gift(ctx, h.account.ID, h.voucher)
	if errors.Is(err, refusal.NotFound) || err == nil && pass.CardOf(&g) != h.card {
		return errNoPass
	}
	return err
}

// unregister ends that. The pass of a card that was replaced can be thrown away, too: that ends nothing of the pass of
// the next card, which the device may have by now.
func (s *site) unregister(w http.ResponseWriter, r *http.Request) error {
	h, err := s.heldPass(r)
	if err != nil {
		return err
	}
	if err := s.writing(&h); err != nil {
		return err
	}
	d := event.PassDevice{AccountID: h.account.ID, VoucherID: h.voucher, Device: deviceOf(r), Card: h.card}
	if err := s.Phones.UnregisterPass(r.Context(), &d); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// changedPasses tells a device which of its passes changed after a tag that it was given before. A tag is the position
// of an event. One that is beyond all that is known is of a later state of the database: then all passes are told.
func (s *site) changedPasses(w http.ResponseWriter, r *http.Request) error {
	var all []event.PassDevice
	for _, a := range s.accountsOf(r.PathValue("type")) {
		of, err := s.Phones.PassesOf(r.Context(), a.ID, deviceOf(r))
		if err != nil {
			return err
		}
		all = append(all, of...)
	}
	if len(all) == 0 {
		if err := s.miss(r); !errors.Is(err, refusal.NotFound) {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	var answer struct {
		Serials []string `json:"serialNumbers"`
		Tag     string   `json:"lastUpdated"`
	}
	newest := slices.MaxFunc(all, func(a, b event.PassDevice) int { return cmp.Compare(a.Changed, b.Changed) }).Changed
	tag, err := strconv.ParseInt(r.URL.Query().Get("passesUpdatedSince"), 10, 64)
	if err != nil || tag > newest {
		tag = -1
	}
	for i := range all {
		if all[i].Changed > tag {
			answer.Serials = append(answer.Serials, all[i].VoucherID.String())
		}
	}
	if len(answer.Serials) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	answer.Tag = strconv.FormatInt(newest, 10)
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	send(w, "application/json", http.StatusOK, body)
	return nil
}

// currentPass gives a pass as it is now, unless the phone has that. Phones ask by an instant; what they are given for
// one is the position of the newest event that changed the pass, in seconds: no clock has a part in it. It is read
// before the gift, so that the pass is as new as it says, or newer.
func (s *site) currentPass(w http.ResponseWriter, r *http.Request) error {
	h, err := s.heldPass(r)
	if err != nil {
		return err
	}
	changed, err := s.Phones.PassChanged(r.Context(), h.account.ID, h.voucher, h.card)
	if err != nil {
		return err
	}
	g, err := s.Phones.Gift(r.Context(), h.account.ID, h.voucher)
	gone := errors.Is(err, refusal.NotFound)
	if gone { // its import was taken back: of such a card, the pass says what it says of one that was replaced
		g, err = gift.Gift{Voucher: gift.Voucher{ID: h.voucher, AccountID: h.account.ID, Currency: h.account.Currency}}, nil
	}
	if err != nil {
		return err
	}
	at := time.Unix(changed, 0).UTC().Format(http.TimeFormat)
	if changed > 0 && !gone && r.Header.Get("If-Modified-Since") == at {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	made, err := s.makePass(r, &g, h.account, h.proof)
	if err != nil {
		return err
	}
	if changed > 0 {
		w.Header().Set("Last-Modified", at)
	}
	send(w, pass.Kind, http.StatusOK, made)
	return nil
}
