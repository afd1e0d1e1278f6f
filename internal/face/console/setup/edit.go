package setup

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"boon.example/internal/base/fair"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	edits "boon.example/internal/setup"
	"boon.example/internal/setup/document"
	"boon.example/internal/setup/form"
)

// Store is what these pages need of a database.
type Store interface {
	edits.Store
	// Asset finds a picture by its hash; refusal.NotFound where there is none.
	Asset(context.Context, merchant.AssetHash) (merchant.Asset, error)
}

// Config is what these pages work with.
type Config struct {
	Store         Store
	Directory     func() *merchant.Directory // the newest set-up that the service has seen
	Refresh       func(context.Context)      // has the service see what is newer; where that fails, it looks again soon
	WebhooksAllow merchant.WebhookNetworks   // where webhooks may be beside public addresses
	// Sample shows a gift of a design as guests would see it: one that there is not, in an account that is not saved.
	Sample func(Sample) http.Handler
}

// pages are the pages about the set-up.
type pages struct {
	Config
	busy *fair.Places // for reading pictures, and for drawing what a design looks like
}

// drawnAtOnce is how many pictures are read, or designs drawn, at a time: each takes tens of megabytes.
const drawnAtOnce = 2

// section is a part of the set-up that has a page: a list of records, or some fields of the account.
type section struct {
	under  string   // the name of the text that stands above it and those that follow; "": it is one of these
	name   string   // in the address; its texts are those of console.setup and console.setup-about of this name
	list   string   // in the set-up file; "": the fields are the account's own
	fields []string // of the account
	others bool     // and those of the account that no section names
	// who changes it proves who they are: it says who moves value and how much, or where the books and events go
	fresh bool
}

// sections are those that there are, in the order of the page.
var sections = []section{
	{under: "console.setup.shop", name: "business", fields: []string{"name", "currency", "timeZone", "language", "country",
		"contact", "defaultVoucherDesign"}},
	{name: "locations", list: "locations"},
	{name: "storefronts", list: "storefronts"},
	{name: "people", list: "people", fresh: true},
	{name: "messages", fields: []string{"balanceNotice", "arrivalNotice", "textCountries", "retention"}},
	{under: "console.setup.gifts", name: "designs", list: "voucherDesigns"},
	{name: "promotions", list: "promotions"},
	{name: "programs", list: "subscriptions", fresh: true},
	{name: "limits", fields: []string{"maxGiftValue", "limits", "requireIdempotencyKey"}, others: true, fresh: true},
	{name: "wallet", fields: []string{"wallet"}, fresh: true},
	{name: "old-cards", fields: []string{"importedCodes"}},
	{under: "console.setup.connections", name: "books", fields: []string{"books", "escheat"}, fresh: true},
	{name: "keys", list: "keys", fresh: true},
	{name: "webhooks", list: "webhooks", fresh: true},
	{name: "platforms", list: "providers", fresh: true},
}

// sectionNamed is the section that the address of a request names.
func sectionNamed(r *desk.Request) (section, error) {
	at := slices.IndexFunc(sections, func(s section) bool { return s.name == r.HTTP.PathValue("section") })
	if at < 0 {
		return section{}, desk.ErrNoPage
	}
	return sections[at], nil
}

// questions are those of a section.
func (s *section) questions() []form.Question {
	all := form.Questions(s.list)
	if s.list != "" {
		return all
	}
	return slices.DeleteFunc(all, func(q form.Question) bool {
		field, _, _ := strings.Cut(q.Name, ".")
		if slices.Contains(s.fields, field) {
			return false
		}
		return !s.others || q.Ask == form.Known || slices.ContainsFunc(sections, func(o section) bool {
			return slices.Contains(o.fields, field)
		})
	})
}

// fieldsOf are the fields of a record that questions are about.
func fieldsOf(questions []form.Question) (all []string) {
	for _, q := range questions {
		field, _, _ := strings.Cut(q.Name, ".")
		if !slices.Contains(all, field) {
			all = append(all, field)
		}
	}
	return all
}

// maxRows is of how many rows a form has a field. One of more is left as it is: a set-up file says it.
const maxRows = 200

// asked are the questions about a record, but for the fields that are too long for a form.
func asked(questions []form.Question, record document.Fields) []form.Question {
	return slices.DeleteFunc(slices.Clone(questions), func(q form.Question) bool {
		list, _ := record[q.Name].([]any)
		return q.Ask == form.Rows && len(list) > maxRows
	})
}

// handle names a record in an address, where what it is known by may not stand, such as the address of a webhook.
func handle(known string) string {
	const letters = "abcdefghijklmnop"
	var b strings.Builder
	sum := sha256.Sum256([]byte(known))
	for _, c := range sum[:8] {
		b.WriteByte(letters[c>>4])
		b.WriteByte(letters[c&15])
	}
	return b.String()
}

// newRecord is the handle of a record that is to be made.
const newRecord = "new"

// editing is a record that somebody edits.
type editing struct {
	section   section
	questions []form.Question
	account   document.Fields
	record    document.Fields // as it is; nil: it is to be made
	known     string          // what it is known by; "": it is to be made, and its form says it
	handle    string          // "": it is the account itself
}

// newest is the set-up of the account as the service has it.
func (p *pages) newest(r *desk.Request) (*merchant.Directory, document.Fields, error) {
	d := p.Directory()
	a := d.Accounts[r.Account.ID]
	if a == nil {
		return nil, nil, desk.ErrNoPage
	}
	return d, document.Written(d, a, r.Now), nil
}

// find finds the record that the address of a request names.
func (p *pages) find(r *desk.Request) (*editing, error) {
	s, err := sectionNamed(r)
	if err != nil {
		return nil, err
	}
	_, account, err := p.newest(r)
	if err != nil {
		return nil, err
	}
	e := &editing{section: s, account: account, record: account, handle: r.HTTP.PathValue("record")}
	if s.list != "" {
		e.record = nil
		records, _ := account[s.list].([]any)
		for _, one := range records {
			record, _ := one.(document.Fields)
			if known, _ := record[document.KnownBy(s.list)].(string); handle(known) == e.handle {
				e.record, e.known = record, known
			}
		}
		typed := r.HTTP.PostForm.Get(document.KnownBy(s.list))
		switch {
		case e.record != nil || e.handle == newRecord:
		case handle(typed) == e.handle: // somebody else took it out while it was in a form
			e.known = typed
		default:
			return nil, desk.ErrNoPage
		}
	}
	e.questions = asked(s.questions(), e.record)
	return e, nil
}

// path is the address of the record below that of the account.
func (e *editing) path() string {
	if e.handle == "" {
		return "setup/" + e.section.name
	}
	return "setup/" + e.section.name + "/" + e.handle
}

// edit is an edit of the record by whoever makes the request.
func (p *pages) edit(r *desk.Request, e *editing) *edits.Edit {
	return &edits.Edit{Account: r.Account.ID, List: e.section.list, Known: e.known, Of: fieldsOf(e.questions),
		Seen: r.HTTP.PostForm.Get("seen"), Allow: p.WebhooksAllow, By: r.By(), RequestID: r.RequestID}
}

// save does what the button of a form says.
func (p *pages) save(r *desk.Request) (desk.View, error) {
	e, err := p.find(r)
	if err != nil {
		return desk.View{}, err
	}
	if e.section.fresh && !r.Session.Proven(r.Real) {
		return r.ToConfirm(e.path()), nil
	}
	post := r.HTTP.PostForm
	change := p.edit(r, e)
	switch post.Get("do") {
	case "undo":
		return p.undo(r, e, change)
	case "remove":
		if e.section.list == "keys" {
			return p.revoke(r, e)
		}
		return p.apply(r, e, change)
	case "pin":
		return p.drawPIN(r, e)
	case "replay":
		return p.replay(r, e)
	case "rotate":
		return p.rotate(r, e)
	}
	wrong := map[string]string{} // by the name of a field
	of := p.forms(r, e.account)
	of.Meant = func(key, typed string) string {
		n, said := r.Meant(typed, r.Account.Currency)
		if said != "" {
			wrong[key] = said
			return typed
		}
		return n.String()
	}
	change.Is = of.Read(e.questions, post, e.record)
	meant(r, e.questions, change.Is)
	if e.known == "" && e.section.list != "" {
		change.Known, _ = change.Is[document.KnownBy(e.section.list)].(string)
	} else if e.section.list != "" { // which stays as it is
		change.Is[document.KnownBy(e.section.list)] = e.known
	}
	if err := p.pictures(r, e, change, wrong); err != nil {
		return desk.View{}, err
	}
	look := Look(post.Get("do"))
	if len(wrong) == 0 && e.section.list == "voucherDesigns" && slices.Contains(looks, look) {
		return p.look(r, e, change, look)
	}
	if post.Get("do") == "more" || len(wrong) > 0 {
		return p.show(r, e, shown{typed: change.Is, seen: post.Get("seen"), more: true, wrong: wrong})
	}
	return p.apply(r, e, change)
}

// apply makes an edit, and shows what it did, or what is wrong with it.
func (p *pages) apply(r *desk.Request, e *editing, change *edits.Edit) (desk.View, error) {
	done, err := change.Apply(r.Context(), p.Store, r.RealTime(), rand.Reader)
	again := shown{typed: change.Is, seen: change.Seen}
	if change.Is == nil {
		again.typed = e.record
	}
	if conflict, is := errors.AsType[edits.Conflict](err); is {
		again.conflict, again.theirs, again.seen = true, conflict.Is, conflict.Is.Mark()
		return p.show(r, e, again)
	}
	if problems, is := errors.AsType[edits.Problems](err); is {
		again.problems = problems
		return p.show(r, e, again)
	}
	if refused, is := errors.AsType[edits.Refused](err); is {
		return desk.View{}, refusal.New(refusal.ValidationFailure, "%s", refused.Said)
	}
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	p.Refresh(r.Context())
	return p.saved(r, e, done, p.told(r, e, change.Known))
}

// undone is an undo in a form: how the record was, and its mark now.
type undone struct {
	Known, Seen string
	Is          document.Fields
}

// undo makes a record what it was before an edit.
func (p *pages) undo(r *desk.Request, e *editing, change *edits.Edit) (desk.View, error) {
	var u undone
	if err := json.Unmarshal([]byte(r.HTTP.PostForm.Get("was")), &u); err != nil {
		return desk.View{}, desk.ErrNoPage
	}
	change.Known, change.Seen, change.Is = u.Known, u.Seen, fieldsIn(u.Is)
	if change.Is == nil && e.section.list == "keys" {
		return p.revoke(r, e)
	}
	for _, q := range e.questions {
		hash, is := pictureAt(change.Is[q.Name])
		if q.Ask != form.Picture || !is {
			continue
		}
		if a, err := p.Store.Asset(r.Context(), hash); err == nil { // it is in the store still
			change.Pictures = append(change.Pictures, a)
		}
	}
	return p.apply(r, e, change)
}

// fieldsIn makes Fields of what JSON made of them.
func fieldsIn(v map[string]any) document.Fields {
	if v == nil {
		return nil
	}
	all := document.Fields{}
	for name, one := range v {
		all[name] = valueIn(one)
	}
	return all
}

func valueIn(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return fieldsIn(v)
	case []any:
		all := []any{}
		for _, one := range v {
			all = append(all, valueIn(one))
		}
		return all
	}
	return v
}

// pictureAt is the picture that a field names.
func pictureAt(v any) (merchant.AssetHash, bool) {
	path, _ := v.(string)
	_, name, _ := strings.Cut(path, "/")
	return merchant.ParseAssetHash(name)
}

// revoke ends a key.
func (p *pages) revoke(r *desk.Request, e *editing) (desk.View, error) {
	d, _, err := p.newest(r)
	if err != nil {
		return desk.View{}, err
	}
	var key *merchant.Key
	for _, k := range d.Keys {
		if k.AccountID == r.Account.ID && k.Name == e.known && k.Till == merchant.NoTill && k.Works(r.Now) {
			key = k
		}
	}
	if key == nil {
		return desk.View{}, desk.ErrNoPage
	}
	if _, err := edits.RevokeKeyBy(r.Context(), p.Store, key.ID.String(), r.RealTime(), r.By(), r.RequestID); err != nil {
		return desk.View{}, service.Stored(err)
	}
	p.Refresh(r.Context())
	told := []string{r.Locale.Text("console.setup.told.revoked", key.Name)}
	return p.saved(r, e, &edits.Edited{Report: &edits.Report{Changes: told}}, told)
}

// drawPIN sets a PIN for the first sign-in of a person, and shows it this once.
func (p *pages) drawPIN(r *desk.Request, e *editing) (desk.View, error) {
	if e.section.list != "people" || e.record == nil {
		return desk.View{}, desk.ErrNoPage
	}
	var drawn struct{ PIN string }
	if err := r.Operate(http.MethodPost, "/people/set-pin", "", map[string]any{"name": e.known}, &drawn); err != nil {
		return desk.View{}, err
	}
	v, err := p.show(r, e, shown{seen: e.record.Some(fieldsOf(e.questions)).Mark(), typed: e.record, pin: drawn.PIN})
	return v, err
}
