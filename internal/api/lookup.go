package api

import (
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"strings"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// showGift shows one gift of the account.
func showGift(c *call) (ledger.Answer, error) {
	q := c.query()
	g, err := c.gift(q)
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.answer(http.StatusOK, func(w *writer) { w.voucher(&g, c.lookUp()) }), nil
}

// finish ends the reading of a look-up and finds the account that it is about.
func (c *call) finish(q *query) (err error) {
	account, err := c.Directory().AccountOf(c.caller, q.guid("accountID"), "accountID")
	if err == nil {
		c.account = account
	}
	if !q.Has("accountID") {
		q.Refuse(err)
	}
	return q.Err()
}

// integrator is the name of the system key that calls, whose gifts alone it may see; "" for the key of an account.
func (c *call) integrator() string {
	if c.caller.Kind == gift.SystemKey {
		return c.caller.Name
	}
	return ""
}

// gift finds the gift that the path names. One that the key may not see is as good as not there.
func (c *call) gift(q *query) (gift.Gift, error) {
	id := q.parseID("voucherID", c.r.PathValue("voucherID"))
	if err := c.finish(q); err != nil {
		return gift.Gift{}, err
	}
	g, err := c.Records.Gift(c.ctx, c.account.ID, id)
	if err == nil && c.caller.MayUse(&g.Voucher) {
		return g, nil
	}
	if err == nil || errors.Is(err, gift.NotFound) {
		return gift.Gift{}, gift.NoSuchGift()
	}
	return gift.Gift{}, stored(err)
}

// listGifts lists gifts of the account, the newest first.
func listGifts(c *call) (ledger.Answer, error) {
	q := c.query()
	filter := gift.Filter{
		Locations:    c.caller.Locations,
		ProgramID:    q.guid("programID"),
		PromotionID:  q.guid("promotionID"),
		LocationID:   q.guid("organizationID"),
		OrderID:      q.guid(byOrder),
		StorefrontID: q.guid(byStorefront),
		LastFour:     q.lastFour(),
		CreatedFrom:  q.instant("createdFrom"),
		CreatedTo:    q.instant("createdTo"),
		Reference:    q.line(byReference, 200),
		Limit:        q.limit(),
	}
	filter.Contact, filter.Words = q.recipient()
	if name := q.text("status"); name != "" {
		var ok bool
		if filter.Status, ok = gift.ParseStatus(name); !ok {
			q.Add("status", "There is no such status; PENDING is one.")
		}
	}
	copy(filter.Before[:], q.cursor("gifts", len(filter.Before)))
	if err := c.finish(q); err != nil {
		return ledger.Answer{}, err
	}
	filter.AccountID, filter.MadeBy = c.account.ID, c.integrator()
	page, err := c.Records.List(c.ctx, filter)
	if err != nil {
		return ledger.Answer{}, stored(err)
	}
	return c.answer(http.StatusOK, func(w *writer) {
		w.list("gifts")
		for n := range page.Gifts {
			w.open()
			w.voucher(&page.Gifts[n], c.lookUp())
			w.close()
		}
		w.endList()
		w.nextCursor("gifts", page.Next)
	}), nil
}

// lastFour reads the end of a code.
func (q *query) lastFour() string {
	const name = "lastFour"
	four := q.text(name)
	if four != "" && (len(four) != 4 || strings.Trim(four, "0123456789") != "") {
		q.Add(name, "This must be the last four digits of a voucher code.")
	}
	return four
}

// recipient reads whom gifts are for.
func (q *query) recipient() (contact string, words []string) {
	text := strings.TrimSpace(q.line("recipient", 254))
	if contact, words = gift.ParseSearch(text); words == nil && contact == "" {
		contact = text // of which nobody has the like, or blank, which is as good as absent
	}
	return contact, words
}

// listActivity lists the changes of all gifts of the account, the newest first.
func listActivity(c *call) (ledger.Answer, error) {
	q := c.query()
	filter := gift.ChangeFilter{
		AccountID: c.account.ID, Locations: c.caller.Locations, KeyID: q.guid("keyID"), LocationID: q.guid("organizationID"),
		Kind: gift.Kind(q.text("kind")), From: q.instant("from"), To: q.instant("to"), Limit: q.limit(),
	}
	if filter.Kind != "" && !slices.Contains(gift.Kinds(), filter.Kind) {
		q.Add("kind", "There is no such kind of change; REDEMPTION is one.")
	}
	copy(filter.Before[:], q.cursor("activity", len(filter.Before)))
	if err := q.Err(); err != nil {
		return ledger.Answer{}, err
	}
	page, err := c.Records.Activity(c.ctx, filter)
	if err != nil {
		return ledger.Answer{}, stored(err)
	}
	names := c.names()
	return c.answer(http.StatusOK, func(w *writer) {
		w.list("entries")
		for n := range page.Changes {
			change := &page.Changes[n]
			w.open()
			w.id("voucherID", change.VoucherID)
			w.entry(change.Unit, &change.Entry, names)
			w.textOrNull("currency", change.Unit.Code)
			w.close()
		}
		w.endList()
		w.nextCursor("activity", page.Next)
	}), nil
}

// names gives the names of the locations and keys that entries tell of.
type names struct {
	*gift.Account
	key func(gift.ID) string
}

// names remembers each key's, as looking one up goes through all of them.
func (c *call) names() names {
	directory, known := c.Directory(), map[gift.ID]string{}
	return names{c.account, func(id gift.ID) string {
		if _, ok := known[id]; !ok && !id.IsZero() {
			known[id] = directory.KeyName(id)
		}
		return known[id]
	}}
}

func (n names) location(id gift.ID) string {
	if l := n.Location(id); l != nil {
		return l.Name
	}
	return ""
}

// showHistory lists the changes of a gift, the oldest first.
func showHistory(c *call) (ledger.Answer, error) {
	q := c.query()
	limit, after := q.limit(), 0
	if at := q.cursor("history", 8); at != nil {
		after = int(binary.BigEndian.Uint64(at))
	}
	if after < 0 {
		q.Add("cursor", "This is not a cursor that this list gave out as nextCursor.")
	}
	g, err := c.gift(q)
	if err != nil {
		return ledger.Answer{}, err
	}
	entries, err := c.Records.History(c.ctx, c.account.ID, g.ID, after, limit+1)
	if err != nil {
		return ledger.Answer{}, stored(err)
	}
	var last []byte
	if len(entries) > limit {
		entries = entries[:limit]
		last = binary.BigEndian.AppendUint64(nil, uint64(entries[limit-1].Seq))
	}
	names := c.names()
	return c.answer(http.StatusOK, func(w *writer) {
		w.list("entries")
		for n := range entries {
			w.open()
			w.entry(g.Unit(), &entries[n], names)
			w.close()
		}
		w.endList()
		w.nextCursorAt("history", last)
	}), nil
}

// entry writes the members of one change. The amounts up to any entry add up to its balance: the first one brings the whole value.
func (w *writer) entry(unit gift.Currency, e *gift.Entry, names names) {
	amount, redemption, reversal := e.Delta, gift.ID{}, gift.ID{}
	switch e.Kind {
	case gift.Issued:
		amount = e.Balance
	case gift.Redemption:
		redemption = e.ID
	case gift.Reversal:
		redemption, reversal = e.Reverses, e.ID
	}
	w.id("entryID", e.ID)
	w.integer("seq", e.Seq)
	w.text("kind", string(e.Kind))
	w.amount("amount", unit, amount)
	w.amount("currentBalance", unit, e.Balance)
	w.text("status", e.Status.String())
	w.integer("statusID", int(e.Status))
	w.instant("at", e.At)
	w.idOrNull("keyID", e.Actor.KeyID)
	w.textOrNull("keyName", names.key(e.Actor.KeyID))
	w.null("user") // people sign in with keys of their own so far
	w.idOrNull("organizationID", e.Actor.LocationID)
	w.textOrNull("organizationName", names.location(e.Actor.LocationID))
	w.idOrNull("redemptionID", redemption)
	w.idOrNull("reversalID", reversal)
	w.textOrNull("reference", e.Reference)
	w.textOrNull("reason", e.Reason)
	w.textOrNull("requestID", e.RequestID)
}

// askable lists the operations of which the caller may be told what became, because it may do them itself. only is the one
// that it asks for; "": all.
func (c *call) askable(q *query, only ledger.Operation) (operations []ledger.Operation, err error) {
	var names []string
	known := false
	for _, r := range Routes() {
		if r.operation == "" || c.caller.Kind == gift.SystemKey && !r.anyKey {
			continue
		}
		names = append(names, string(r.operation))
		if only != "" && r.operation != only {
			continue
		}
		known = true
		if err = c.caller.Permit(r.needs); err == nil {
			operations = append(operations, r.operation)
		}
	}
	if !known {
		last := len(names) - 1
		q.Add("operation", "The operation must be %s or %s.", strings.Join(names[:last], ", "), names[last])
	}
	if only == "" {
		err = nil
	}
	return operations, err
}

// showRequests tells what became of the calls that were made with an Idempotency-Key.
func showRequests(c *call) (ledger.Answer, error) {
	q, key := c.query(), c.r.PathValue("key")
	if !isKey(key) {
		q.Add("key", "An Idempotency-Key has 1 to %d printable ASCII characters and no space at either end.", maxKey)
	}
	only := ledger.Operation(q.text("operation"))
	operations, refused := c.askable(q, only)
	if err := c.finish(q); err != nil {
		return ledger.Answer{}, err
	}
	if refused != nil {
		return ledger.Answer{}, refused
	}
	scope := ledger.Call{Key: key, Caller: c.caller}.Scope()
	running := c.running(operations, scope)
	records, err := c.Records.Requests(c.ctx, c.account.ID, only, scope)
	if err != nil && !errors.Is(err, gift.NotFound) {
		return ledger.Answer{}, stored(err)
	}
	w := writer{}
	for n := range records {
		r := &records[n]
		if !slices.Contains(operations, r.Operation) || !r.MayBeToldTo(c.caller) {
			continue
		}
		if r.Answer, err = c.whole(r.Operation, r.Answer); err != nil {
			return ledger.Answer{}, err
		}
		delete(running, r.Operation)
		r.Key = key
		w.record(r)
	}
	for _, op := range operations {
		if running[op] {
			w.runningCall(op, key)
		}
	}
	if len(w.b) == 0 {
		return ledger.Answer{}, gift.RefuseAt(gift.NotFound, "key", "No request with this Idempotency-Key has arrived of which this key may be told.")
	}
	return c.answer(http.StatusOK, func(all *writer) { all.raw("requests", append(append([]byte{'['}, w.b...), ']')) }), nil
}

// running tells for which operations a call with the key is under way. It is asked before the records: a call that ends in
// between is then found in one or both of them, never in neither.
func (c *call) running(operations []ledger.Operation, key string) map[ledger.Operation]bool {
	running := map[ledger.Operation]bool{}
	for _, op := range operations {
		running[op] = c.Engine.Running(ledger.RequestKey{AccountID: c.account.ID, Operation: op, Key: key})
	}
	return running
}

// record writes a call that has ended, as an element of a list.
func (w *writer) record(r *ledger.Request) {
	w.element()
	w.text("key", r.Key)
	w.text("operation", string(r.Operation))
	if r.Spent {
		w.text("state", "spent")
		w.null("status")
		w.null("answer")
		w.null("finishedAt")
	} else {
		w.text("state", "finished")
		w.integer("status", r.Answer.Status)
		w.raw("answer", r.Answer.Body)
		w.instant("finishedAt", r.At)
	}
	w.close()
}

func (w *writer) runningCall(op ledger.Operation, key string) {
	w.element()
	w.text("key", key)
	w.text("operation", string(op))
	w.text("state", "running")
	w.null("status")
	w.null("answer")
	w.null("finishedAt")
	w.close()
}

// element begins an object in a list that has no opening bracket yet.
func (w *writer) element() {
	if len(w.b) > 0 {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '{')
}
