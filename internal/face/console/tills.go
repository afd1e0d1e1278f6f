package console

import (
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/post/qr"
	"boon.example/internal/refusal"
)

// tillPages are the pages about the devices at the counters.
func (f *console) tillPages() []page {
	return []page{
		{pattern: "GET /tills", nav: "console.tills", needs: merchant.MayTills, do: func(r *request) (view, error) {
			return f.tills(r, tillsShown{})
		}},
		{pattern: "POST /tills/pair", needs: merchant.MayTills, fresh: true, do: f.pairTill},
		{pattern: "POST /tills/off", needs: merchant.MayTills, do: f.tillOff},
	}
}

// tillsShown is what the page of the tills shows.
type tillsShown struct {
	Tills     []tillRow
	Locations []merchant.Location
	Wrong     []string // why a form was refused
	New       string   // the name of a till that was made just now; "": none was
	Link      string   // that pairs its device, once, within 15 minutes
	QR        template.HTML
}

// tillRow is a till, as the JSON interface tells it.
type tillRow struct {
	KeyID, Name, OrganizationName, State, PairURL string

	CreatedAt time.Time
}

// tills shows the devices that are tills.
func (f *console) tills(r *request, shown tillsShown) (view, error) {
	if err := f.operate(r, http.MethodGet, "/tills", "", nil, &shown); err != nil {
		return view{}, err
	}
	shown.Locations = r.account.Locations
	v := view{template: "tills.html", title: "console.tills", data: &shown}
	if shown.Wrong != nil {
		v.status = http.StatusUnprocessableEntity
	}
	return v, nil
}

// pairTill makes a link that turns one device into a till, and shows it this once, as a QR code too.
func (f *console) pairTill(r *request) (view, error) {
	body := map[string]any{"name": strings.TrimSpace(r.HTTP.PostForm.Get("name")),
		"organizationID": r.HTTP.PostForm.Get("location")}
	if r.HTTP.PostForm.Get("sells") != "" {
		body["may"] = []string{"activate", "reload"}
	}
	var made tillRow
	err := f.operate(r, http.MethodPost, "/tills", "", body, &made)
	if refused, is := errors.AsType[*refusal.Error](err); is {
		return f.tills(r, tillsShown{Wrong: said(refused)})
	}
	if err != nil {
		return view{}, err
	}
	shown := tillsShown{New: made.Name, Link: made.PairURL}
	if code, err := qr.Encode(made.PairURL); err == nil { // a link that is too long is shown as a text alone
		shown.QR = template.HTML(code.SVG(r.locale.Text("console.tills.qr")))
	}
	return f.tills(r, shown)
}

// tillOff switches a till off for good.
func (f *console) tillOff(r *request) (view, error) {
	key := r.HTTP.PostForm.Get("key")
	if strings.ContainsAny(key, "/?#%") {
		return view{}, errNoPage
	}
	if err := f.operate(r, http.MethodDelete, "/tills/"+key, "", nil, nil); err != nil {
		return view{}, err
	}
	return view{to: home(r.account.ID) + "tills"}, nil
}
