package setup

import (
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/merchant"
	"boon.example/internal/post/qr"
	"boon.example/internal/refusal"
)

// tillPages are the pages about the devices at the counters.
func tillPages() []desk.Page {
	return []desk.Page{
		{Pattern: "GET /tills", Nav: "console.tills", Key: "l", Needs: merchant.MayTills,
			Do: func(r *desk.Request) (desk.View, error) {
				return tills(r, tillsShown{})
			}},
		{Pattern: "POST /tills/pair", Needs: merchant.MayTills, Fresh: true, Do: pairTill},
		{Pattern: "POST /tills/off", Needs: merchant.MayTills, Do: tillOff},
	}
}

// tillsShown is what the page of the tills shows.
type tillsShown struct {
	Tills     []tillRow
	Locations []merchant.Location
	Wrong     []string // why a form was refused
	Confirm   string   // where the owner proves who they are first; "": they did
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
func tills(r *desk.Request, shown tillsShown) (desk.View, error) {
	if err := r.Operate(http.MethodGet, "/tills", "", nil, &shown); err != nil {
		return desk.View{}, err
	}
	shown.Locations, shown.Confirm = r.Account.Locations, r.ConfirmFirst("tills")
	v := desk.View{Template: "tills.html", Title: "console.tills", Data: &shown}
	if shown.Wrong != nil {
		v.Status = http.StatusUnprocessableEntity
	}
	return v, nil
}

// pairTill makes a link that turns one device into a till, and shows it this once, as a QR code too.
func pairTill(r *desk.Request) (desk.View, error) {
	body := map[string]any{"name": strings.TrimSpace(r.HTTP.PostForm.Get("name")),
		"organizationID": r.HTTP.PostForm.Get("location")}
	if r.HTTP.PostForm.Get("sells") != "" {
		body["may"] = []string{"activate", "reload"}
	}
	var made tillRow
	err := r.Operate(http.MethodPost, "/tills", "", body, &made)
	if refused, is := errors.AsType[*refusal.Error](err); is {
		return tills(r, tillsShown{Wrong: r.Said(refused)})
	}
	if err != nil {
		return desk.View{}, err
	}
	shown := tillsShown{New: made.Name, Link: made.PairURL}
	if code, err := qr.Encode(made.PairURL); err == nil { // a link that is too long is shown as a text alone
		shown.QR = template.HTML(code.SVG(r.Locale.Text("console.tills.qr")))
	}
	return tills(r, shown)
}

// tillOff switches a till off for good.
func tillOff(r *desk.Request) (desk.View, error) {
	key := r.HTTP.PostForm.Get("key")
	if strings.ContainsAny(key, "/?#%") {
		return desk.View{}, desk.ErrNoPage
	}
	if err := r.Operate(http.MethodDelete, "/tills/"+key, "", nil, nil); err != nil {
		return desk.View{}, err
	}
	return desk.View{To: desk.Home(r.Account.ID) + "tills"}, nil
}
