package document

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/setup/written"
)

// Export writes a set-up as a set-up file. Applied to the set-up that it was made of, it changes nothing. It holds no
// secrets: what has one keeps it. Keys that do not work any more and tills are not in it. Pictures are named by
// written.PicturePath.
func Export(d *merchant.Directory, now time.Time) ([]byte, error) {
	var accounts []any
	for _, id := range slices.SortedFunc(maps.Keys(d.Accounts), guid.ID.Compare) {
		accounts = append(accounts, writeAccount(d, d.Accounts[id], now))
	}
	var file written.Mapping
	file.Add("accounts", accounts)
	if keys := writeKeys(d, nil, now); len(keys) > 0 {
		file.Add("systemKeys", keys)
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(written.Node(file)); err != nil {
		return nil, fmt.Errorf("writing the set-up: %w", err)
	}
	return out.Bytes(), encoder.Close()
}

// writeAccount writes an account with its webhooks and keys.
func writeAccount(d *merchant.Directory, a *merchant.Account, now time.Time) written.Mapping {
	all := definitionOf(reflect.TypeFor[merchant.Account]()).write(reflect.ValueOf(a).Elem(), a)
	if hooks := writeWebhooks(d.Webhooks[a.ID]); len(hooks) > 0 {
		all.Add("webhooks", hooks)
	}
	if keys := writeKeys(d, a, now); len(keys) > 0 {
		all.Add("keys", keys)
	}
	return all
}

// write writes a record, or a mapping in it.
func (d definition) write(record reflect.Value, a *merchant.Account) (all written.Mapping) {
	for _, m := range d {
		if m.name == "" {
			continue
		}
		v := m.write(record, a)
		if under, other := v.(written.Entry); other { // under another name
			all = append(all, under)
			continue
		}
		all.Add(m.name, v)
	}
	return all
}

func (m *member) write(record reflect.Value, a *merchant.Account) any {
	switch {
	case m.mapping != nil:
		if inner := m.mapping.write(record, a); len(inner) > 0 {
			return inner
		}
		return nil
	case m.list == nil:
		return m.form.write(m.get(record), a)
	}
	var all []any
	list := record.FieldByIndex(m.index)
	for n := range list.Len() {
		all = append(all, m.list.of.write(list.Index(n), a))
	}
	if all == nil {
		return nil
	}
	return all
}

// byName puts keys in the order of their names, the oldest first among those of one name.
func byName(a, b *merchant.Key) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), a.CreatedAt.Compare(b.CreatedAt), a.ID.Compare(b.ID))
}

func writeKeys(d *merchant.Directory, a *merchant.Account, now time.Time) (all []any) {
	for _, k := range slices.SortedFunc(maps.Values(d.Keys), byName) {
		var owner guid.ID
		if a != nil {
			owner = a.ID
		}
		if k.AccountID != owner || k.Till != merchant.NoTill || !k.Works(now) {
			continue
		}
		var one written.Mapping
		one.Add("name", k.Name)
		one.Add("expires", written.Time(k.ExpiresAt, a))
		if a == nil {
			one.Add("mode", written.Mode(k.Test, a))
			one.Add("accounts", written.IDs(k.Accounts, a))
			one.Add("programs", written.IDs(k.Programs, a))
		} else {
			if may, ok := written.Permissions(k.Permissions, a).(written.Entry); ok {
				one = append(one, may)
			} else {
				one.Add("permissions", k.Permissions.Names())
			}
			one.Add("locations", written.IDs(k.Locations, a))
		}
		one.Add("limits", writeLimitsBeyond(merchant.Limits{})(k.Limits, a))
		one.Add("networks", written.Networks(k.Networks, a))
		if k.Agent != "" {
			one.Add("agent", string(k.Agent))
		}
		if !slices.ContainsFunc(all, func(other any) bool { return other.(written.Mapping)[0] == one[0] }) {
			all = append(all, one) // one of a name is for all of it
		}
	}
	return all
}

func writeWebhooks(hooks []*merchant.Webhook) (all []any) {
	for _, w := range hooks {
		var one written.Mapping
		one.Add("url", w.URL)
		one.Add("types", written.Texts(w.Types, nil))
		one.Add("description", written.Text(w.Description, nil))
		if !w.Enabled && w.Off == "" {
			one.Add("enabled", false)
		}
		all = append(all, one)
	}
	return all
}

// writeLimitsBeyond writes the limits that are not those that an owner has without any.
func writeLimitsBeyond(without merchant.Limits) func(merchant.Limits, *merchant.Account) any {
	return func(l merchant.Limits, a *merchant.Account) any {
		usual := map[string]any{}
		for name, limit := range eachLimit(without) {
			usual[name] = limit
		}
		var all written.Mapping
		for name, limit := range eachLimit(l) {
			if limit == usual[name] {
				continue
			}
			if amount, ok := limit.(money.Amount); ok {
				limit = written.Amount(amount, a)
			}
			all.Add(name, limit)
		}
		if all == nil {
			return nil
		}
		return all
	}
}
