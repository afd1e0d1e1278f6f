package main

import (
	"fmt"
	"strings"
	"time"

	"boon.example/internal/command/terminal"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/store"
)

type sheetCmd struct {
	Order     string `arg:"" placeholder:"ORDERID" help:"Order with printed gifts."`
	PublicURL string `setting:"env" name:"public-url" placeholder:"URL" help:"How recipients reach the service; the link begins with it."`
	Revoke    bool   `help:"Make no new link."`
	database
}

func (sheetCmd) Help() string {
	return `The link that send-gift answered, to the cards of an order as a PDF, works for 24 hours. This makes a new one, and revokes all that there are.
Whoever has the link can print the gifts and spend them. Cards of a stock have none: boon stock export --help.

Example:

    boon sheet 01a1f97c-79b1-7a00-8d11-5b0c6b3e9a00 --public-url https://gifts.example.com`
}

// Run makes or revokes links to the sheet of an order.
func (c *sheetCmd) Run(t *terminal.Terminal) error {
	order, err := guid.Parse(c.Order)
	if err != nil {
		return terminal.UsageError("ORDER must be the orderID that send-gift answered")
	}
	if c.PublicURL == "" && !c.Revoke {
		return terminal.UsageError("--public-url (BOON_PUBLIC_URL) says what the link begins with; or give --revoke")
	}
	return c.with(t, true, func(s *store.Store) error {
		link, err := s.RenewSheet(t, order, time.Now().UTC(), c.Revoke)
		if err != nil {
			return err
		}
		if c.Revoke {
			err := s.LogExport(t, event.TrailEntry{AccountID: link.AccountID, Action: event.SheetRevoked,
				What: event.SaidNoSheet.Say(order, link.AccountID)})
			if err != nil {
				return err
			}
			fmt.Fprintln(t.Stdout, "The links to this sheet are dead.")
			return nil
		}
		err = s.LogExport(t, event.TrailEntry{AccountID: link.AccountID, Action: event.CodesExported,
			What: event.SaidNewSheet.Say(order, link.AccountID)})
		if err != nil {
			return err
		}
		fmt.Fprintf(t.Stdout, "%s/orders/%s/print.pdf\n", terminal.Cell(strings.TrimRight(c.PublicURL, "/")),
			link.Token.Reveal())
		fmt.Fprintf(t.Stdout, "It works until %s; earlier links are dead.\n", terminal.Moment(link.Until))
		return nil
	})
}
