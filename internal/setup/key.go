package setup

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/base/normalize"
	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/setup/document"
	"boon.example/internal/setup/told"
)

// keyName is what keys are matched by: their owner, zero for the system, and their name.
type keyName struct {
	owner guid.ID
	name  string
}

// draft is what a key needs of chance, drawn before it is known whether it will be made.
type draft struct {
	id   guid.ID
	text string // of a key without a secret in the file
}

func draw(random io.Reader, kind merchant.KeyKind, test bool) (draft, error) {
	id, err := uuid.NewV7FromReader(random)
	if err != nil {
		return draft{}, fmt.Errorf("drawing the id of a key: %w", err)
	}
	text, err := merchant.NewKey(random, kind, test)
	if err != nil {
		return draft{}, fmt.Errorf("drawing a key: %w", err)
	}
	return draft{guid.ID(id), text}, nil
}

func (f *File) draw(random io.Reader) (map[keyName]draft, error) {
	drawn := make(map[keyName]draft)
	for k := range f.EveryKey {
		d, err := draw(random, k.Kind(), k.Test)
		if err != nil {
			return nil, err
		}
		drawn[keyName{k.Owner, k.Name}] = d
	}
	return drawn, nil
}

// byName sorts the keys of a directory, the oldest first among those of one name.
func byName(d *merchant.Directory) map[keyName][]*merchant.Key {
	names := make(map[keyName][]*merchant.Key)
	for _, k := range d.Keys {
		name := keyName{k.AccountID, k.Name}
		names[name] = append(names[name], k)
	}
	for _, keys := range names {
		slices.SortFunc(keys, compareKeys)
	}
	return names
}

// pick finds the working keys among those of one name, of which an integrator may have several, and the youngest of the
// others, nil: there is none.
func pick(keys []*merchant.Key, now time.Time) (live []*merchant.Key, dead *merchant.Key) {
	for _, k := range keys {
		if k.Works(now) {
			live = append(live, k)
		} else {
			dead = k
		}
	}
	return live, dead
}

// places names the locations of a key.
func places(d *merchant.Directory, k *merchant.Key) string {
	return told.Locations("locations", k.Locations, d.Accounts[k.AccountID]).Words
}

// key plans what is to be done for one key of the file, which is for all working keys of its name. What was revoked
// stays revoked, whatever the file says: only a secret that was never seen before makes a new key of an old name.
func (p *plan) key(k *document.Key, label string, a *merchant.Account) {
	if k.Walked {
		p.note(label, "key %s has a secret that was typed along a keyboard or the alphabet: it could be guessed. Leave "+
			"secret out under a new name, and boon apply makes one.", k.Name)
	}
	live, dead := pick(p.keys[keyName{k.Owner, k.Name}], p.now)
	holder := p.current.Keys[k.Hash]
	switch {
	case slices.ContainsFunc(live, func(k *merchant.Key) bool { return k.Till != merchant.NoTill }):
		p.problem(k.At, "The name %s is that of a till (boon till pair); give this key another one, or revoke the till.",
			k.Name)
	case k.Kind() == merchant.SystemKey && len(live) > 0 && live[0].Test != k.Test:
		p.problem(k.At, "%s", otherMode(live[0]))
	case holder != nil && (holder.AccountID != k.Owner || holder.Name != k.Name):
		p.problem(k.At, "The secret of key %s is that of key %s of %s already; each key needs one of its own, and keys "+
			"are not renamed.", k.Name, holder.Name, ownerOf(p.current, holder))
	case holder != nil && !holder.Works(p.now):
		p.note(label, "key %s has a secret here that %s; it stays so. Give it a new secret, or take it out of the file.",
			k.Name, end(holder))
	case holder != nil || len(live) > 0 && k.Hash == merchant.KeyHash{}:
		for _, old := range live {
			p.enable(old, k, label, a, nameAmong(live, old))
		}
	case len(live) > 0:
		p.replace(live, k, label)
	case k.Hash == merchant.KeyHash{} && dead != nil && dead.Till == merchant.NoTill && p.edits:
		at := k.At
		at.Path += ".name"
		p.problem(at, "A key of this name %s; it stays so. Choose another name.", end(dead))
	case k.Hash == merchant.KeyHash{} && dead != nil && dead.Till == merchant.NoTill:
		p.note(label, "key %s %s; it stays so. Give it a new secret, or take it out of the file.", k.Name, end(dead))
	default:
		words := phrase.Kept("added key %s").Say(k.Name)
		if k.Kind() == merchant.AccountKey {
			words = phrase.Kept("added key %s (%+s)").Say(k.Name, k.May)
		}
		p.tell(of(label, words), k.Accounts)
		p.serve(nil, k.Accounts, label, k.Name)
		p.add(k, label)
	}
}

// nameAmong names one of the working keys of a name, so that it is told from the others.
func nameAmong(live []*merchant.Key, k *merchant.Key) string {
	if len(live) == 1 {
		return k.Name
	}
	return fmt.Sprintf("%s (%s)", k.Name, k.ID)
}

// otherMode says why a system key cannot be of the mode that k is not of.
func otherMode(k *merchant.Key) *phrase.Phrase {
	return phrase.New("The key %s is for %s accounts; a key works in one mode only. Give the one for %s accounts "+
		"another name.", k.Name, merchant.ModeName(k.Test), merchant.ModeName(!k.Test))
}

// tell reports a change, also to the audit trails of accounts that a system key sends for.
func (p *plan) tell(words string, accounts []guid.ID) {
	p.Changes = append(p.Changes, words)
	p.trail(words, accounts...)
}

func (p *plan) trail(words string, accounts ...guid.ID) {
	for _, id := range accounts {
		p.changes.Of[id] = strings.TrimPrefix(p.changes.Of[id]+"\n"+words, "\n")
	}
}

// serve tells accounts that a system key sends for them now, or does no more. Which others it serves is nothing to
// them.
func (p *plan) serve(before, after []guid.ID, label, name string) {
	for _, id := range slices.Concat(before, after) {
		if was, is := slices.Contains(before, id), slices.Contains(after, id); was != is {
			p.trail(of(label, phrase.Kept("key %s: sending for this account from %v to %v").Say(name,
				told.OnOff("", was).Words, told.OnOff("", is).Words)), id)
		}
	}
}

// replace ends all working keys of a name for one with a new secret.
func (p *plan) replace(live []*merchant.Key, k *document.Key, label string) {
	var served []guid.ID
	for _, old := range live {
		p.tell(of(label, phrase.Kept("replaced the secret of key %s; the old one stops working").Say(nameAmong(live, old))),
			old.Accounts)
		served = append(served, old.Accounts...)
		revoked := *old
		revoked.RevokedAt = moment(p.now)
		p.changes.Keys = append(p.changes.Keys, &revoked)
	}
	p.serve(slices.Compact(document.SortedIDs(served)), k.Accounts, label, k.Name)
	p.add(k, label)
}

// end says why a key does not work any more.
func end(k *merchant.Key) *phrase.Phrase {
	if !k.RevokedAt.IsZero() {
		return phrase.New("was revoked at %s", k.RevokedAt.UTC().Format(time.RFC3339))
	}
	return phrase.New("expired at %s", k.ExpiresAt.UTC().Format(time.RFC3339))
}

func ownerOf(d *merchant.Directory, k *merchant.Key) string {
	if a := d.Accounts[k.AccountID]; a != nil {
		return "account " + a.Name
	}
	return "the system"
}

// serves names the accounts that a system key sends for.
func (p *plan) serves(ids []guid.ID) string {
	var names []string
	for _, id := range document.SortedIDs(ids) {
		name := id.String()
		if a := p.current.Accounts[id]; a != nil {
			name = a.Name + " (" + name + ")"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " and ")
}

func programNames(ids []guid.ID) string {
	var names []string
	for _, id := range document.SortedIDs(ids) {
		program, _ := merchant.ProgramByID(id)
		names = append(names, program.Name)
	}
	return strings.Join(names, " and ")
}

// served refuses to have a system key send for an account that does not exist.
func (p *plan) served(k *document.Key) {
	for _, id := range k.Accounts {
		at := slices.IndexFunc(p.Accounts, func(a document.Account) bool { return a.Record.ID == id })
		switch a := p.current.Accounts[id]; {
		case a == nil && at < 0:
			p.problem(k.At, "There is no account %s for key %s to send for.", id, k.Name)
		case a != nil && a.Test != k.Test || at >= 0 && p.Accounts[at].Record.Test != k.Test:
			p.problem(k.At, "The key %s is for %s accounts, and account %s is none; a key works in one mode only.", k.Name,
				merchant.ModeName(k.Test), id)
		}
	}
}

func expiry(t time.Time) string {
	if t.IsZero() {
		return phrase.Kept("never").Say()
	}
	return t.UTC().Format(time.RFC3339)
}

// notSaid is what a key says of agents that says nothing of them.
const notSaid phrase.Kept = "not said"

// enable gives a working key the locations, permissions and end of the file. It is told of under a name.
func (p *plan) enable(live *merchant.Key, k *document.Key, label string, a *merchant.Account, name string) {
	changed, already := *live, len(p.Changes)
	change := func(what, from, to string) string {
		return of(label, phrase.Kept("changed key %s: %v from %+v to %+v").Say(name, what, from, to))
	}
	tell := func(what, from, to string) { p.tell(change(what, from, to), k.Accounts) }
	if !slices.Equal(document.SortedIDs(live.Locations), k.Locations) {
		before := a
		if old := p.current.Accounts[a.ID]; old != nil {
			before = old
		}
		changed.Locations = k.Locations
		tell("locations", told.Locations("locations", live.Locations, before).Words,
			told.Locations("locations", k.Locations, a).Words)
	}
	if live.Kind == merchant.AccountKey && live.Permissions != k.May {
		changed.Permissions = k.May
		p.tell(of(label, phrase.Kept("changed key %s: permissions from %+s to %+s").Say(name, live.Permissions, k.May)),
			k.Accounts)
	}
	if live.Kind == merchant.SystemKey {
		changed.Accounts, changed.Programs = k.Accounts, k.Programs
		if from, to := p.serves(live.Accounts), p.serves(k.Accounts); from != to {
			p.tell(change("accounts", from, to), nil) // they are not told of each other
			p.serve(live.Accounts, k.Accounts, label, name)
		}
		if from, to := programNames(live.Programs), programNames(k.Programs); from != to {
			tell("programs", from, to)
		}
	}
	if (k.Never || !k.Expires.IsZero()) && !k.Expires.Equal(live.ExpiresAt) {
		changed.ExpiresAt = k.Expires
		tell("expires", expiry(live.ExpiresAt), expiry(k.Expires))
	}
	if live.Limits != k.Limits {
		var c money.Currency
		if a != nil {
			c = a.Currency
		}
		changed.Limits = k.Limits
		tell("limits", document.LimitsField(live.Limits, c).Words, document.LimitsField(k.Limits, c).Words)
	}
	if !slices.Equal(live.Networks, k.Networks) {
		changed.Networks = k.Networks
		tell("networks", live.Networks.String(), k.Networks.String())
	}
	if live.Agent != k.Agent {
		changed.Agent = k.Agent
		tell("agent", cmp.Or(string(live.Agent), notSaid.Say()), cmp.Or(string(k.Agent), notSaid.Say()))
	}
	if len(p.Changes) > already {
		p.changes.Keys = append(p.changes.Keys, &changed)
	}
}

// add makes a key of the file's secret, or of one that was drawn and is shown in the report.
func (p *plan) add(k *document.Key, label string) {
	if !k.Expires.IsZero() && !k.Expires.After(p.now) {
		p.problem(k.At, "Key %s would have expired already; its end must lie ahead.", k.Name)
	}
	if ownText := k.Hash != (merchant.KeyHash{}); ownText && k.Test != k.SaysTest {
		p.problem(k.At, "The secrets of test keys begin with boon_test_, and no others do: that of key %s, which is for %s "+
			"accounts, will not do. Leave secret out, and boon apply makes one.", k.Name, merchant.ModeName(k.Test))
	}
	drawn := p.drawn[keyName{k.Owner, k.Name}]
	added := &merchant.Key{
		ID: drawn.id, Kind: k.Kind(), AccountID: k.Owner, Test: k.Test, Name: k.Name,
		Hash: k.Hash, Hint: k.Hint, Locations: k.Locations, CreatedAt: moment(p.now), ExpiresAt: k.Expires,
		Permissions: k.May, Limits: k.Limits, Networks: k.Networks, Agent: k.Agent,
		Accounts: k.Accounts, Programs: k.Programs,
	}
	if k.Hash == (merchant.KeyHash{}) {
		added.Hash, added.Hint = merchant.HashKey(drawn.text), merchant.KeyHint(drawn.text)
		p.Keys = append(p.Keys, NewKey{Owner: label, Name: k.Name, Text: drawn.text})
	}
	p.changes.Keys = append(p.changes.Keys, added)
}

// moment is a time as databases keep it.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// stranded refuses to remove a location from under a key that stays limited to it: a key without its location would be
// good for nothing, or for everything.
func (p *plan) stranded(a *document.Account) {
	planned := make(map[guid.ID]*merchant.Key)
	for _, k := range p.changes.Keys {
		planned[k.ID] = k
	}
	for _, k := range sortedKeys(p.current) {
		if changed := planned[k.ID]; changed != nil {
			k = changed
		}
		if k.AccountID != a.Record.ID || !k.RevokedAt.IsZero() {
			continue
		}
		for _, id := range k.Locations {
			if a.Record.Location(id) == nil {
				p.problem(a.At, "The location %s cannot be removed: key %s is limited to it. Revoke the key first (boon key "+
					"revoke).", id, k.Name)
			}
		}
	}
}

// sortedKeys lists the keys of a directory, the oldest first.
func sortedKeys(d *merchant.Directory) []*merchant.Key {
	return slices.SortedFunc(maps.Values(d.Keys), compareKeys)
}

func compareKeys(a, b *merchant.Key) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), a.ID.Compare(b.ID))
}

// KeyRequest asks for a new API key.
type KeyRequest struct {
	Account   guid.ID // zero: a system key
	Name      string
	Locations []guid.ID // of the account; empty: all
	ExpiresAt time.Time // zero: never
	// Permissions say what an account's key may do. A system key is asked for without: what it may do is always the same.
	Permissions merchant.Permissions
	// Accounts and Programs are those that a system key may send for.
	Accounts, Programs []guid.ID
	// what it may do in a day, by name as a set-up file has them; empty: no limits of its own
	Limits   map[string]string
	Networks merchant.Networks // from which it may be used; none: everywhere
	Agent    merchant.AgentUse // what agents with it may do
	// the key of a till at one location, which waits merchant.PairWithin for its device; its text is a token to pair it by
	Till bool
	// of a system key: it is for test accounts. An account's key is of its account's mode
	Test bool
}

// CreateKey makes an API key and gives it with its text, which is kept nowhere. Among the working keys of one owner
// each name stands once. An error that is Refused says what to ask for differently.
func CreateKey(ctx context.Context, store Store, q KeyRequest, now time.Time, random io.Reader) (merchant.Key, string,
	error) {
	kind := merchant.AccountKey
	if q.Account.IsZero() {
		kind = merchant.SystemKey
	}
	d, err := draw(random, kind, false)
	if err != nil {
		return merchant.Key{}, "", err
	}
	forTest, err := merchant.NewKey(random, kind, true)
	if err != nil {
		return merchant.Key{}, "", fmt.Errorf("drawing a key: %w", err)
	}
	k := merchant.Key{ID: d.id, Kind: kind, AccountID: q.Account, Name: normalize.String(q.Name),
		Hint: merchant.KeyHint(d.text), Test: q.Test, Hash: merchant.HashKey(d.text),
		Locations: slices.Compact(document.SortedIDs(q.Locations)), CreatedAt: moment(now), Permissions: q.Permissions,
		Accounts: slices.Compact(document.SortedIDs(q.Accounts)), Programs: slices.Compact(document.SortedIDs(q.Programs)),
		Networks: slices.Compact(q.Networks.Sorted()), Agent: q.Agent}
	if !q.ExpiresAt.IsZero() {
		k.ExpiresAt = moment(q.ExpiresAt)
	}
	if q.Till {
		d.text = rand.Text() // 130 bits, in letters that a QR code has room for
		k.Till, k.Hash, k.Hint, k.ExpiresAt = merchant.WaitingTill, merchant.HashKey(d.text), "",
			moment(now.Add(merchant.PairWithin))
	}
	err = store.Configure(ctx, func(current *merchant.Directory, _ Uses) (Changes, error) {
		var c *money.Currency
		if a := current.Accounts[k.AccountID]; a != nil {
			c, k.Test = &a.Currency, a.Test
		}
		if k.Test != q.Test && q.Test {
			return Changes{}, refuse("Account %s is a live account, and so are its keys.", k.AccountID)
		}
		if err := permit(current, &k, now); err != nil {
			return Changes{}, err
		}
		if k.Test && !q.Till {
			d.text = forTest
			k.Hint, k.Hash = merchant.KeyHint(d.text), merchant.HashKey(d.text)
		}
		if k.Limits, err = document.ReadLimits(q.Limits, c); err != nil {
			return Changes{}, refuse("%s", err)
		}
		made := k
		return Changes{Keys: []*merchant.Key{&made}, What: addedKey(current, &k)}, nil
	})
	if err != nil {
		return merchant.Key{}, "", err
	}
	return k, d.text, nil
}

// addedKey says what key was made, and what it may do.
func addedKey(d *merchant.Directory, k *merchant.Key) string {
	what := phrase.Kept("added key %s (%-s)").Say(k.Name, k.ID)
	if k.Kind == merchant.AccountKey {
		what = phrase.Kept("%v, which may: %+s").Say(what, k.Permissions)
	}
	if len(k.Networks) > 0 {
		what = phrase.Kept("%v, from %s").Say(what, k.Networks)
	}
	if k.Agent != "" {
		what = phrase.Kept("%v; agent: %s").Say(what, k.Agent)
	}
	if k.Till != merchant.NoTill {
		what = phrase.Kept("%v; it waits for its device as a till at %s").Say(what, places(d, k))
	}
	return of(ownerOf(d, k), what)
}

// permit judges a key that is to be made.
func permit(d *merchant.Directory, k *merchant.Key, now time.Time) error {
	if err := document.CheckName(k.Name); err != nil {
		return refuse("The name of the key will not do. %s", err)
	}
	if len(k.Networks) > merchant.MaxNetworks {
		return refuse("A key is limited to %d networks at most.", merchant.MaxNetworks)
	}
	if !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(now) {
		return refuse("The key would have expired already; its end must lie ahead.")
	}
	a := d.Accounts[k.AccountID]
	switch {
	case k.Kind == merchant.SystemKey && len(k.Locations) > 0:
		return refuse("A system key belongs to no account and cannot be limited to locations.")
	case k.Kind == merchant.AccountKey && a == nil:
		return refuse("There is no account %s.", k.AccountID)
	case k.Kind == merchant.SystemKey && k.Permissions != 0:
		return refuse("What a system key may do is always the same: leave role and permissions out.")
	case k.Till != merchant.NoTill && (a == nil || len(k.Locations) != 1):
		return refuse("A till stands at one location of an account; name it.")
	case k.Till != merchant.NoTill && k.Permissions&^merchant.TillPermissions != 0:
		return refuse("A till may not be given the permission %s.", (k.Permissions &^ merchant.TillPermissions).String())
	case k.Kind == merchant.AccountKey && k.Permissions == 0:
		return refuse("Say what the key may do: give it a role or permissions.")
	}
	for _, id := range k.Accounts {
		if a := d.Accounts[id]; a == nil {
			return refuse("There is no account %s.", id)
		} else if a.Test != k.Test {
			return refuse("Account %s is a %s account; a key works in one mode only.", id, a.Mode())
		}
	}
	for _, id := range k.Programs {
		if _, exists := merchant.ProgramByID(id); !exists {
			return refuse("There is no program %s.", id)
		}
	}
	for _, id := range k.Locations {
		if a.Location(id) == nil {
			return refuse("Account %s has no location %s.", a.Name, id)
		}
	}
	// Two keys of one integrator may overlap while it changes over: what it made, and its Idempotency-Keys, go by its
	// name.
	live, _ := pick(byName(d)[keyName{k.AccountID, k.Name}], now)
	switch {
	case len(live) == 0:
	case k.Kind == merchant.AccountKey:
		return refuse("There is a working key named %s already (%s). Choose another name, or revoke that key first.", k.Name,
			live[0].ID)
	case live[0].Test != k.Test:
		return refuse("%s", otherMode(live[0]))
	}
	return nil
}

// RevokeKey ends an API key for good and gives it as it is afterwards. It is named by its id, or by its name as long as
// only one working key has it. Revoking a revoked key by its id changes nothing.
func RevokeKey(ctx context.Context, store Store, idOrName string, now time.Time) (merchant.Key, error) {
	return RevokeKeyBy(ctx, store, idOrName, now, merchant.Actor{}, "")
}

// RevokeKeyBy is RevokeKey at the request of somebody who is no operator, for the audit trail.
func RevokeKeyBy(ctx context.Context, store Store, idOrName string, now time.Time, by merchant.Actor,
	requestID string) (merchant.Key, error) {
	var revoked merchant.Key
	err := store.Configure(ctx, func(current *merchant.Directory, _ Uses) (Changes, error) {
		k, err := findKey(current, idOrName)
		if err != nil {
			return Changes{}, err
		}
		if revoked = *k; !k.RevokedAt.IsZero() {
			return Changes{}, nil
		}
		revoked.RevokedAt = moment(now)
		saved := revoked
		return Changes{Keys: []*merchant.Key{&saved}, By: by, RequestID: requestID,
			What: of(ownerOf(current, k), phrase.Kept("revoked key %s (%-s)").Say(k.Name, k.ID))}, nil
	})
	if err != nil {
		return merchant.Key{}, err
	}
	return revoked, nil
}

// findKey finds a key by its id, or the only one that has the name and is not revoked.
func findKey(d *merchant.Directory, idOrName string) (*merchant.Key, error) {
	id, err := guid.Parse(idOrName)
	var named []*merchant.Key
	for _, k := range sortedKeys(d) {
		if err == nil && k.ID == id {
			return k, nil
		}
		if k.Name == idOrName && k.RevokedAt.IsZero() {
			named = append(named, k)
		}
	}
	switch len(named) {
	case 0:
		return nil, refuse("There is no key with the id or name %q that is not revoked already.", idOrName)
	case 1:
		return named[0], nil
	}
	var ids []string
	for _, k := range named {
		ids = append(ids, k.ID.String())
	}
	return nil, refuse("There are %d keys named %q; name the one you mean by its id: %s.", len(named), idOrName,
		strings.Join(ids, ", "))
}

// Refused is an error in a request for a key, in a sentence for the operator.
type Refused struct{ Said *phrase.Phrase }

// Error is the sentence in English.
func (r Refused) Error() string { return r.Said.Error() }

func refuse(text phrase.Text, args ...any) error { return Refused{phrase.New(text, args...)} }
