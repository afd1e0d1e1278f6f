package document

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"boon.example/internal/merchant"
	"boon.example/internal/setup/written"
)

// Fields are a record as a set-up file has it, without the file: under each name a text, a list ([]any) of these, or
// Fields.
type Fields map[string]any

// Written is an account as Export writes it, but that webhooks that are on say so.
func Written(d *merchant.Directory, a *merchant.Account, now time.Time) Fields {
	account := plain(written.Node(writeAccount(d, a, now))).(Fields)
	hooks, _ := account["webhooks"].([]any)
	for n, w := range d.Webhooks[a.ID] {
		if w.Enabled {
			hooks[n].(Fields)["enabled"] = "true"
		}
	}
	return account
}

// plain takes a tree of a file apart.
func plain(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		all := Fields{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			all[n.Content[i].Value] = plain(n.Content[i+1])
		}
		return all
	case yaml.SequenceNode:
		all := []any{}
		for _, one := range n.Content {
			all = append(all, plain(one))
		}
		return all
	}
	return n.Value
}

// tree makes a tree as that of a file.
func tree(v any) *yaml.Node {
	switch v := v.(type) {
	case Fields:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, tree(name), tree(v[name]))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, one := range v {
			n.Content = append(n.Content, tree(one))
		}
		return n
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v}
	}
	return &yaml.Node{Kind: yaml.ScalarNode} // a text that says nothing
}

// ReadTyped reads an account that was put together from what somebody typed. It has the checks and the sentences of a
// file, but for what these say of lines and quotes; no problem has a line. A design may have those of the pictures,
// under the names that written.PicturePath gives them: one without bytes is in the store already.
func ReadTyped(account Fields, pictures []merchant.Asset, allow merchant.WebhookNetworks) (*File, error) {
	r := &reader{file: "typed", typed: true, allow: allow, pictures: map[string]merchant.Asset{}}
	for _, a := range pictures {
		r.pictures[written.PicturePath(a.Hash)] = a
	}
	return r.read(func(f *File) { r.setup(value{Node: tree(Fields{"accounts": []any{account}})}, f) })
}

// asTyped is the text of a scalar; "": it is none.
func (v value) asTyped() string {
	if v.Node == nil || v.Kind != yaml.ScalarNode {
		return ""
	}
	return v.Value
}

// Lists are the lists of records that an account has in a set-up file, in its order.
func Lists() (all []string) {
	for _, m := range definitionOf(reflect.TypeFor[merchant.Account]()) {
		if m.list != nil {
			all = append(all, m.name)
		}
	}
	return append(all, "webhooks", "keys")
}

// KnownBy is the field by which the records of a list of an account are known: it stays as it is as long as the record
// is there.
func KnownBy(list string) string {
	switch list {
	case "subscriptions":
		return "program"
	case "people", "keys":
		return "name"
	case "webhooks":
		return "url"
	}
	return "id"
}

// Find finds a record in a list of an account by what it is known by, and its place; nil: there is none.
func (account Fields) Find(list, known string) (record Fields, at int) {
	all, _ := account[list].([]any)
	at = slices.IndexFunc(all, func(one any) bool {
		of, is := one.(Fields)
		return is && of[KnownBy(list)] == known
	})
	if at < 0 {
		return nil, at
	}
	return all[at].(Fields), at
}

// Some are those of the fields that are named; nil: there is no record.
func (f Fields) Some(names []string) Fields {
	if f == nil {
		return nil
	}
	some := Fields{}
	for _, name := range names {
		if v, there := f[name]; there {
			some[name] = v
		}
	}
	return some
}

// Mark is a short text that differs if the fields do; "": there is no record.
func (f Fields) Mark() string {
	if f == nil {
		return ""
	}
	text, err := json.Marshal(f) // in the order of the names
	if err != nil {
		panic(err) // texts, and lists and fields of these
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Shown are the pictures that the designs of an account have, without their bytes.
func Shown(a *merchant.Account) (all []merchant.Asset) {
	for _, d := range a.Designs {
		for _, hash := range []merchant.AssetHash{d.Logo, d.Picture} {
			if !hash.IsZero() {
				all = append(all, merchant.Asset{Hash: hash})
			}
		}
	}
	return all
}
