package remote

import (
	"time"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type Events struct {
	Tail eventsTailCmd `cmd:"" help:"Print what happens in the account, as it happens."`
}

type eventsTailCmd struct {
	Types []string `name:"type" placeholder:"TYPE,…" help:"Only events of these types, such as gift.redeemed or gift.*."`
	All   bool     `help:"Begin with the oldest event that is kept, not with the next one."`
	Stop  bool     `name:"no-follow" help:"End when all that there is was printed."`
	Service
}

func (eventsTailCmd) Help() string {
	return `Needs the permission events. With --json: one event a line. Ctrl-C ends it.

Examples:

    boon events tail --type gift.redeemed,gift.cashed_out
    boon events tail --all --no-follow --json`
}

func (c *eventsTailCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	f := client.EventsFilter{Types: c.Types, Wait: 25 * time.Second}
	if !c.All {
		f.After = client.EventsFromNow
	}
	if c.Stop {
		f.Wait = 0
	}
	_, err = upTo(api.Events(t, f), 0, func(e *client.Event) error {
		return c.Answer(t, e.Meta.Body, func() { terminal.Table(t.Stdout, nil, [][]string{eventRow(e)}) })
	})
	if t.Err() != nil { // it was ended
		return nil
	}
	return err
}

// eventRow tells an event to people.
func eventRow(e *client.Event) []string {
	row := []string{terminal.Moment(e.OccurredAt), e.Type}
	switch {
	case e.Data.Entry != nil && e.Data.Gift != nil:
		g := e.Data.Gift
		return append(row, g.VoucherID, Money(e.Data.Entry.Amount, g.Currency),
			Money(e.Data.Entry.CurrentBalance, g.Currency), e.Data.Entry.OrganizationName, by(e.Data.Entry))
	case e.Data.Gift != nil:
		return append(row, e.Data.Gift.VoucherID)
	case e.Data.Key != nil:
		return append(row, e.Data.Key.KeyName)
	case e.Data.Webhook != nil:
		return append(row, e.Data.Webhook.WebhookID, e.Data.Webhook.Host)
	}
	return row
}
