package server

import (
	"context"

	"boon.example/internal/delivery"
	"boon.example/internal/gift"
	"boon.example/internal/mail"
	"boon.example/internal/message"
	"boon.example/internal/store"
)

// outbox is what the pages show instead of the world's mailboxes: the store's, with the mails as they would have left.
type outbox struct {
	*store.Store
	gateways *delivery.Gateways
	sender   string
}

func newOutbox(s *store.Store, g *delivery.Gateways) outbox {
	var server mail.Server
	server.SetSender(g.PublicURL)
	return outbox{s, g, server.From}
}

// Message implements web.Outbox.
func (o outbox) Message(ctx context.Context, id gift.ID) (message.Message, error) {
	m, err := o.Store.Message(ctx, id)
	if err == nil {
		err = o.gateways.Complete(ctx, &m)
	}
	return m, err
}

// Source implements web.Outbox.
func (o outbox) Source(m *message.Message) ([]byte, error) { return mail.Source(m, o.sender) }
