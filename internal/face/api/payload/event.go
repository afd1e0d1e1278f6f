package payload

import (
	"boon.example/internal/event"
	"boon.example/internal/wire"
)

// WriteEvent writes the members of one event. Secrets and addresses are not among them, whatever the key may see
// elsewhere.
func WriteEvent(w *wire.Writer, e *event.Event, s View, names Names) {
	w.ID("id", e.ID)
	w.Text("type", string(e.Type))
	w.ID("accountID", e.AccountID)
	w.Instant("occurredAt", e.At)
	w.Text("mode", s.Account.Mode())
	if e.Entry == nil {
		w.Null("sequence")
	} else {
		w.Integer("sequence", e.Entry.Seq)
	}
	w.Object("data")
	if e.Gift == nil {
		w.Null("gift")
	} else {
		s.Masked = true
		w.Object("gift")
		WriteVoucher(w, e.Gift, s)
		w.Close()
	}
	if e.Entry == nil {
		w.Null("entry")
	} else {
		w.Object("entry")
		WriteEntry(w, e.Gift.Unit(), e.Entry, names)
		w.Close()
	}
	if e.Note.KeyID.IsZero() {
		w.Null("key")
	} else {
		w.Object("key")
		w.ID("keyID", e.Note.KeyID)
		w.TextOrNull("keyName", names.Key(e.Note.KeyID))
		w.Close()
	}
	if e.Note.WebhookID.IsZero() {
		w.Null("webhook")
	} else {
		w.Object("webhook")
		w.ID("webhookID", e.Note.WebhookID)
		w.TextOrNull("host", e.Note.Host)
		w.Close()
	}
	if e.Note.ImportID.IsZero() {
		w.Null("import")
	} else {
		w.Object("import")
		w.ID("importID", e.Note.ImportID)
		w.Close()
	}
	w.Close()
}
