package setup

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/service"
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
	Changed  string // when it was changed last, for the form that makes another secret
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
	for _, w := range p.Directory().Webhooks[r.Account.ID] {
		if w.URL == e.known {
			shown.Changed = w.ChangedAt.UTC().Format(time.RFC3339Nano)
		}
	}
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
	told := []string{r.Locale.Text("console.setup.replayed", days)}
	return p.saved(r, e, &edits.Edited{Report: &edits.Report{Changes: told}}, told)
}

// rotate gives the webhook another secret, which is shown this once. A form that is sent twice makes one.
func (p *pages) rotate(r *desk.Request, e *editing) (desk.View, error) {
	if e.section.list != "webhooks" {
		return desk.View{}, desk.ErrNoPage
	}
	seen, err := time.Parse(time.RFC3339Nano, r.HTTP.PostForm.Get("changed"))
	if err != nil || e.record == nil {
		return desk.View{}, desk.ErrNoPage
	}
	rotation := edits.Rotation{Account: r.Account.ID, URL: e.known, Seen: seen, By: r.By(), RequestID: r.RequestID}
	made, err := rotation.Apply(r.Context(), p.Store, r.RealTime(), rand.Reader)
	if _, is := errors.AsType[edits.Conflict](err); is {
		return p.show(r, e, shown{typed: e.record, seen: e.record.Some(fieldsOf(e.questions)).Mark(), conflict: true,
			theirs: e.record})
	}
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	p.Refresh(r.Context())
	told := []string{r.Locale.Text("console.setup.rotated")}
	return p.saved(r, e, &edits.Edited{Report: &edits.Report{Changes: told, Webhooks: []edits.NewWebhook{made}}}, told)
}
