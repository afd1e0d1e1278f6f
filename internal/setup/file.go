package setup

import (
	"bytes"
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
	name       string
	accounts   []account
	systemKeys []key
}

// Accounts are those that the file describes.
func (f *File) Accounts() (all []*merchant.Account) {
	for i := range f.accounts {
		all = append(all, f.accounts[i].record)
	}
	return all
}

// Secrets reports whether secrets of keys or hashes of PINs stand in the file.
func (f *File) Secrets() bool {
	for k := range f.everyKey {
		if k.hash != (merchant.KeyHash{}) {
			return true
		}
	}
	return slices.ContainsFunc(f.Accounts(), func(a *merchant.Account) bool { return len(a.People) > 0 })
}

// account is what the file says of one account.
type account struct {
	at     value             // where
	record *merchant.Account // in canonical order
	assets []merchant.Asset  // the pictures of its designs
	keys   []key

	webhooks []webhook // nil: the file does not say

	namesPeople bool // the file says who works at its tills, if it says that nobody does
}

// key is what the file says of one API key.
type key struct {
	at        value // where
	owner     guid.ID
	test      bool // its mode
	name      string
	hash      merchant.KeyHash // of its secret; zero: one is to be made
	hint      string
	saysTest  bool      // its secret says that it is a test account's
	walked    bool      // its secret was typed along a keyboard
	locations []guid.ID // sorted; empty: all
	may       merchant.Permissions
	accounts  []guid.ID // of a system key, sorted: for which it may send; none: empty
	programs  []guid.ID // likewise
	expires   time.Time // zero: never, or what the key has already
	limits    merchant.Limits
	networks  merchant.Networks
}

func (k *key) kind() merchant.KeyKind {
	if k.owner.IsZero() {
		return merchant.SystemKey
	}
	return merchant.AccountKey
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
	r.ids, r.secrets = make(map[guid.ID]int), make(map[merchant.KeyHash]int)
	f := &File{name: r.file}
	if root, ok := r.document(data); ok {
		r.setup(root, f)
	}
	if err := r.problems.err(r.file); err != nil {
		return nil, err
	}
	return f, nil
}

func (r *reader) setup(root value, file *File) {
	f := r.fields(root, "accounts", "systemKeys")
	if len(f.values) == 0 && len(r.problems) == 0 {
		r.add(0, "", empty)
	}
	accounts, _ := f.list("accounts")
	for _, v := range accounts {
		file.accounts = append(file.accounts, r.account(v))
	}
	file.systemKeys = r.keys(f, "systemKeys")
}

func (r *reader) account(v value) account {
	a := new(merchant.Account)
	r.in = &underway{account: a, lines: make(map[string]int)}
	defer func() { r.in = nil }()
	f := r.fill(v, definitionOf(reflect.TypeFor[merchant.Account]()), reflect.ValueOf(a).Elem(), "webhooks", "keys")
	f.requireLanguage(a)
	keys := r.keys(f, "keys")
	for i := range keys {
		keys[i].owner, keys[i].test = a.ID, a.Test
	}
	for _, check := range r.in.later {
		check()
	}
	_, namesPeople := f.values["people"]
	return account{at: v, record: canonical(a), assets: r.in.assets, keys: keys, webhooks: r.webhooks(f),
		namesPeople: namesPeople}
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
func (r *reader) keys(f fields, list string) []key {
	names := make(map[string]int)
	return each(f, list, func(v value) key {
		allowed := []string{"name", "secret", "expires", "limits", "networks", "locations", "role", "permissions"}
		if r.in == nil {
			allowed = append(allowed[:5], "mode", "accounts", "programs")
		}
		f := r.fields(v, allowed...)
		f.require("name")
		k := key{at: v, name: f.label("name")}
		if line, double := names[k.name]; double && k.name != "" {
			r.problem(f.values["name"], "There is a key of this name on line %d already; keys are told apart by their names.",
				line)
		}
		names[k.name] = v.Line
		k.hash, k.hint, k.saysTest, k.walked = f.secret("secret")
		k.expires = f.instant("expires")
		k.networks = f.networks("networks")
		k.limits = f.limits(merchant.Limits{}, r.in.currency())
		if r.in != nil {
			k.locations, k.may = f.locations("locations"), f.permissions()
		} else {
			k.accounts = f.idList("accounts", noneNamed, func(value, guid.ID) {}) // the set-up tells whether they exist
			k.programs, k.test = f.programs("programs"), f.mode("mode")
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
	return slices.SortedFunc(slices.Values(list), func(a, b T) int { return compareIDs(id(a), id(b)) })
}

func sortedIDs(ids []guid.ID) []guid.ID { return slices.SortedFunc(slices.Values(ids), compareIDs) }

func compareIDs(a, b guid.ID) int { return bytes.Compare(a[:], b[:]) }
