package api

import (
	"context"
	"sync"

	"boon.example/internal/event"
	"boon.example/internal/face/api/payload"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/wire"
)

// EventBody is an event as webhooks are told of it: what the list of events says, without codes, tokens and contacts.
// Of an account that this instance does not know yet it is nil.
func (a *API) EventBody(ctx context.Context, e *event.Event) []byte {
	d := a.Directory()
	account := d.Accounts[e.AccountID]
	if account == nil {
		return nil
	}
	now := a.Now().UTC()
	if account.Test {
		if clock, err := a.Records.Clock(ctx, account.ID); err == nil { // else what a gift is now is told by the real one
			now = clock.Now(a.Now()).UTC()
		}
	}
	w := wire.NewWriter(2048)
	w.Open()
	payload.WriteEvent(&w, e,
		payload.View{Account: account, Now: now, Law: a.CashOutLaw(), Pages: a.PublicURL(), Masked: true},
		payload.Names{Account: account, Key: func(id guid.ID) string { return a.told.name(d, id) }})
	w.Close()
	return w.Bytes()
}

// keyNames are the names of keys that events told of, as looking one up goes through those of all accounts.
type keyNames struct {
	mu    sync.Mutex
	of    *merchant.Directory
	known map[guid.ID]string
}

func (n *keyNames) name(d *merchant.Directory, id guid.ID) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of != d {
		n.of, n.known = d, map[guid.ID]string{}
	}
	name, ok := n.known[id]
	if !ok {
		name = d.KeyName(id)
		n.known[id] = name
	}
	return name
}
