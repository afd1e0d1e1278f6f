package document

import (
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// File is a set-up file that was read and found free of contradictions in itself. It holds no secrets, only their
// hashes.
type File struct {
	Name       string // what it is called in messages
	Accounts   []Account
	SystemKeys []Key
}

// Records are the accounts that the file describes.
func (f *File) Records() (all []*merchant.Account) {
	for i := range f.Accounts {
		all = append(all, f.Accounts[i].Record)
	}
	return all
}

// Secrets reports whether secrets of keys or hashes of PINs stand in the file.
func (f *File) Secrets() bool {
	for k := range f.EveryKey {
		if k.Hash != (merchant.KeyHash{}) {
			return true
		}
	}
	return slices.ContainsFunc(f.Records(), func(a *merchant.Account) bool { return len(a.People) > 0 })
}

// Account is what the file says of one account.
type Account struct {
	At     Place
	Record *merchant.Account // in canonical order
	Assets []merchant.Asset  // the pictures of its designs
	// of each picture, by its hash, that of the file it was made of
	Files map[merchant.AssetHash]merchant.AssetHash
	Keys  []Key

	Webhooks []Webhook // nil: the file does not say

	Unproven    []Unproven
	NamesPeople bool // the file says who works at its tills, if it says that nobody does
}

// Key is what the file says of one API key.
type Key struct {
	At        Place
	Owner     guid.ID
	Test      bool // its mode
	Name      string
	Hash      merchant.KeyHash // of its secret; zero: one is to be made
	Hint      string
	SaysTest  bool      // its secret says that it is a test account's
	Walked    bool      // its secret was typed along a keyboard
	Locations []guid.ID // sorted; empty: all
	May       merchant.Permissions
	Accounts  []guid.ID // of a system key, sorted: for which it may send; none: empty
	Programs  []guid.ID // likewise
	Expires   time.Time // zero: never, or what the key has already
	Never     bool      // it never expires, whatever the key has already: an edit says so, and no file
	Limits    merchant.Limits
	Networks  merchant.Networks
	Agent     merchant.AgentUse
}

// Kind is whose key it is.
func (k *Key) Kind() merchant.KeyKind {
	if k.Owner.IsZero() {
		return merchant.SystemKey
	}
	return merchant.AccountKey
}

// EveryKey walks through the keys of the file, those of accounts first.
func (f *File) EveryKey(yield func(*Key) bool) {
	for _, a := range f.Accounts {
		for i := range a.Keys {
			if !yield(&a.Keys[i]) {
				return
			}
		}
	}
	for i := range f.SystemKeys {
		if !yield(&f.SystemKeys[i]) {
			return
		}
	}
}

// Parse reads a set-up file that names no pictures. name is what it is called in messages. Every error is of type
// Problems: all that is wrong with the file, each with its line.
func Parse(name string, data []byte) (*File, error) { return ParseBeside(name, data, nil, nil) }

// ParseBeside is Parse for a file that may name pictures: by their paths in folder, which is the one that the file
// lies in; and webhooks in networks that the operator allows.
func ParseBeside(name string, data []byte, folder fs.FS, allow merchant.WebhookNetworks) (*File, error) {
	return parse(&reader{file: name, folder: folder, allow: allow}, data)
}

// ParseDemo is Parse for boon demo: it takes the secrets of the published examples, which are refused elsewhere.
func ParseDemo(name string, data []byte) (*File, error) {
	return parse(&reader{file: name, demo: true}, data)
}

func parse(r *reader, data []byte) (*File, error) {
	return r.read(func(f *File) {
		if root, ok := r.document(data); ok {
			r.setup(root, f)
		}
	})
}

// read has a set-up be read, and gives it or all that is wrong with it.
func (r *reader) read(root func(*File)) (*File, error) {
	r.ids, r.secrets = make(map[guid.ID]int), make(map[merchant.KeyHash]int)
	f := &File{Name: r.file}
	root(f)
	if err := r.problems.Err(r.file); err != nil {
		return nil, err
	}
	return f, nil
}

func (r *reader) setup(root value, file *File) {
	f := r.fields(root, "accounts", "systemKeys")
	if len(f.values) == 0 && len(r.problems) == 0 {
		r.inFile(0, "", empty)
	}
	accounts, _ := f.list("accounts")
	for _, v := range accounts {
		file.Accounts = append(file.Accounts, r.account(v))
	}
	file.SystemKeys = r.keys(f, "systemKeys")
}

func (r *reader) account(v value) Account {
	a := new(merchant.Account)
	r.in = &underway{account: a, lines: make(map[string]int),
		files: make(map[merchant.AssetHash]merchant.AssetHash)}
	defer func() { r.in = nil }()
	f := r.fill(v, definitionOf(reflect.TypeFor[merchant.Account]()), reflect.ValueOf(a).Elem(), "webhooks", "keys")
	f.requireLanguage(a)
	checkBooks(f, a)
	checkWallet(f, a)
	keys := r.keys(f, "keys")
	for i := range keys {
		keys[i].Owner, keys[i].Test = a.ID, a.Test
	}
	for _, check := range r.in.later {
		check()
	}
	_, namesPeople := f.values["people"]
	return Account{At: v.place(), Record: canonical(a), Assets: r.in.assets, Files: r.in.files, Keys: keys,
		Webhooks: r.webhooks(f), Unproven: r.in.unproven, NamesPeople: namesPeople}
}

// each reads every member of a list.
func each[T any](f fields, name string, read func(value) T) []T {
	members, _ := f.list(name)
	var list []T
	for _, v := range members {
		list = append(list, read(v))
	}
	return list
}

// keys reads a list of API keys: of the account that is being read, or system keys, which have no locations.
func (r *reader) keys(f fields, list string) []Key {
	names := make(map[string]int)
	return each(f, list, func(v value) Key {
		allowed := []string{"name", "secret", "expires", "limits", "networks", "agent", "locations", "role",
			"permissions"}
		if r.in == nil {
			allowed = append(allowed[:6], "mode", "accounts", "programs")
		}
		f := r.fields(v, allowed...)
		f.require("name")
		k := Key{At: v.place(), Name: f.label("name")}
		if line, double := names[k.Name]; double && k.Name != "" {
			r.problem(f.values["name"], "There is a key of this name%s already; keys are told apart by their names.",
				r.onLine(line))
		}
		names[k.Name] = v.Line
		k.Hash, k.Hint, k.SaysTest, k.Walked = f.secret("secret")
		k.Expires = f.instant("expires")
		k.Networks, k.Agent = f.networks("networks"), either(merchant.AgentReads, merchant.AgentWrites)(f, "agent")
		k.Limits = f.limits(merchant.Limits{}, r.in.currency())
		if r.in != nil {
			k.Locations, k.May = f.locations("locations"), f.permissions()
		} else {
			k.Accounts = f.idList("accounts", noneNamed, func(value, guid.ID) {}) // the set-up tells whether they exist
			k.Programs, k.Test = f.programs("programs"), f.mode("mode")
		}
		return k
	})
}

// canonical gives a copy of an account in which all records stand in the one order in which they are stored: the
// order in a file means nothing. The lists within a record are put in order as they are read.
func canonical(a *merchant.Account) *merchant.Account {
	c := *a
	c.Subscriptions = sorted(a.Subscriptions, func(s merchant.Subscription) guid.ID { return s.ProgramID })
	c.Locations = sorted(a.Locations, func(l merchant.Location) guid.ID { return l.ID })
	c.Storefronts = sorted(a.Storefronts, func(s merchant.Storefront) guid.ID { return s.ID })
	c.Promotions = sorted(a.Promotions, func(p merchant.Promotion) guid.ID { return p.ID })
	c.Designs = sorted(a.Designs, func(d merchant.Design) guid.ID { return d.ID })
	c.Providers = sorted(a.Providers, func(p merchant.Provider) guid.ID { return p.ID })
	c.People = slices.SortedFunc(slices.Values(a.People),
		func(a, b merchant.Person) int { return strings.Compare(a.Name, b.Name) })
	return &c
}

func sorted[T any](list []T, id func(T) guid.ID) []T {
	return slices.SortedFunc(slices.Values(list), func(a, b T) int { return id(a).Compare(id(b)) })
}

// SortedIDs gives ids in the one order in which they are stored.
func SortedIDs(ids []guid.ID) []guid.ID {
	return slices.SortedFunc(slices.Values(ids), guid.ID.Compare)
}
