package remote

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"boon.example/client"
	"boon.example/internal/command/terminal"
	"boon.example/internal/merchant"
	"boon.example/internal/post/webhook"
)

type Listen struct {
	Forward string   `required:"" placeholder:"URL" help:"Where each event is posted, such as http://localhost:3000/hook."`
	Types   []string `aliases:"type" placeholder:"TYPE,…" help:"Only events of these types, such as gift.redeemed or gift.*."`
	All     bool     `help:"Begin with the oldest event that is kept, not with the next one."`
	Service
}

func (Listen) Help() string {
	return `For developers: a webhook that reaches this machine, where the service cannot call. Needs the permission events. Messages are signed with a
secret that is made at each start and printed first. One that fails is sent again after 1, 2 and 4 seconds, then left. Ctrl-C ends it.
With --json: the events on standard output, one a line, and all else on standard error.

Examples:

    boon listen --forward http://localhost:3000/hook
    boon listen --forward http://localhost:3000/hook --types gift.redeemed,gift.cashed_out --all`
}

func (c *Listen) Run(t *terminal.Terminal) error {
	to, err := url.Parse(c.Forward)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Hostname() == "" {
		return terminal.UsageError("--forward must be an address such as http://localhost:3000/hook.")
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	secret, err := merchant.NewWebhookSecret(rand.Reader)
	if err != nil {
		return err
	}
	f := client.EventsFilter{Types: c.Types, Wait: 25 * time.Second}
	if !c.All {
		f.After = client.EventsFromNow
	}
	// Whoever types the address may call every one.
	everywhere := webhook.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}}
	sender := webhook.NewSender(&everywhere, "boon-cli/"+t.Version, 0)
	defer sender.Close()
	fw := forwarder{sender: sender, url: c.Forward, secret: secret, out: t.Stdout,
		pauses: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}}
	if c.JSON {
		fw.out = t.Stderr
	}
	fmt.Fprintf(fw.out, "Events go to %s, signed with %s\n", terminal.Cell(to.Redacted()), secret.Reveal())
	_, err = upTo(api.Events(t, f), 0, func(e *client.Event) error {
		fw.forward(t, e)
		return c.Answer(t, e.Meta.Body, func() {})
	})
	if t.Err() != nil { // it was ended
		return nil
	}
	return err
}

// forwarder sends events to a developer's machine as webhooks are sent.
type forwarder struct {
	sender *webhook.Sender
	url    string
	secret merchant.WebhookSecret
	pauses []time.Duration // before each further attempt
	out    io.Writer
}

// forward sends one event, again after each pause until it is taken, and prints a line for each attempt.
func (f *forwarder) forward(ctx context.Context, e *client.Event) {
	m := webhook.Message{ID: e.ID, Body: e.Meta.Body}
	for n := 0; ctx.Err() == nil; n++ {
		o := f.sender.Send(ctx, f.url, []merchant.WebhookSecret{f.secret}, m)
		if ctx.Err() != nil && !o.Succeeded() {
			return
		}
		said := o.Words
		if o.Status != 0 {
			said = strings.TrimSpace(fmt.Sprint(o.Status, " ", http.StatusText(o.Status)))
		}
		switch {
		case o.Succeeded():
		case n == len(f.pauses):
			said += " (left)"
		default:
			said += fmt.Sprintf(" (again in %s)", f.pauses[n])
		}
		fmt.Fprintf(f.out, "%s  %s  %s\n", terminal.Cell(e.Type), terminal.Cell(e.ID), said)
		if o.Succeeded() || n == len(f.pauses) {
			return
		}
		select {
		case <-time.After(f.pauses[n]):
		case <-ctx.Done():
		}
	}
}
