package setup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/setup"
)

const bakery = `accounts:
  - id: 00000000-0000-4000-8000-000000000001
    name: Bakery
    currency: EUR
    timeZone: Europe/Berlin
`

var someID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// wantChanges compares what was changed; what has an id of chance stands as ID.
func wantChanges(t *testing.T, r *setup.Report, want ...string) {
	t.Helper()
	wantLines(t, "changes", strings.Split(someID.ReplaceAllString(strings.Join(r.Changes, "\n"), "ID"), "\n"), want...)
}

// TestWebhooksOfTheFile: they are made, changed and deleted as the file says, their secrets are shown once, and a file
// that says nothing of webhooks leaves them.
func TestWebhooksOfTheFile(t *testing.T) {
	t.Parallel()
	w, account := open(t), id(t, "00000000-0000-4000-8000-000000000001")
	const both = bakery + `    webhooks:
      - url: https://example.com:8443/a?token=geheim
        types: [key.*, gift.redeemed]
        description: The till's
      - {url: https://b.example.com/, enabled: false}
`
	report := apply(t, w, both)
	wantChanges(t, report, "account Bakery: added", "account Bakery: added webhook ID at example.com:8443",
		"account Bakery: added webhook ID at b.example.com")
	hooks := directory(t, w).Webhooks[account]
	if len(hooks) != 2 {
		t.Fatalf("%d webhooks", len(hooks))
	}
	slices.SortFunc(hooks, func(a, b *merchant.Webhook) int { return strings.Compare(b.URL, a.URL) })
	a, b := hooks[0], hooks[1]
	if a.URL != "https://example.com:8443/a?token=geheim" || !slices.Equal(a.Types, []string{"gift.redeemed", "key.*"}) ||
		a.Description != "The till's" || !a.Enabled || b.Enabled || len(b.Types) != 0 || a.Secret == b.Secret {
		t.Errorf("%+v, %+v", a, b)
	}
	var out bytes.Buffer
	if err := report.Print(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "account Bakery, webhook "+a.URL+": "+a.Secret.Reveal()+"\n") ||
		strings.Contains(strings.Join(report.Changes, " "), "geheim") {
		t.Errorf("it prints\n%s", &out)
	}
	if again := apply(t, w, both); len(again.Changes) != 0 || len(again.Webhooks) != 0 {
		t.Errorf("applied again: %+v", again)
	}
	wantChanges(t, apply(t, w, strings.NewReplacer("key.*, ", "", "The till's", "Ours", "enabled: false", "enabled: true").
		Replace(both)),
		"account Bakery: changed webhook ID at example.com:8443: types from gift.redeemed and key.* to gift.redeemed",
		"account Bakery: changed webhook ID at example.com:8443: description from The till's to Ours",
		"account Bakery: changed webhook ID at b.example.com: delivery from off to on")
	is := directory(t, w).Webhook(account, a.ID)
	if !slices.Equal(is.Types, []string{"gift.redeemed"}) || is.Secret != a.Secret || is.Start != a.Start ||
		!directory(t, w).Webhook(account, b.ID).Enabled {
		t.Errorf("%+v", is)
	}
	if left := apply(t, w, bakery); len(left.Changes) != 0 || len(directory(t, w).Webhooks[account]) != 2 {
		t.Errorf("a file without webhooks: %+v", left)
	}
	wantChanges(t, apply(t, w, bakery+"    webhooks: [{url: 'https://b.example.com/'}]\n"),
		"account Bakery: removed webhook ID at example.com:8443")
	wantChanges(t, apply(t, w, bakery+"    webhooks: []\n"), "account Bakery: removed webhook ID at b.example.com")
	if n := len(directory(t, w).Webhooks[account]); n != 0 {
		t.Errorf("%d webhooks are left", n)
	}
}

// TestWebhooksBesideTheFile: one that the interface made is deleted by a file that names webhooks without it, and kept
// with its secret by one that names it; one that the service switched off stays so until the file says otherwise.
func TestWebhooksBesideTheFile(t *testing.T) {
	t.Parallel()
	w, account := open(t), id(t, "00000000-0000-4000-8000-000000000001")
	apply(t, w, bakery)
	made := merchant.Webhook{ID: id(t, "00000000-0000-4000-8000-0000000000aa"), AccountID: account, CreatedAt: noon,
		ChangedAt: noon, URL: "https://example.com/made", Description: "By hand", Off: merchant.WebhookGone,
		Secret: "whsec_" +
			"YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE="}
	err := w.Configure(context.Background(), func(*merchant.Directory, setup.Uses) (setup.Changes, error) {
		saved := made
		return setup.Changes{Webhooks: []*merchant.Webhook{&saved}, What: "made one"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := apply(t, w, bakery+"    webhooks: [{url: 'https://example.com/made'}]\n")
	wantChanges(t, kept, "account Bakery: changed webhook ID at example.com: description from By hand to none")
	if is := directory(t, w).Webhook(account, made.ID); is.Enabled || is.Off != merchant.WebhookGone ||
		is.Secret != made.Secret || len(kept.Webhooks) != 0 {
		t.Errorf("%+v", is)
	}
	if len(kept.Notes) != 1 || !strings.Contains(noted(kept), "was switched off by the service (GONE); it stays so") {
		t.Errorf("notes: %q", kept.Notes)
	}
	wantChanges(t, apply(t, w, bakery+"    webhooks: [{url: 'https://example.com/made', enabled: true}]\n"),
		"account Bakery: changed webhook ID at example.com: delivery from off to on")
	if is := directory(t, w).Webhook(account, made.ID); !is.Enabled || is.Off != "" {
		t.Errorf("%+v", is)
	}
	wantChanges(t, apply(t, w, bakery+"    webhooks: [{url: 'https://example.com/other'}]\n"),
		"account Bakery: added webhook ID at example.com", "account Bakery: removed webhook ID at example.com")
	if hooks := directory(t, w).Webhooks[account]; len(hooks) != 1 || hooks[0].URL != "https://example.com/other" {
		t.Errorf("%+v", hooks)
	}
}

// TestHostileWebhooks: what is wrong with a webhook of the file is told with its place, and nothing is made.
func TestHostileWebhooks(t *testing.T) {
	t.Parallel()
	many := "    webhooks:\n"
	for i := range merchant.MaxWebhooks + 1 {
		many += fmt.Sprintf("      - url: https://example.com/%d\n", i)
	}
	const at = "accounts[0].webhooks"
	for file, want := range map[string][2]string{ // the place, and words
		"    webhooks: {}\n":                                     {at, "must be a list"},
		"    webhooks: [x]\n":                                    {at + "[0]", "mapping"},
		"    webhooks: [{types: [gift.*]}]\n":                    {at + "[0].url", "required"},
		"    webhooks: [{url: 'http://example.com'}]\n":          {at + "[0].url", "https://"},
		"    webhooks: [{url: 'https://10.0.0.1'}]\n":            {at + "[0].url", "--webhooks-allow"},
		"    webhooks: [{url: 'https://localhost:3000'}]\n":      {at + "[0].url", "not public"},
		"    webhooks: [{url: 'https://[::ffff:7f00:1]'}]\n":     {at + "[0].url", "not public"},
		"    webhooks: [{url: 'https://169.254.169.254/'}]\n":    {at + "[0].url", "metadata"},
		"    webhooks: [{url: 'https://a:b@example.com'}]\n":     {at + "[0].url", "password"},
		"    webhooks: [{url: \"https://x.example/\\e[31m\"}]\n": {at + "[0].url", ""},
		"    webhooks: [{url: [a]}]\n":                           {at + "[0].url", "single value"},
		"    webhooks: [{url: 'https://example.com', types: [gift.redeemed, gift.sold]}]\n": {at + "[0].types[1]",
			"no such type"},
		"    webhooks: [{url: 'https://example.com', types: [gift.*, gift.*]}]\n":  {at + "[0].types[1]", "already"},
		"    webhooks: [{url: 'https://example.com', types: [[gift.*]]}]\n":        {at + "[0].types[0]", "not a list"},
		"    webhooks: [{url: 'https://example.com', types: []}]\n":                {at + "[0].types", "no events"},
		"    webhooks: [{url: 'https://example.com', enabled: 'yes'}]\n":           {at + "[0].enabled", "true or false"},
		"    webhooks: [{url: 'https://example.com', description: \"a\\nb\"}]\n":   {at + "[0].description", ""},
		"    webhooks: [{url: 'https://example.com', secret: whsec_x}]\n":          {at + "[0].secret", "no such field"},
		"    webhooks: [{url: 'https://a.example'}, {url: 'https://a.example'}]\n": {at + "[1].url", "line 6"},
		many: {at, "at most 20"},
	} {
		_, err := setup.Parse("setup.yaml", []byte(bakery+file))
		problems, ok := errors.AsType[setup.Problems](err)
		if !ok || len(problems) != 1 || problems[0].Path != want[0] || !strings.Contains(problems[0].Said.Error(), want[1]) {
			t.Errorf("%s%v", file, err)
		} else if strings.Contains(err.Error(), "\x1b") || problems[0].Line < 6 {
			t.Errorf("%s%q", file, err)
		}
	}
	allow := merchant.WebhookNetworks{netip.MustParsePrefix("10.0.0.0/8")}
	const inside = bakery + "    webhooks: [{url: 'http://10.0.0.1/'}]\n"
	if _, err := setup.ParseBeside("setup.yaml", []byte(inside), nil, allow); err != nil {
		t.Error(err)
	}
}
