package form_test

import (
	"bytes"
	"image"
	"image/png"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup/document"
	"boon.example/internal/setup/form"
)

// everything is an account in which every field says something, as an exported file would have it.
func everything(t *testing.T) document.Fields {
	t.Helper()
	text, err := os.ReadFile("../document/testdata/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 20, 20))); err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{"logo.png": {Data: b.Bytes()}, "photo.png": {Data: b.Bytes()}}
	file, err := document.ParseBeside("everything.yaml", text, folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := file.Accounts[0].Record
	keys := map[merchant.KeyHash]*merchant.Key{}
	for n, k := range file.Accounts[0].Keys {
		keys[merchant.KeyHash{byte(n)}] = &merchant.Key{AccountID: a.ID, Name: k.Name, Permissions: k.May,
			Locations: k.Locations, Limits: k.Limits, Networks: k.Networks, ExpiresAt: k.Expires,
			Agent: k.Agent}
	}
	hooks := []*merchant.Webhook{}
	for _, w := range file.Accounts[0].Webhooks {
		hooks = append(hooks, &merchant.Webhook{URL: w.URL, Types: w.Types, Description: w.Description, Enabled: false})
	}
	d := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{a.ID: a}, Keys: keys,
		Webhooks: map[guid.ID][]*merchant.Webhook{a.ID: hooks}}
	return document.Written(d, a, time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
}

// submit is what a browser sends of a form.
func submit(in []form.Input, to url.Values) url.Values {
	for _, i := range in {
		switch {
		case i.Rows != nil:
			for _, row := range i.Rows {
				submit(row, to)
			}
		case i.Texts != nil:
			for _, t := range i.Texts {
				to.Set(t.Key, strings.ReplaceAll(t.Text, "\n", "\r\n"))
			}
		case i.Ask == form.Switch && i.Value == "":
		case i.Ask == form.One || i.Ask == form.Some:
			for _, o := range i.Options {
				if o.Chosen {
					to.Add(i.Key, o.Value)
				}
			}
		default:
			to.Set(i.Key, strings.ReplaceAll(i.Value, "\n", "\r\n"))
		}
	}
	return to
}

// unasked are the fields that no form asks for: what cannot change, and what has pages of its own.
var unasked = []string{"mode", "webhooks", "keys"}

// TestFormsLeaveNothingOut: each record that has been shown in a form and was sent back is what it was, whatever field
// it has. So a form asks for each field of the set-up.
func TestFormsLeaveNothingOut(t *testing.T) {
	t.Parallel()
	account := everything(t)
	of := form.Of{Account: account, Empty: 3}
	same := func(list string, record document.Fields) {
		t.Helper()
		questions := form.Questions(list)
		got := of.Read(questions, submit(of.New(questions, record), url.Values{}), record)
		if !reflect.DeepEqual(got, record) {
			t.Errorf("%s: %v\ncomes out of its form as\n%v", list, record, got)
		}
	}
	own := document.Fields{}
	for name, v := range account {
		if _, is := v.([]any); is && slices.Contains(document.Lists(), name) || slices.Contains(unasked, name) {
			continue
		}
		own[name] = v
	}
	same("", own)
	for _, list := range document.Lists() {
		records := account[list].([]any)
		if len(records) == 0 {
			t.Errorf("there is no record in %s", list)
		}
		for _, record := range records {
			same(list, record.(document.Fields))
		}
	}
}

// TestFormsOfAnything: whatever is typed is read, and shown again as it was typed.
func TestFormsOfAnything(t *testing.T) {
	t.Parallel()
	account := everything(t)
	of := form.Of{Account: account, Empty: 1}
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SampledFrom(append(document.Lists(), "")).Draw(rt, "list")
		questions := form.Questions(list)
		typed := url.Values{}
		for key := range submit(of.New(questions, nil), url.Values{}) {
			typed.Set(key, rapid.SampledFrom([]string{"", "x", "<b>", "0", "2026-03-29T02:30", "2026-10-25T02:30", "a\nb"}).
				Draw(rt, key))
		}
		read := of.Read(questions, typed, nil)
		again := of.Read(questions, submit(of.New(questions, read), url.Values{}), read)
		if !reflect.DeepEqual(read, again) {
			rt.Errorf("%s: typed %v\nread %v\nthen %v", list, typed, read, again)
		}
	})
}

// TestBlame: what is wrong stands at its field, in a row too.
func TestBlame(t *testing.T) {
	t.Parallel()
	account := everything(t)
	of := form.Of{Account: account}
	promotion := account["promotions"].([]any)[0].(document.Fields)
	in := of.New(form.Questions("promotions"), promotion)
	at := func(name string) *form.Input {
		return &in[slices.IndexFunc(in, func(i form.Input) bool { return i.Name == name })]
	}
	for _, path := range []string{"name", "terms.de", "eligibleItems", "eligibleItems[1].id", "eligibleItems[99].id"} {
		if !form.Blame(in, path, "no "+path) {
			t.Errorf("%s is at no field", path)
		}
	}
	if form.Blame(in, "nam", "") || form.Blame(in, "", "") {
		t.Error("what is no field's stands at one")
	}
	if got := at("eligibleItems"); !slices.Equal(at("name").Wrong, []string{"no name"}) ||
		!slices.Equal(at("terms").Wrong, []string{"no terms.de"}) || len(got.Wrong) != 2 ||
		!slices.Equal(got.Rows[1][0].Wrong, []string{"no eligibleItems[1].id"}) {
		t.Errorf("the form is %+v", in)
	}
}

// TestCompare: a field says what somebody else has made of it, where that is something else.
func TestCompare(t *testing.T) {
	t.Parallel()
	account := everything(t)
	of := form.Of{Account: account}
	questions := form.Questions("promotions")
	mine, theirs := account["promotions"].([]any)[0].(document.Fields), document.Fields{}
	for name, v := range mine {
		theirs[name] = v
	}
	theirs["validForDays"], theirs["eligibleItems"] = "60", []any{document.Fields{"id": "TEA", "name": "Tea"}}
	in := of.New(questions, mine)
	form.Compare(in, of.New(questions, theirs))
	told := map[string]string{}
	for _, i := range in {
		if i.Other {
			told[i.Name] = i.Now
		}
	}
	if want := map[string]string{"validForDays": "60", "eligibleItems": "TEA Tea"}; !reflect.DeepEqual(told, want) {
		t.Errorf("it tells %v, want %v", told, want)
	}
}
