package api

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/face/api/gifts"
	"boon.example/internal/face/api/payload"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// showGift shows one gift of the account.
func showGift(c *call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	g, err := c.gift(q)
	if err != nil {
		return ledger.Answer{}, err
	}
	c.showsCodes(1)
	return c.Answer(ledger.OK, func(w *wire.Writer) { payload.WriteVoucher(w, &g, gifts.LookUp(&c.Call)) }), nil
}

// finish ends the reading of a look-up and finds the account that it is about.
func (c *call) finish(q *wire.Query) (err error) {
	account, err := c.Directory().AccountOf(c.Caller, q.GUID("accountID"), refusal.FieldAccount)
	if err == nil {
		c.ActFor(account)
	}
	if !q.Has("accountID") {
		q.Refuse(err)
	}
	return q.Err()
}

// gift finds the gift that the path names. One that the key may not see is as good as not there.
func (c *call) gift(q *wire.Query) (gift.Gift, error) {
	id := q.ParseID("voucherID", c.HTTP.PathValue("voucherID"))
	if err := c.finish(q); err != nil {
		return gift.Gift{}, err
	}
	g, err := c.Records.Gift(c.Context(), c.Account.ID, id)
	if err == nil && g.UsableBy(c.Caller) {
		return g, nil
	}
	if err == nil || errors.Is(err, refusal.NotFound) {
		return gift.Gift{}, gift.NoSuchGift()
	}
	return gift.Gift{}, service.Stored(err)
}

// listGifts lists gifts of the account, the newest first.
func listGifts(c *call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	filter := gift.Filter{
		Locations:    c.Caller.Locations,
		ProgramID:    q.GUID("programID"),
		PromotionID:  q.GUID("promotionID"),
		LocationID:   q.GUID("organizationID"),
		OrderID:      q.GUID("orderID"),
		StorefrontID: q.GUID("externalStorefrontID"),
		LastFour:     readLastFour(q),
		CreatedFrom:  q.Instant("createdFrom"),
		CreatedTo:    q.Instant("createdTo"),
		Reference:    q.Line("externalTransactionReferenceNumber", 200),
		CustomerID:   q.Line("customerID", gift.MaxCustomerID),
		Limit:        q.Limit(),
	}
	filter.Contacts, filter.Words = service.ReadRecipient(q.Line("recipient", 254), c.Account)
	if name := q.Text("status"); name != "" {
		var ok bool
		if filter.Status, ok = gift.ParseStatus(name); !ok {
			q.Add("status", "There is no such status. The statuses are %s.", namesOf(gift.Statuses()))
		}
	}
	copy(filter.Before[:], q.Cursor("gifts", len(filter.Before)))
	if err := c.finish(q); err != nil {
		return ledger.Answer{}, err
	}
	filter.AccountID, filter.MadeBy = c.Account.ID, c.Caller.Integrator()
	page, err := c.Records.List(c.Context(), filter)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	c.showsCodes(len(page.Gifts))
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.List("gifts")
		for n := range page.Gifts {
			w.Open()
			payload.WriteVoucher(w, &page.Gifts[n], gifts.LookUp(&c.Call))
			w.Close()
		}
		w.EndList()
		w.NextCursor("gifts", page.Next)
	}), nil
}

// readLastFour reads the end of a code.
func readLastFour(q *wire.Query) string {
	const name = "lastFour"
	four := q.Text(name)
	if four != "" && !codes.IsLastFour(four) {
		q.Add(name, "This must be the last four digits of a voucher code, as lastFour of the gift says them.")
	}
	return four
}

// listActivity lists the changes of all gifts of the account, the newest first.
func listActivity(c *call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	filter := gift.ChangeFilter{
		AccountID: c.Account.ID, Locations: c.Caller.Locations, KeyID: q.GUID("keyID"), LocationID: q.GUID("organizationID"),
		Kind: gift.Kind(q.Text("kind")), From: q.Instant("from"), To: q.Instant("to"), Limit: q.Limit(),
	}
	if filter.Kind != "" && !slices.Contains(gift.Kinds(), filter.Kind) {
		q.Add("kind", "There is no such kind of change. The kinds are %s.", namesOf(gift.Kinds()))
	}
	copy(filter.Before[:], q.Cursor("activity", len(filter.Before)))
	if err := q.Err(); err != nil {
		return ledger.Answer{}, err
	}
	page, err := c.Records.Activity(c.Context(), filter)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	names := payload.NamesFor(c.Caller, c.Account, c.Directory())
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.List("entries")
		for n := range page.Changes {
			change := &page.Changes[n]
			w.Open()
			w.ID("voucherID", change.VoucherID)
			payload.WriteEntry(w, change.Unit, &change.Entry, names)
			w.TextOrNull("currency", change.Unit.Code)
			w.ID("programID", change.ProgramID)
			w.Boolean("isPromoType", change.Promotional)
			w.Close()
		}
		w.EndList()
		w.NextCursor("activity", page.Next)
	}), nil
}

// showHistory lists the changes of a gift, the oldest first.
func showHistory(c *call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	limit, after := q.Limit(), 0
	if at := q.Cursor("history", 8); at != nil {
		after = int(binary.BigEndian.Uint64(at))
	}
	if after < 0 {
		q.Add("cursor", "This is not a cursor that this list gave out as nextCursor.")
	}
	g, err := c.gift(q)
	if err != nil {
		return ledger.Answer{}, err
	}
	entries, err := c.Records.History(c.Context(), c.Account.ID, g.ID, after, limit+1)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	var last []byte
	if len(entries) > limit {
		entries = entries[:limit]
		last = binary.BigEndian.AppendUint64(nil, uint64(entries[limit-1].Seq))
	}
	names := payload.NamesFor(c.Caller, c.Account, c.Directory())
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.List("entries")
		for n := range entries {
			w.Open()
			payload.WriteEntry(w, g.Unit(), &entries[n], names)
			w.Close()
		}
		w.EndList()
		w.NextCursorAt("history", last)
	}), nil
}

// askable lists the operations of which the caller may be told what became, because it may do them itself. only is
// the one that it asks for; "": all.
func (c *call) askable(q *wire.Query, only operation.Name) (operations []operation.Name, err error) {
	var all []operation.Name
	known := false
	for _, r := range Routes() {
		if r.operation == "" || !c.Caller.MayCall(r.anyKey) {
			continue
		}
		all = append(all, r.operation)
		if only != "" && r.operation != only {
			continue
		}
		known = true
		if err = c.Caller.Permit(r.needs, r.anyKey); err == nil {
			operations = append(operations, r.operation)
		}
	}
	if !known {
		q.Add("operation", "The operation must be %s.", phrase.OneOf(all))
	}
	if only == "" {
		err = nil
	}
	return operations, err
}

// showRequests tells what became of the calls that were made with an Idempotency-Key.
func showRequests(c *call) (ledger.Answer, error) {
	q, key := wire.ReadQuery(c.HTTP.URL.RawQuery), c.HTTP.PathValue("key")
	if !service.IsKey(key) {
		q.Add("key", "An Idempotency-Key has 1 to %d printable ASCII characters and no space at either end.", service.MaxKey)
	}
	only := operation.Name(q.Text("operation"))
	operations, refused := c.askable(q, only)
	if err := c.finish(q); err != nil {
		return ledger.Answer{}, err
	}
	if refused != nil {
		return ledger.Answer{}, refused
	}
	scope := ledger.Call{Key: key, Caller: c.Caller}.Scope()
	running := c.running(operations, scope)
	records, err := c.Records.Requests(c.Context(), c.Account.ID, only, scope)
	if err != nil && !errors.Is(err, refusal.NotFound) {
		return ledger.Answer{}, service.Stored(err)
	}
	var told []ledger.Request
	codes := 0
	for _, r := range records {
		if !slices.Contains(operations, r.Operation) || !r.MayBeToldTo(c.Caller) {
			continue
		}
		if !r.Spent {
			if r.Answer, err = c.whole(r.Operation, r.Answer); err != nil {
				return ledger.Answer{}, err
			}
			codes += payload.CodesIn(r.Answer.Body)
		}
		delete(running, r.Operation)
		told = append(told, r)
	}
	if len(told)+len(running) == 0 {
		return ledger.Answer{}, service.RefuseAt(refusal.NotFound, "key",
			"No request with this Idempotency-Key has arrived of which this key may be told.")
	}
	c.tellsCodes(codes)
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.List("requests")
		for n := range told {
			writeRecord(w, key, &told[n])
		}
		for _, op := range operations {
			if running[op] {
				writeUnanswered(w, key, op, "running")
			}
		}
		w.EndList()
	}), nil
}

// running tells for which operations a call with the key is under way. It is asked before the records: a call that
// ends in between is then found in one or both of them, never in neither.
func (c *call) running(operations []operation.Name, key string) map[operation.Name]bool {
	running := map[operation.Name]bool{}
	for _, op := range operations {
		if c.Running(op, key) {
			running[op] = true
		}
	}
	return running
}

// writeRecord writes a call that has ended.
func writeRecord(w *wire.Writer, key string, r *ledger.Request) {
	if r.Spent {
		writeUnanswered(w, key, r.Operation, "spent")
		return
	}
	w.Open()
	w.Text("key", key)
	w.Text("operation", string(r.Operation))
	w.Text("state", "finished")
	w.Integer("status", service.Status(r.Answer.Code))
	w.Raw("answer", r.Answer.Body)
	w.Instant("finishedAt", r.At)
	w.Close()
}

// writeUnanswered writes a call that has no answer.
func writeUnanswered(w *wire.Writer, key string, op operation.Name, state string) {
	w.Open()
	w.Text("key", key)
	w.Text("operation", string(op))
	w.Text("state", state)
	w.Null("status")
	w.Null("answer")
	w.Null("finishedAt")
	w.Close()
}

// namesOf lists what there is, with commas between the names.
func namesOf[T any](all []T) string {
	names := make([]string, len(all))
	for n := range all {
		names[n] = fmt.Sprint(all[n])
	}
	return strings.Join(names, ", ")
}
