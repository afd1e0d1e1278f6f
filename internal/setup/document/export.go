package document

import (
	"bytes"
	"cmp"
	"encoding/pem"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// mapping is a mapping of a file that is to be written, in its order.
type mapping []entry

type entry struct {
	name  string
	value any
}

// Export writes a set-up as a set-up file. Applied to the set-up that it was made of, it changes nothing. It holds no
// secrets: what has one keeps it. Keys that do not work any more and tills are not in it. Pictures are named by
// PicturePath.
func Export(d *merchant.Directory, now time.Time) ([]byte, error) {
	var accounts []any
	for _, id := range slices.SortedFunc(maps.Keys(d.Accounts), guid.ID.Compare) {
		accounts = append(accounts, writeAccount(d, d.Accounts[id], now))
	}
	file := mapping{{"accounts", accounts}}
	if keys := writeKeys(d, nil, now); len(keys) > 0 {
		file = append(file, entry{"systemKeys", keys})
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(node(file)); err != nil {
		return nil, fmt.Errorf("writing the set-up: %w", err)
	}
	return out.Bytes(), encoder.Close()
}

// writeAccount writes an account with its webhooks and keys.
func writeAccount(d *merchant.Directory, a *merchant.Account, now time.Time) mapping {
	all := definitionOf(reflect.TypeFor[merchant.Account]()).write(reflect.ValueOf(a).Elem(), a)
	if hooks := writeWebhooks(d.Webhooks[a.ID]); len(hooks) > 0 {
		all = append(all, entry{"webhooks", hooks})
	}
	if keys := writeKeys(d, a, now); len(keys) > 0 {
		all = append(all, entry{"keys", keys})
	}
	return all
}

// write writes a record, or a mapping in it.
func (d definition) write(record reflect.Value, a *merchant.Account) (all mapping) {
	for _, m := range d {
		if m.name == "" {
			continue
		}
		switch v := m.write(record, a).(type) {
		case nil:
		case entry: // under another name
			all = append(all, v)
		default:
			all = append(all, entry{m.name, v})
		}
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

// node makes a tree for the YAML encoder.
func node(v any) *yaml.Node {
	switch v := v.(type) {
	case *yaml.Node:
		return v
	case mapping:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, e := range v {
			n.Content = append(n.Content, node(e.name), node(e.value))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, one := range v {
			n.Content = append(n.Content, node(one))
		}
		return n
	}
	n := new(yaml.Node)
	if err := n.Encode(v); err != nil {
		panic(err) // texts, numbers and lists of these
	}
	return n
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
		one := mapping{{"name", k.Name}}
		add := func(name string, v any) {
			if v != nil {
				one = append(one, entry{name, v})
			}
		}
		add("expires", writeTime(k.ExpiresAt, a))
		if a == nil {
			add("mode", writeMode(k.Test, a))
			add("accounts", writeIDs(k.Accounts, a))
			add("programs", writeIDs(k.Programs, a))
		} else {
			if may, ok := writePermissions(k.Permissions, a).(entry); ok {
				one = append(one, may)
			} else {
				add("permissions", k.Permissions.Names())
			}
			add("locations", writeIDs(k.Locations, a))
		}
		add("limits", writeLimitsBeyond(merchant.Limits{})(k.Limits, a))
		add("networks", writeNetworks(k.Networks, a))
		if k.Agent != "" {
			add("agent", string(k.Agent))
		}
		if !slices.ContainsFunc(all, func(other any) bool { return other.(mapping)[0] == one[0] }) {
			all = append(all, one) // one of a name is for all of it
		}
	}
	return all
}

func writeWebhooks(hooks []*merchant.Webhook) (all []any) {
	for _, w := range hooks {
		one := mapping{{"url", w.URL}}
		if len(w.Types) > 0 {
			one = append(one, entry{"types", w.Types})
		}
		if w.Description != "" {
			one = append(one, entry{"description", w.Description})
		}
		if !w.Enabled && w.Off == "" {
			one = append(one, entry{"enabled", false})
		}
		all = append(all, one)
	}
	return all
}

// PicturePath is where an exported file looks for a picture.
func PicturePath(h merchant.AssetHash) string { return "pictures/" + h.String() }

// The functions below write the values of forms; nil: the file leaves the field out.

func writeText(text string, _ *merchant.Account) any {
	if text == "" {
		return nil
	}
	return text
}

func writeTexts(all []string, _ *merchant.Account) any {
	if len(all) == 0 {
		return nil
	}
	return all
}

func writeTranslated(t texts, a *merchant.Account) any {
	if len(t.in) == 0 {
		return writeText(t.text, a)
	}
	all := mapping{{string(a.GuestLanguage()), t.text}}
	for _, l := range merchant.Languages() {
		if text := t.in[l]; text != "" {
			all = append(all, entry{string(l), text})
		}
	}
	return all
}

func writeID(id guid.ID, a *merchant.Account) any { return writeText(id.String(), a) }

func writeIDs(ids []guid.ID, a *merchant.Account) any {
	var all []string
	for _, id := range ids {
		all = append(all, id.String())
	}
	return writeTexts(all, a)
}

func writeTrue(on bool, _ *merchant.Account) any {
	if !on {
		return nil
	}
	return true
}

func writeNot(off bool, _ *merchant.Account) any {
	if !off {
		return nil
	}
	return false
}

func writeMode(test bool, _ *merchant.Account) any {
	if !test {
		return nil
	}
	return merchant.TestMode
}

func writeNumber(n int, _ *merchant.Account) any {
	if n == 0 {
		return nil
	}
	return n
}

func writeCurrency(c money.Currency, a *merchant.Account) any { return writeText(c.Code, a) }

func writeZone(zone *time.Location, a *merchant.Account) any { return writeText(zone.String(), a) }

func writeAmount(amount money.Amount, a *merchant.Account) any {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: a.Currency.Format(amount)}
}

// writeLimitsBeyond writes the limits that are not those that an owner has without any.
func writeLimitsBeyond(without merchant.Limits) func(merchant.Limits, *merchant.Account) any {
	return func(l merchant.Limits, a *merchant.Account) any {
		usual := map[string]any{}
		for name, limit := range eachLimit(without) {
			usual[name] = limit
		}
		var all mapping
		for name, limit := range eachLimit(l) {
			if limit == usual[name] {
				continue
			}
			if amount, ok := limit.(money.Amount); ok {
				limit = writeAmount(amount, a)
			}
			all = append(all, entry{name, limit})
		}
		if all == nil {
			return nil
		}
		return all
	}
}

func writeTime(t time.Time, a *merchant.Account) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func writeTimeOfDay(after time.Duration, _ *merchant.Account) any {
	if after == 0 {
		return nil
	}
	return time.Time{}.Add(after).Format("15:04")
}

func writeNetworks(all merchant.Networks, a *merchant.Account) any {
	var texts []string
	for _, n := range all {
		texts = append(texts, n.String())
	}
	return writeTexts(texts, a)
}

func writePermissions(may merchant.Permissions, a *merchant.Account) any {
	if may == merchant.Everything {
		return entry{"role", may.String()}
	}
	return writeTexts(may.Names(), a)
}

// writePersonMay writes what a person may do: by a role, where a list would not be taken.
func writePersonMay(may merchant.Permissions, a *merchant.Account) any {
	if may&^merchant.PersonPermissions != 0 {
		return entry{"role", may.String()}
	}
	return writeTexts(may.Names(), a)
}

func writePercent(rate money.Number, _ *merchant.Account) any {
	if rate == "" {
		return nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: string(rate)}
}

func writeTickets(all []merchant.TicketReading, _ *merchant.Account) any {
	var by mapping
	for _, t := range all {
		of := mapping{}
		if t.ItemID != "" {
			of = append(of, entry{"itemID", t.ItemID})
		}
		if t.TaxInclusive != nil {
			of = append(of, entry{"taxInclusive", *t.TaxInclusive})
		}
		if len(t.GiftCards) > 0 {
			of = append(of, entry{"giftCards", t.GiftCards})
		}
		by = append(by, entry{t.Format, of})
	}
	if by == nil {
		return nil
	}
	return by
}

func writeItems(items []merchant.Item, _ *merchant.Account) any {
	var all []any
	for _, i := range items {
		var one mapping
		for _, e := range []struct{ name, value string }{{"id", i.ID}, {"group", i.Group}, {"name", i.Name}} {
			if e.value != "" {
				one = append(one, entry{e.name, e.value})
			}
		}
		all = append(all, one)
	}
	if all == nil {
		return nil
	}
	return all
}

func writeSites(sites []merchant.Site, _ *merchant.Account) any {
	var all []any
	for _, s := range sites {
		all = append(all, mapping{{"name", s.Name}, {"location", s.LocationID.String()}})
	}
	return all
}

func writePublicKey(key []byte, _ *merchant.Account) any {
	if len(key) == 0 {
		return nil
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: key}))
}

func writePicture(h merchant.AssetHash, _ *merchant.Account) any {
	if h.IsZero() {
		return nil
	}
	return PicturePath(h)
}
