package manage

import (
	"boon.example/internal/event"
	"boon.example/internal/face/api/payload"
	"boon.example/internal/ledger"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// ListTrail lists what people and keys did in the account, the newest first.
func ListTrail(c *Call) (ledger.Answer, error) {
	if err := c.Caller.MayAuditAll(); err != nil {
		return ledger.Answer{}, err
	}
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	filter := event.TrailFilter{AccountID: c.Account.ID, From: q.Instant("from"), To: q.Instant("to"),
		KeyID: q.GUID("keyID"), Person: q.Text("person"), Limit: q.Limit()}
	copy(filter.Before[:], q.Cursor("audit", len(filter.Before)))
	if err := q.Err(); err != nil {
		return ledger.Answer{}, err
	}
	page, err := c.Records.Trail(c.Context(), filter)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	names := payload.NamesOf(c.Account, c.Directory())
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.List("entries")
		for n := range page.Entries {
			e := &page.Entries[n]
			w.Open()
			w.ID("id", e.ID)
			w.Instant("at", e.At)
			w.Text("action", string(e.Action))
			w.IDOrNull("keyID", e.Actor.KeyID)
			w.TextOrNull("keyName", names.Key(e.Actor.KeyID))
			w.TextOrNull("person", e.Actor.Person)
			w.TextOrNull("user", e.User)
			w.TextOrNull("address", e.Actor.Address)
			w.IDOrNull("voucherID", e.VoucherID)
			w.TextOrNull("what", e.What)
			w.TextOrNull("requestID", e.RequestID)
			w.Close()
		}
		w.EndList()
		w.NextCursor("audit", page.Next)
	}), nil
}
