package remote

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type Webhook struct {
	Create   webhookCreateCmd   `cmd:"" help:"Have events sent to an address."`
	List     webhookListCmd     `cmd:"" help:"List the webhooks of the account."`
	Show     webhookShowCmd     `cmd:"" help:"Show a webhook."`
	Change   webhookChangeCmd   `cmd:"" help:"Change a webhook, or switch it on or off."`
	Delete   webhookDeleteCmd   `cmd:"" help:"Delete a webhook."`
	Rotate   webhookRotateCmd   `cmd:"" help:"Give a webhook a new secret."`
	Attempts webhookAttemptsCmd `cmd:"" help:"List the calls that a webhook made, the newest first."`
	Replay   webhookReplayCmd   `cmd:"" help:"Send events to a webhook once more."`
}

// oneWebhook is the argument of the commands about one.
type oneWebhook struct {
	Webhook string `arg:"" help:"The webhookID."`
	Service
}

type webhookCreateCmd struct {
	To          string   `arg:"" name:"address" help:"Where events are posted, such as https://shop.example.com/boon."`
	Types       []string `name:"type" placeholder:"TYPE,…" help:"Only events of these types, such as gift.redeemed or gift.*."`
	Description string   `placeholder:"TEXT" help:"What it is for."`
	Disabled    bool     `help:"Send nothing yet."`
	Service
}

func (webhookCreateCmd) Help() string {
	return `Needs the permission webhooks, as all of these do. The secret that messages are signed with is shown this once.

Example:

    boon webhook create https://shop.example.com/boon --type gift.redeemed,gift.created

Next: boon webhook attempts --help shows what became of the calls; boon listen --help has events sent to this machine.`
}

// Run creates.
func (c *webhookCreateCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	r := client.CreateWebhookRequest{URL: c.To, Types: c.Types, Description: c.Description}
	if c.Disabled {
		r.Enabled = new(bool)
	}
	a, err := api.CreateWebhook(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() { showWebhook(t, &a.Webhook, a.Secret) })
}

// showWebhook prints one for people; secret is "" where it is not told.
func showWebhook(t *terminal.Terminal, w *client.Webhook, secret string) {
	terminal.Facts(t.Stdout, "webhook", w.WebhookID, "address", w.URL, "secret", secret, "types", typesOf(w),
		"description",
		w.Description, "sends", sends(w), "made", terminal.Moment(w.CreatedAt), "old secret until",
		terminal.Moment(w.OldSecretUntil))
}

func typesOf(w *client.Webhook) string { return cmp.Or(strings.Join(w.Types, " "), "all") }

func sends(w *client.Webhook) string {
	switch {
	case w.Enabled:
		return "yes"
	case w.SwitchedOff != "":
		return "no, switched off by the service: " + string(w.SwitchedOff)
	}
	return "no"
}

type webhookListCmd struct{ Service }

func (webhookListCmd) Help() string {
	return `With --json: one webhook a line.

Example:

    boon webhook list`
}

// Run lists.
func (c *webhookListCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	all, err := api.Webhooks(t)
	if err != nil {
		return err
	}
	var rows [][]string
	for i := range all {
		w := &all[i]
		if err := c.Answer(t, w.Meta.Body, func() {
			rows = append(rows, []string{w.WebhookID, sends(w), w.URL, typesOf(w), w.Description})
		}); err != nil {
			return err
		}
	}
	if !c.JSON {
		terminal.Table(t.Stdout, []string{"WEBHOOK", "SENDS", "ADDRESS", "TYPES", "DESCRIPTION"}, rows)
	}
	return nil
}

type webhookShowCmd struct{ oneWebhook }

func (webhookShowCmd) Help() string {
	return `Its secret is never shown again; boon webhook rotate makes another.

Example:

    boon webhook show 019576b2-6a00-7000-8000-00000000000b`
}

// Run shows.
func (c *webhookShowCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	a, err := api.Webhook(t, c.Webhook)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() { showWebhook(t, a, "") })
}

type webhookChangeCmd struct {
	To          string   `name:"to" placeholder:"URL" help:"Where events are posted from now on."`
	Types       []string `name:"type" xor:"types" placeholder:"TYPE,…" help:"Only events of these types."`
	AllTypes    bool     `xor:"types" help:"All events."`
	Description *string  `placeholder:"TEXT" help:"What it is for."`
	Enable      bool     `xor:"on" help:"Switch it on; it goes on where it stood."`
	Disable     bool     `xor:"on" help:"Switch it off."`
	oneWebhook
}

func (webhookChangeCmd) Help() string {
	return `What no flag names stays as it is. If the set-up file names the webhook, the next boon apply makes it again as the file says.

Example:

    boon webhook change 019576b2-6a00-7000-8000-00000000000b --enable`
}

// Run changes.
func (c *webhookChangeCmd) Run(t *terminal.Terminal) error {
	r := client.ChangeWebhookRequest{WebhookID: c.Webhook, URL: c.To, Types: c.Types, Description: c.Description}
	if c.AllTypes {
		r.Types = []string{}
	}
	if c.Enable || c.Disable {
		r.Enabled = &c.Enable
	}
	if r.URL == "" && r.Types == nil && r.Description == nil && r.Enabled == nil {
		return terminal.UsageError("Say what to change: --to, --type, --all-types, --description, --enable or --disable.")
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	a, err := api.ChangeWebhook(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() { showWebhook(t, a, "") })
}

type webhookDeleteCmd struct{ oneWebhook }

func (webhookDeleteCmd) Help() string {
	return `Events that were not sent yet are not sent any more. To keep them waiting instead: boon webhook change --disable.

Example:

    boon webhook delete 019576b2-6a00-7000-8000-00000000000b`
}

// Run deletes.
func (c *webhookDeleteCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	meta, err := api.DeleteWebhook(t, c.Webhook)
	if err != nil {
		return err
	}
	return c.Answer(t, meta.Body, func() { terminal.Facts(t.Stdout, "deleted", c.Webhook) })
}

type webhookRotateCmd struct{ oneWebhook }

func (webhookRotateCmd) Help() string {
	return `The new secret is shown this once. For 24 hours messages are signed with both.

Example:

    boon webhook rotate 019576b2-6a00-7000-8000-00000000000b`
}

// Run rotates.
func (c *webhookRotateCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	a, err := api.RotateWebhook(t, c.Webhook)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "webhook", a.WebhookID, "secret", a.Secret, "old secret until",
			terminal.Moment(a.OldSecretUntil))
	})
}

type webhookAttemptsCmd struct {
	Limit int `default:"50" placeholder:"N" help:"How many at most; 0: all of them. Default: ${default}."`
	oneWebhook
}

func (webhookAttemptsCmd) Help() string {
	return `Calls are kept for 30 days. With --json: one a line, with what was answered.

Example:

    boon webhook attempts 019576b2-6a00-7000-8000-00000000000b --limit 10`
}

// Run lists calls.
func (c *webhookAttemptsCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	var rows [][]string
	more, err := upTo(api.Attempts(t, c.Webhook, pageFor(c.Limit)), c.Limit, func(a *client.Attempt) error {
		return c.Answer(t, a.Meta.Body, func() {
			status := "none"
			if a.Status != 0 {
				status = strconv.Itoa(a.Status)
			}
			rows = append(rows, []string{terminal.Moment(a.AttemptedAt), a.Type, a.EventID, status,
				fmt.Sprint(time.Duration(a.Milliseconds) * time.Millisecond), cmp.Or(a.Failure, a.Answer)})
		})
	})
	if err != nil {
		return err
	}
	if !c.JSON {
		terminal.Table(t.Stdout, []string{"WHEN", "TYPE", "EVENT", "STATUS", "TOOK", "ANSWER"}, rows)
	}
	moreThan(t, more, c.Limit)
	return nil
}

type webhookReplayCmd struct {
	From  time.Time `required:"" placeholder:"TIME" help:"Events at or after this time, such as 2026-03-01T00:00:00Z; at most 90 days ago."`
	To    time.Time `placeholder:"TIME" help:"Events before this time. Default: now."`
	Types []string  `name:"type" placeholder:"TYPE,…" help:"Only events of these types. Default: those that it wants."`
	oneWebhook
}

func (webhookReplayCmd) Help() string {
	return `The events are sent beside those that happen now, at most ten a second. A second replay takes the place of the first.

Example:

    boon webhook replay 019576b2-6a00-7000-8000-00000000000b --from 2026-03-01T00:00:00Z --type gift.redeemed

Next: boon webhook attempts --help.`
}

// Run replays.
func (c *webhookReplayCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	a, err := api.ReplayWebhook(t, client.ReplayWebhookRequest{WebhookID: c.Webhook, From: c.From, To: c.To,
		Types: c.Types})
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "replay", a.ReplayID, "webhook", a.WebhookID, "from", terminal.Moment(a.From), "to",
			terminal.Moment(a.To))
	})
}
