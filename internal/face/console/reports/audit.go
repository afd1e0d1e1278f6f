package reports

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"boon.example/internal/base/spreadsheet"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// Store is what the pages of this part need of a database.
type Store interface {
	// Members are the staff of an account.
	Members(ctx context.Context, account guid.ID) ([]staff.Member, error)
}

// auditPages are the pages of who did what.
func auditPages(store Store) []desk.Page {
	return []desk.Page{
		{Pattern: "GET /audit", Nav: "console.audit", Needs: merchant.MayAudit, Do: func(r *desk.Request) (desk.View, error) {
			return audit(r, store)
		}},
		{Pattern: "GET /audit/file", Needs: merchant.MayAudit, Do: auditFile},
	}
}

const (
	pageOfAudit = 50
	// auditCalls is how often a page asks the interface at most: where it is asked what one person did, an answer may have
	// few entries, or none.
	auditCalls = 10
	// maxAuditFile is how many lines a file has at most.
	maxAuditFile = 10_000
)

// deed is an entry of the audit trail, as the JSON interface tells it.
type deed struct {
	At                                                                        time.Time
	Action, KeyID, KeyName, Person, User, Address, VoucherID, What, RequestID string
}

// auditShown is what the page shows.
type auditShown struct {
	From, To, Latest    string // days, as forms have them
	Who                 []whoGroup
	Entries             []deedShown
	Newest, Older, File string // addresses; "": there is none
	Here                string
	Wrong               []string
	Narrowed            bool
}

// whoGroup are people or keys that can be asked for.
type whoGroup struct {
	Name string
	All  []choice
}

// deedShown is an entry in the list.
type deedShown struct {
	At                      time.Time
	Who, With, Address, Did string
	Gift                    string // its address; "": it was no gift
	What                    []lineShown
}

// lineShown is a line of what an entry says.
type lineShown struct {
	Text    string
	English bool // whatever the language of the page is
}

// audit shows what people and keys did, the newest first.
func audit(r *desk.Request, store Store) (desk.View, error) {
	members, err := store.Members(r.Context(), r.Account.ID)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	q := r.HTTP.URL.Query()
	here := desk.Home(r.Account.ID) + "audit"
	narrowed := url.Values{}
	for _, name := range []string{"from", "to", "who"} {
		if q.Get(name) != "" {
			narrowed.Set(name, q.Get(name))
		}
	}
	shown := auditShown{From: q.Get("from"), To: q.Get("to"), Latest: r.Now.In(r.Account.Zone).Format(time.DateOnly),
		Who: whoDoes(r, members, q.Get("who")), Here: here, Narrowed: len(narrowed) > 0,
		File: desk.Address(here+"/file", narrowed)}
	v := desk.View{Template: "audit.html", Title: "console.audit", Data: &shown}
	asked, err := askedOfAudit(r)
	var deeds []deed
	next := q.Get("cursor")
	for calls := 0; err == nil && calls < auditCalls && (calls == 0 || next != "" && len(deeds) < pageOfAudit); calls++ {
		var more []deed
		more, next, err = auditPage(r, asked, next, pageOfAudit-len(deeds))
		deeds = append(deeds, more...)
	}
	if refused, is := errors.AsType[*refusal.Error](err); is {
		v.Status, shown.Wrong = refused.Code.Status(), r.Said(refused)
		return v, nil
	}
	if err != nil {
		return desk.View{}, err
	}
	for n := range deeds {
		shown.Entries = append(shown.Entries, shownDeed(r, &deeds[n]))
	}
	if q.Get("cursor") != "" {
		shown.Newest = desk.Address(here, narrowed)
	}
	if next != "" {
		shown.Older = desk.Address(here, desk.With(narrowed, "cursor", next))
	}
	return v, nil
}

// askedOfAudit is what the form asks for, as the interface is asked. Days begin and end by the clocks of the account.
func askedOfAudit(r *desk.Request) (url.Values, error) {
	q, asked := r.HTTP.URL.Query(), url.Values{}
	for name, days := range map[string]int{"from": 0, "to": 1} {
		text := q.Get(name)
		if text == "" {
			continue
		}
		day, err := time.ParseInLocation(time.DateOnly, text, r.Account.Zone)
		if err != nil {
			return nil, refusal.New(refusal.ValidationFailure, "%s", r.Locale.Text("console.audit.day"))
		}
		asked.Set(name, day.AddDate(0, 0, days).Format(time.RFC3339))
	}
	switch kind, who, _ := strings.Cut(q.Get("who"), ":"); kind {
	case "key":
		asked.Set("keyID", who)
	case "person":
		asked.Set("person", who)
	}
	return asked, nil
}

// auditPage is a page of the interface.
func auditPage(r *desk.Request, asked url.Values, cursor string, limit int) (deeds []deed, next string, err error) {
	asked = desk.With(asked, "limit", "200")
	if limit < 200 {
		asked.Set("limit", strconv.Itoa(limit))
	}
	if cursor != "" {
		asked.Set("cursor", cursor)
	}
	var page struct {
		Entries    []deed
		NextCursor string
	}
	err = r.Operate(http.MethodGet, desk.Address("/audit", asked), "", nil, &page)
	return page.Entries, page.NextCursor, err
}

// whoDoes are the staff, the people at tills and the keys of the account.
func whoDoes(r *desk.Request, members []staff.Member, asked string) []whoGroup {
	var people, tills, keys []choice
	add := func(to *[]choice, value, text string) { *to = append(*to, choice{value, text, value == asked}) }
	for n := range members {
		add(&people, "key:"+members[n].ID.String(), members[n].Name)
	}
	for n := range r.Account.People {
		add(&tills, "person:"+r.Account.People[n].Name, r.Account.People[n].Name)
	}
	for _, k := range r.Directory().Keys {
		if k.AccountID == r.Account.ID {
			add(&keys, "key:"+k.ID.String(), k.Name)
		}
	}
	slices.SortFunc(keys, func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Value, b.Value))
	})
	groups := []whoGroup{{r.Locale.Text("console.audit.staff"), people}, {r.Locale.Text("console.audit.tills"), tills},
		{r.Locale.Text("console.audit.keys"), keys}}
	return slices.DeleteFunc(groups, func(g whoGroup) bool { return g.All == nil })
}

// shownDeed tells an entry in words.
func shownDeed(r *desk.Request, d *deed) deedShown {
	shown := deedShown{At: d.At.In(r.Account.Zone), Who: cmp.Or(d.Person, d.KeyName, d.User), Address: d.Address,
		Did: did(r, d.Action)}
	for line := range strings.Lines(d.What) {
		// The account is that of the page, and the key stands beside the sentence.
		line = strings.TrimPrefix(line, fmt.Sprintf("account %s, by key %s: ", r.Account.Name, d.KeyName))
		said, known := r.Retold(strings.TrimSuffix(line, "\n"))
		shown.What = append(shown.What, lineShown{said, !known})
	}
	if d.Person != "" {
		shown.With = d.KeyName
	}
	if d.VoucherID != "" {
		shown.Gift = desk.Home(r.Account.ID) + "gifts/" + d.VoucherID
	}
	return shown
}

// known are the actions that have a text.
var known = sync.OnceValue(func() map[string]any { return locale.For(merchant.English).All(ofActions) })

const ofActions = "console.did."

// did is what an action is called. One that no text knows is called by its own name.
func did(r *desk.Request, action string) string {
	name := ofActions + strings.NewReplacer(".", "-", "_", "-").Replace(action)
	if known()[name] == nil {
		return action
	}
	return r.Locale.Text(name)
}

// auditFile is the audit trail as CSV: whole, or nothing of it.
func auditFile(r *desk.Request) (desk.View, error) {
	asked, err := askedOfAudit(r)
	if err != nil {
		return desk.View{}, err
	}
	file := &desk.Answered{}
	w := csv.NewWriter(&file.Body)
	lines := [][]string{{"at", "action", "person", "keyID", "keyName", "user", "address", "voucherID", "what",
		"requestID"}}
	for next, first := "", true; first || next != ""; first = false {
		var deeds []deed
		if deeds, next, err = auditPage(r, asked, next, 200); err != nil {
			return desk.View{}, err
		}
		for _, d := range deeds {
			line := []string{d.At.UTC().Format(time.RFC3339Nano), d.Action, d.Person, d.KeyID, d.KeyName, d.User, d.Address,
				d.VoucherID, d.What, d.RequestID}
			for n := range line {
				line[n] = spreadsheet.Text(line[n])
			}
			lines = append(lines, line)
		}
		if len(lines) > maxAuditFile {
			return desk.View{}, refusal.New(refusal.ValidationFailure, "%s", r.Locale.Text("console.audit.long", maxAuditFile))
		}
	}
	if err := w.WriteAll(lines); err != nil {
		return desk.View{}, err
	}
	file.Header().Set("Content-Type", "text/csv; charset=utf-8")
	file.Header().Set("Content-Disposition", `attachment; filename="audit.csv"`)
	return desk.View{File: file}, nil
}
