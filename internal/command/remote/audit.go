package remote

import (
	"cmp"
	"time"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type Audit struct {
	From   time.Time `placeholder:"TIME" help:"Only what was done at or after this time, such as 2026-03-01T00:00:00Z."`
	To     time.Time `placeholder:"TIME" help:"Only what was done before this time."`
	APIKey string    `name:"api-key" placeholder:"ID" help:"Only what was done with this API key."`
	Person string    `placeholder:"NAME" help:"Only what was done by somebody of this name, of the staff or at a till."`
	Limit  int       `default:"50" placeholder:"N" help:"How many at most; 0: all of them. Default: ${default}."`
	Service
}

func (Audit) Help() string {
	return `Needs the permission audit, and a key that is not limited to locations. With --json: one a line.

Example:

    boon audit --from 2026-03-01T00:00:00Z --limit 0`
}

func (c *Audit) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	f := client.AuditFilter{From: c.From, To: c.To, KeyID: c.APIKey, Person: c.Person, PageSize: pageFor(c.Limit)}
	var rows [][]string
	more, err := upTo(api.Audit(t, f), c.Limit, func(e *client.AuditEntry) error {
		return c.Answer(t, e.Meta.Body, func() {
			who := by(&client.Entry{KeyName: cmp.Or(e.KeyName, e.User), Person: e.Person})
			rows = append(rows, []string{terminal.Moment(e.At), who, e.Address, e.Action, cmp.Or(e.VoucherID, e.What)})
		})
	})
	if err != nil {
		return err
	}
	if !c.JSON {
		terminal.Table(t.Stdout, []string{"WHEN", "WHO", "FROM", "WHAT", "TO"}, rows)
	}
	moreThan(t, more, c.Limit)
	return nil
}
