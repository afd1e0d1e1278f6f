// Package written writes the values of a set-up to a file: a function for each form of value makes of it what stands in
// YAML. Pure.
package written

import (
	"encoding/pem"
	"time"

	"go.yaml.in/yaml/v3"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Mapping is a mapping of a file that is to be written, in its order.
type Mapping []Entry

// Entry is a field of a mapping.
type Entry struct {
	Name  string
	Value any
}

// Node makes a tree for the YAML encoder.
func Node(v any) *yaml.Node {
	switch v := v.(type) {
	case *yaml.Node:
		return v
	case Mapping:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, e := range v {
			n.Content = append(n.Content, Node(e.Name), Node(e.Value))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, one := range v {
			n.Content = append(n.Content, Node(one))
		}
		return n
	}
	n := new(yaml.Node)
	if err := n.Encode(v); err != nil {
		panic(err) // texts, numbers and lists of these
	}
	return n
}

// Add adds a field, if there is a value.
func (m *Mapping) Add(name string, value any) {
	if value != nil {
		*m = append(*m, Entry{name, value})
	}
}

// PicturePath is where an exported file looks for a picture.
func PicturePath(h merchant.AssetHash) string { return "pictures/" + h.String() }

// The functions below write the values of forms; nil: the file leaves the field out.

// Translated writes a text for guests, and its translations.
func Translated(text string, in merchant.Translations, a *merchant.Account) any {
	if len(in) == 0 {
		return Text(text, a)
	}
	all := Mapping{{string(a.GuestLanguage()), text}}
	for _, l := range merchant.Languages() {
		if other := in[l]; other != "" {
			all = append(all, Entry{string(l), other})
		}
	}
	return all
}

func Text(text string, _ *merchant.Account) any {
	if text == "" {
		return nil
	}
	return text
}

func Texts(all []string, _ *merchant.Account) any {
	if len(all) == 0 {
		return nil
	}
	return all
}

func ID(id guid.ID, a *merchant.Account) any { return Text(id.String(), a) }

func IDs(ids []guid.ID, a *merchant.Account) any {
	var all []string
	for _, id := range ids {
		all = append(all, id.String())
	}
	return Texts(all, a)
}

func True(on bool, _ *merchant.Account) any {
	if !on {
		return nil
	}
	return true
}

func Not(off bool, _ *merchant.Account) any {
	if !off {
		return nil
	}
	return false
}

func Mode(test bool, _ *merchant.Account) any {
	if !test {
		return nil
	}
	return merchant.TestMode
}

func Number(n int, _ *merchant.Account) any {
	if n == 0 {
		return nil
	}
	return n
}

func Currency(c money.Currency, a *merchant.Account) any { return Text(c.Code, a) }

func Zone(zone *time.Location, a *merchant.Account) any { return Text(zone.String(), a) }

func Amount(amount money.Amount, a *merchant.Account) any {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: a.Currency.Format(amount)}
}

func Time(t time.Time, a *merchant.Account) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func TimeOfDay(after time.Duration, _ *merchant.Account) any {
	if after == 0 {
		return nil
	}
	return time.Time{}.Add(after).Format("15:04")
}

func Networks(all merchant.Networks, a *merchant.Account) any {
	var texts []string
	for _, n := range all {
		texts = append(texts, n.String())
	}
	return Texts(texts, a)
}

func Permissions(may merchant.Permissions, a *merchant.Account) any {
	if may == merchant.Everything {
		return Entry{"role", may.String()}
	}
	return Texts(may.Names(), a)
}

// PersonMay writes what a person may do: by a role, where a list would not be taken.
func PersonMay(may merchant.Permissions, a *merchant.Account) any {
	if may&^merchant.PersonPermissions != 0 {
		return Entry{"role", may.String()}
	}
	return Texts(may.Names(), a)
}

func Percent(rate money.Number, _ *merchant.Account) any {
	if rate == "" {
		return nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: string(rate)}
}

func Tickets(all []merchant.TicketReading, _ *merchant.Account) any {
	var by Mapping
	for _, t := range all {
		of := Mapping{}
		if t.ItemID != "" {
			of = append(of, Entry{"itemID", t.ItemID})
		}
		if t.TaxInclusive != nil {
			of = append(of, Entry{"taxInclusive", *t.TaxInclusive})
		}
		if len(t.GiftCards) > 0 {
			of = append(of, Entry{"giftCards", t.GiftCards})
		}
		by = append(by, Entry{t.Format, of})
	}
	if by == nil {
		return nil
	}
	return by
}

func Items(items []merchant.Item, _ *merchant.Account) any {
	var all []any
	for _, i := range items {
		var one Mapping
		for _, e := range []struct{ name, value string }{{"id", i.ID}, {"group", i.Group}, {"name", i.Name}} {
			if e.value != "" {
				one = append(one, Entry{e.name, e.value})
			}
		}
		all = append(all, one)
	}
	if all == nil {
		return nil
	}
	return all
}

func Sites(sites []merchant.Site, _ *merchant.Account) any {
	var all []any
	for _, s := range sites {
		all = append(all, Mapping{{"name", s.Name}, {"location", s.LocationID.String()}})
	}
	return all
}

func PublicKey(key []byte, _ *merchant.Account) any {
	if len(key) == 0 {
		return nil
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: key}))
}

func Picture(h merchant.AssetHash, _ *merchant.Account) any {
	if h.IsZero() {
		return nil
	}
	return PicturePath(h)
}

func CodeForms(forms []merchant.CodeForm, _ *merchant.Account) any {
	var all []any
	for _, f := range forms {
		one := Mapping{{"digits", f.Digits}}
		if f.Alphanumeric > 0 {
			one = Mapping{{"alphanumeric", f.Alphanumeric}}
		}
		if f.Fold {
			one = append(one, Entry{"fold", true})
		}
		if f.From != "" {
			one = append(one, Entry{"from", string(f.From)})
		}
		all = append(all, one)
	}
	if all == nil {
		return nil
	}
	return all
}
