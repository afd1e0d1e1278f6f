package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup/document"
)

// Edit is what somebody makes of one record of an account, or of the account's own fields, after they have seen it.
type Edit struct {
	Account guid.ID
	List    string   // of the set-up file, such as promotions; "": the account's own fields
	Known   string   // what the record is known by in its list: see document.KnownBy
	Of      []string // the fields that the edit is about; those that it does not name stay as they are
	// the mark of these fields as they were seen; "": there was no record
	Seen string
	Is   document.Fields // how they are to be; nil: the record is to be taken out

	Pictures  []merchant.Asset         // new ones that the record has
	Allow     merchant.WebhookNetworks // where webhooks may be beside public addresses
	By        merchant.Actor
	RequestID string
}

// Edited is what an edit did.
type Edited struct {
	*Report

	// Undo makes the record what it was before. nil: nothing was changed, or something would not come back, such as a
	// secret or a PIN, which nobody can read.
	Undo *Edit
}

// Conflict is the error of an edit of what somebody else has changed since it was seen. Nothing was changed.
type Conflict struct {
	Is document.Fields // how the fields are now; nil: the record was taken out
}

// Error says so.
func (Conflict) Error() string { return "Somebody else has changed this meanwhile." }

// Apply changes the record in one transaction, with the checks and the sentences of a set-up file. An error is a
// Conflict, Problems, Refused or internal; after each nothing was changed. The paths of problems of the record begin in
// it; those of others begin with accounts[0]. An edit that was made already changes nothing, and is no conflict.
func (e *Edit) Apply(ctx context.Context, store Store, now time.Time, random io.Reader) (*Edited, error) {
	const tries = 10
	for range tries {
		before, err := store.Directory(ctx)
		if err != nil {
			return nil, err
		}
		a := before.Accounts[e.Account]
		if a == nil {
			return nil, refuse("There is no account %s.", e.Account)
		}
		account := document.Written(before, a, now)
		was := e.record(account)
		if err := e.meets(was); err != nil {
			return nil, err
		}
		at := e.put(account)
		report, err := e.apply(ctx, store, account, before, now, random)
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return nil, within(err, at)
		}
		noted := notes(before, a, now)
		report.Notes = slices.DeleteFunc(report.Notes, func(n Note) bool { return slices.Contains(noted, n.String()) })
		return &Edited{Report: report, Undo: e.undo(was, before, report, now)}, nil
	}
	return nil, errMoved
}

// meets refuses an edit of what is not as it was seen, and a new record with the name of another one.
func (e *Edit) meets(was document.Fields) error {
	by := document.KnownBy(e.List)
	switch {
	case was.Mark() == e.Seen || was.Mark() == e.Is.Mark():
		return nil
	case e.Seen == "" && e.List != "" && by != "id":
		said := phrase.New("There is one of these already. Change that one, or choose another.")
		if e.List == "keys" || e.List == "webhooks" { // this may be the same form, sent again
			said = phrase.New("%s %s", said,
				phrase.New("If you made it just now and did not see its secret, remove it, and make another one."))
		}
		return Problems{{File: "typed", Path: by, Said: said}}
	}
	return Conflict{was}
}

// notes are what applying an account as it is would note: an edit is told only of what it brings.
func notes(d *merchant.Directory, a *merchant.Account, now time.Time) (said []string) {
	account := document.Written(d, a, now)
	delete(account, "webhooks")
	delete(account, "keys")
	file, err := read(document.ReadTyped(account, document.Shown(a), nil))
	if err != nil {
		return nil
	}
	p := planned(file, d, now)
	if err := p.make(); err != nil {
		return nil
	}
	for _, n := range p.Notes {
		said = append(said, n.String())
	}
	return said
}

// Look gives the account as it would be with the edit, for whoever shows what it would look like. Nothing is checked
// that the set-up there is would refuse. An error is Problems or Refused.
func (e *Edit) Look(d *merchant.Directory, now time.Time) (*merchant.Account, error) {
	a := d.Accounts[e.Account]
	if a == nil {
		return nil, refuse("There is no account %s.", e.Account)
	}
	account := document.Written(d, a, now)
	at := e.put(account)
	file, err := document.ReadTyped(account, slices.Concat(document.Shown(a), e.Pictures), e.Allow)
	if err != nil {
		return nil, within(err, at)
	}
	return file.Accounts[0].Record, nil
}

// apply applies the account with the edit in it.
func (e *Edit) apply(ctx context.Context, store Store, account document.Fields, before *merchant.Directory,
	now time.Time, random io.Reader) (*Report, error) {
	pictures := slices.Concat(document.Shown(before.Accounts[e.Account]), e.Pictures)
	file, err := read(document.ReadTyped(account, pictures, e.Allow))
	if err != nil {
		return nil, err
	}
	e.sayNever(file)
	return file.apply(ctx, store, now, random, manner{by: e.By, requestID: e.RequestID, at: before.Version})
}

// sayNever has a key that the edit leaves without an end never expire.
func (e *Edit) sayNever(file *File) {
	if e.List == "keys" && e.Is != nil && slices.Contains(e.Of, "expires") {
		k := &file.Accounts[0].Keys[0]
		k.Never = k.Expires.IsZero()
	}
}

// undo takes an edit back that was made of fields as they were.
func (e *Edit) undo(was document.Fields, before *merchant.Directory, report *Report, now time.Time) *Edit {
	if len(report.Changes) == 0 {
		return nil
	}
	undo, after := *e, with(before, &report.made)
	undo.Is, undo.Pictures, undo.Seen = was, nil, e.Record(after, now).Mark()
	if !undo.restores(before, after, now) {
		return nil
	}
	return &undo
}

// restores reports whether the edit makes one set-up of another. Of a key it takes out, it is revoked.
func (e *Edit) restores(before, after *merchant.Directory, now time.Time) bool {
	if e.List == "keys" && e.Is == nil {
		return true
	}
	was := before.Accounts[e.Account]
	account := document.Written(after, after.Accounts[e.Account], now)
	e.put(account)
	file, err := read(document.ReadTyped(account, document.Shown(was), e.Allow))
	if err != nil {
		return false
	}
	e.sayNever(file)
	p := planned(file, after, now)
	if err := p.make(); err != nil {
		return false
	}
	anew := func(w *merchant.Webhook) bool { return !w.Deleted && before.Webhook(e.Account, w.ID) == nil }
	if slices.ContainsFunc(p.changes.Webhooks, anew) {
		return false
	}
	back := with(after, &p.changes)
	words, _ := document.Diff(was, back.Accounts[e.Account])
	return len(words) == 0 && e.Record(back, now).Mark() == e.Is.Mark()
}

// planned is the plan of a file that an edit made, which nothing in the set-up's gifts refuses.
func planned(file *File, d *merchant.Directory, now time.Time) *plan {
	return &plan{File: file, current: d, now: now, keys: byName(d), edits: true,
		uses: func(guid.ID) (map[guid.ID]bool, error) { return nil, nil }}
}

// within has the paths of problems begin in the record that is at a path.
func within(err error, at string) error {
	problems, is := errors.AsType[Problems](err)
	if !is {
		return err
	}
	problems = slices.Clone(problems)
	for n := range problems {
		if path, in := strings.CutPrefix(problems[n].Path, at+"."); in && (at != "accounts[0]" || !inList(path)) {
			problems[n].Path = path
		}
	}
	return problems
}

// inList reports whether a path of an account is in one of its lists of records.
func inList(path string) bool {
	list, _, found := strings.Cut(path, "[")
	return found && slices.Contains(document.Lists(), list)
}

// Record gives the fields that the edit is about as they are; nil: there is no record.
func (e *Edit) Record(d *merchant.Directory, now time.Time) document.Fields {
	a := d.Accounts[e.Account]
	if a == nil {
		return nil
	}
	return e.record(document.Written(d, a, now))
}

func (e *Edit) record(account document.Fields) document.Fields {
	if e.List != "" {
		account, _ = account.Find(e.List, e.Known)
	}
	return account.Some(e.Of)
}

// put makes the edit in an account, and gives the path at which a problem of the record stands. Of keys, which stay
// where an account does not name them, it leaves the one that the edit is about, and of webhooks, which all stay where
// it names none, all or none.
func (e *Edit) put(account document.Fields) (path string) {
	for _, list := range []string{"keys", "webhooks"} {
		if e.List != list {
			delete(account, list)
		}
	}
	if e.List == "" {
		e.replace(account)
		return "accounts[0]"
	}
	record, at := account.Find(e.List, e.Known)
	all, _ := account[e.List].([]any)
	all = slices.Concat([]any{}, all) // which an account with none says
	if at < 0 {
		record, at = document.Fields{}, len(all)
		all = append(all, record)
	}
	e.replace(record)
	switch {
	case e.List == "keys" && e.Is != nil:
		all, at = []any{record}, 0
	case e.List == "keys":
		all = nil
	case e.Is == nil:
		all = slices.Delete(all, at, at+1)
	}
	account[e.List] = all
	return fmt.Sprintf("accounts[0].%s[%d]", e.List, at)
}

// replace makes the fields of a record what the edit says.
func (e *Edit) replace(record document.Fields) {
	for _, name := range e.Of {
		delete(record, name)
	}
	maps.Copy(record, e.Is.Some(e.Of))
}

// with is a set-up after a change.
func with(d *merchant.Directory, c *Changes) *merchant.Directory {
	after := &merchant.Directory{Version: d.Version, Accounts: maps.Clone(d.Accounts), Keys: maps.Clone(d.Keys),
		Webhooks: maps.Clone(d.Webhooks)}
	for _, a := range c.Accounts {
		after.Accounts[a.ID] = a
	}
	for _, k := range c.Keys {
		after.Keys[k.Hash] = k
	}
	for _, w := range c.Webhooks {
		of := slices.DeleteFunc(slices.Clone(after.Webhooks[w.AccountID]),
			func(is *merchant.Webhook) bool { return is.ID == w.ID })
		if !w.Deleted {
			of = append(of, w)
		}
		if after.Webhooks == nil {
			after.Webhooks = map[guid.ID][]*merchant.Webhook{}
		}
		after.Webhooks[w.AccountID] = of
	}
	return after
}
