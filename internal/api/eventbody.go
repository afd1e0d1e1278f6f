package api

import "boon.example/internal/gift"

// EventBody is an event as webhooks are told of it: what the list of events says, without codes, tokens and contacts.
// Of an account that this instance does not know yet it is nil.
func (a *API) EventBody(e *gift.Event) []byte {
	d := a.Directory()
	account := d.Accounts[e.AccountID]
	if account == nil {
		return nil
	}
	w := newWriter(2048)
	w.Open()
	w.event(e, view{account: account, now: a.Now().UTC(), law: a.CashOutLaw, pages: a.PublicURL, masked: true},
		names{account, d.KeyName})
	w.Close()
	return w.Bytes()
}
