package setup

import (
	"net/http"
	"strconv"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/merchant"
	edits "boon.example/internal/setup"
)

// sent is a call of a webhook, as the JSON interface tells it.
type sent struct {
	Type, Answer, Failure string

	AttemptedAt time.Time
	Status      int
}

// Good reports whether the receiver took it.
func (s sent) Good() bool { return s.Status >= 200 && s.Status < 300 && s.Failure == "" }

// sending is what became of the calls of a webhook.
type sending struct {
	Attempts []sent
	Off      string // why the service switched it off; "": it did not
	Days     int    // over how many days events can be sent again
}

// replayDays are over how many days a form has events be sent again.
const replayDays = 7

// webhook is the path of the webhook that is edited, in the JSON interface, and why the service switched it off.
func (p *pages) webhook(r *desk.Request, e *editing) (path, off string, err error) {
	var all struct {
		Webhooks []struct{ WebhookID, URL, SwitchedOff string }
	}
	if err := r.Operate(http.MethodGet, "/webhooks", "", nil, &all); err != nil {
		return "", "", err
	}
	for _, w := range all.Webhooks {
		if w.URL == e.known {
			return "/webhooks/" + w.WebhookID, w.SwitchedOff, nil
		}
	}
	return "", "", desk.ErrNoPage
}

// attempts are the latest calls of the webhook that is edited.
func (p *pages) attempts(r *desk.Request, e *editing) (*sending, error) {
	path, off, err := p.webhook(r, e)
	if err != nil {
		return nil, err
	}
	shown := &sending{Off: off, Days: replayDays}
	if err := r.Operate(http.MethodGet, path+"/attempts?limit=20", "", nil, shown); err != nil {
		return nil, err
	}
	for n := range shown.Attempts {
		at := &shown.Attempts[n].AttemptedAt
		*at = at.In(r.Account.Zone)
	}
	return shown, nil
}

// replay has the events of some days be sent again.
func (p *pages) replay(r *desk.Request, e *editing) (desk.View, error) {
	days, err := strconv.Atoi(r.HTTP.PostForm.Get("days"))
	if e.section.list != "webhooks" || err != nil || days < 1 || days > replayDays {
		return desk.View{}, desk.ErrNoPage
	}
	path, _, err := p.webhook(r, e)
	if err != nil {
		return desk.View{}, err
	}
	from := r.RealTime().AddDate(0, 0, -days).UTC().Format(time.RFC3339)
	if err := r.Operate(http.MethodPost, path+"/replay", "", map[string]any{"from": from}, nil); err != nil {
		return desk.View{}, err
	}
	return p.saved(r, e, &edits.Edited{Report: &edits.Report{
		Changes: []string{r.Locale.Text("console.setup.replayed", days)}}})
}

// rotate gives the webhook another secret, which is shown this once.
func (p *pages) rotate(r *desk.Request, e *editing) (desk.View, error) {
	if e.section.list != "webhooks" {
		return desk.View{}, desk.ErrNoPage
	}
	path, _, err := p.webhook(r, e)
	if err != nil {
		return desk.View{}, err
	}
	var made struct{ Secret string }
	if err := r.Operate(http.MethodPost, path+"/rotate-secret", "", map[string]any{}, &made); err != nil {
		return desk.View{}, err
	}
	return p.saved(r, e, &edits.Edited{Report: &edits.Report{Changes: []string{r.Locale.Text("console.setup.rotated")},
		Webhooks: []edits.NewWebhook{{URL: e.known, Secret: merchant.WebhookSecret(made.Secret)}}}})
}
