package wire

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// problemsOf reads body by read and gives what is wrong with it.
func problemsOf(body string, read func(*Object)) []Problem {
	problems, _ := new(Reader).Decode([]byte(body), read)
	return problems.All()
}

func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	read := func(o *Object) {
		o.Text("senderDescription")
		o.Number("value")
		o.Text("quantity")
		if i := o.Object("monetaryGift"); i != nil {
			i.GUID("programID")
			i.Finish()
		}
	}
	for name, suggestion := range map[string]string{
		"vale": "value", "Value": "value", "VALUE": "value", "valeu": "value", "values": "value",
		"senderDescripton":   "senderDescription",
		"sender_description": "senderDescription", "quantiyt": "quantity", "price": "", "x": "",
		strings.Repeat("value", 50): "",
	} {
		want := "There is no such member here."
		if suggestion != "" {
			want = "There is no such member; did you mean " + suggestion + "?"
		}
		got := problemsOf(`{"`+name+`":1}`, read)
		if len(got) != 1 || got[0].Text != want {
			t.Errorf("%s: %v, want %q", name, got, want)
		}
	}
	got := problemsOf(`{"monetaryGift":{"programId":"x","a\"b":2}}`, read)
	want := []Problem{
		{Path: "monetaryGift.programId", Text: "There is no such member; did you mean programID?"},
		{Path: `monetaryGift["a\"b"]`, Text: "There is no such member here."},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := problemsOf(`{"`+strings.Repeat("n", 1000)+`":1}`, read); len(got[0].Path) > 100 {
		t.Errorf("a long name comes back whole: %s", got[0].Path)
	}
	var many strings.Builder
	for n := range 3 * MaxUnknown {
		many.WriteString(`,"member` + strconv.Itoa(n) + `":1`)
	}
	if got := problemsOf(`{"value":1`+many.String()+`}`, read); len(got) != MaxUnknown+1 {
		t.Errorf("%d problems are listed", len(got))
	}
}

func TestHostileSizesAreBounded(t *testing.T) {
	t.Parallel()
	var r Reader
	problems := &Problems{}
	o := r.parse([]byte(`{"value":1`+strings.Repeat(`,"a":1`, 10_000)+`}`), problems)
	looked := 0
	for range o.members {
		looked++
	}
	if looked > maxMembers || problems.Len() != 1 {
		t.Errorf("%d members, %v", looked, problems.Err())
	}
	if r.parse([]byte(`{"value":1`+strings.Repeat(`,"a":1`, 100_000)+`}`), problems) != nil || problems.Len() != 2 {
		t.Errorf("a body of 200,003 names and values: %v", problems.Err())
	}
	o = r.parse([]byte(`{"list":[1`+strings.Repeat(`,1`, 100_000)+`]}`), new(Problems))
	seen := 0
	o.Objects("list", 10, func(*Object) { seen++ })
	if seen != 10 || r.Len() != 11 || !r.Has("list") {
		t.Errorf("%d seen, %v", seen, r.Err())
	}
	r.Forget()
	if r.top.value.Exists() {
		t.Error("the reader keeps the body")
	}
}

func TestSentencesOnBrokenJSON(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                          "The body is empty; it must be one JSON object.",
		"[1]":                       "The body must be one JSON object.",
		"{} x":                      "The body must be one JSON object, with nothing after it.",
		"{\"a\":\n  tru}":           "The body is not valid JSON: it goes wrong at line 2, column 6.",
		`{"a":1`:                    "The body is not valid JSON: it ends too early.",
		`{`:                         "The body is not valid JSON: it ends too early.",
		"{\"a\":\"\xff\"}":          "The body is not valid UTF-8.",
		strings.Repeat("[", 20_000): "The body nests values more than 1000 deep.",
		`{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) +
			`}`: "The body nests values more than 1000 deep.",
	} {
		got := problemsOf(body, func(*Object) {})
		if len(got) != 1 || got[0].Text != want || got[0].Path != "" {
			t.Errorf("%.40q: %v, want %q", body, got, want)
		}
	}
}

func TestAByteOrderMarkIsNamed(t *testing.T) {
	t.Parallel()
	got := problemsOf("\ufeff{}", func(*Object) {})
	if len(got) != 1 || !strings.Contains(got[0].Text, "byte order mark") {
		t.Errorf("%v", got)
	}
}

func TestWrongTypesAreNamedInOurWords(t *testing.T) {
	t.Parallel()
	read := func(o *Object) {
		o.Text("text")
		o.GUID("guid")
		o.Number("number")
		o.Integer("integer")
		o.Boolean("boolean")
		o.Instant("instant")
		o.Object("object")
		o.Objects("objects", 2, func(*Object) {})
	}
	members := []string{"text", "guid", "number", "integer", "boolean", "instant", "object", "objects"}
	right := map[string]string{
		"text": `"x"`, "guid": `"` + merchant.BusinessProgram.ID.String() + `"`, "number": "1.5", "integer": "2.0",
		"boolean": "false",
		"instant": `"2026-03-01T00:00:00Z"`, "object": "{}", "objects": "[{}]",
	}
	kind := map[byte]string{'"': "a text", '1': "a number", '2': "a number", 't': "true or false", 'f': "true or false",
		'{': "an object", '[': "a list"}
	for _, m := range members {
		if got := problemsOf(`{"`+m+`":`+right[m]+`}`, read); got != nil {
			t.Errorf("%s: %v", m, got)
		}
		if got := problemsOf(`{"`+m+`":null}`, read); got != nil {
			t.Errorf("%s as null: %v", m, got)
		}
		if got := problemsOf(`{"`+m+`":""}`, read); got != nil {
			t.Errorf("%s as an empty text: %v", m, got)
		}
		for _, value := range []string{`"x"`, "1.5", "true", "{}", "[]"} {
			if kind[value[0]] == kind[right[m][0]] {
				continue
			}
			got := problemsOf(`{"`+m+`":`+value+`}`, read)
			if len(got) != 1 || got[0].Path != m || !strings.HasPrefix(got[0].Text, "This must be ") ||
				!strings.HasSuffix(got[0].Text, ", not "+kind[value[0]]+".") {
				t.Errorf("%s as %s: %v", m, value, got)
			}
		}
	}
}

func TestInstants(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"2026-03-01T12:00:00Z": noon, "2026-03-01t12:00:00z": noon, "2026-03-01T07:00:00-05:00": noon,
		"2026-03-01T12:00:00.250Z":  noon.Add(250 * time.Millisecond),
		"2026-03-01T12:00:00+00:00": noon, "2026-03-01T12:00Z": noon, "2026-03-01T12:00+0000": noon,
		"2026-03-01T12:00:00+00": noon, "2026-03-01T07:00-05": noon,
		"2026-03-01T17:45:00+0545": noon, "2026-03-01T12:00:00-00:00": noon,
		"2026-03-01T12:00:00,250Z": noon.Add(250 * time.Millisecond), "2024-02-29T00:00:00Z": time.Date(2024, 2, 29, 0, 0, 0,
			0, time.UTC),
	} {
		if got, problem := parseInstant(s, false, lastYear); problem != nil || !got.Equal(want) {
			t.Errorf("%s: %v %v", s, got, problem)
		}
	}
	const (
		zone, day, hour, form = "must end in Z", "no such day", "time of day too", "must be a date-time"
		year                  = "from 1970 to 2999"
	)
	for s, want := range map[string]string{
		"2026-03-01T12:00:00": zone, "2026-03-01T12:00:00.5": zone, "2026-02-30T12:00:00Z": day,
		"2025-02-29T00:00:00+01:00": day,
		"2026-13-01T00:00:00Z":      day, "2026-03-01T24:00:00Z": day, "2026-03-01T12:60:00Z": day,
		"2026-02-30T12:00:00": day, "2026-03-01": hour,
		"": form, "tomorrow": form, "2026-3-1T12:00:00Z": form, "2026-03-01 12:00:00Z": form, "1772366400": form,
		"2026-03-01T12:00":    zone,
		"2026-03-01T12:00,5Z": form, "2026-03-01T12:00:00.1234567890Z": form, "20260301T120000Z": form,
		"2026-W09-7T12:00:00Z": form, "2026-060T12:00:00Z": form, "2026-03-01T12Z": form, "2026-03-01T1:00:00Z": form,
		"2026-03-01T12:00:00+24:00": form, "2026-03-01T12:00:00+01:60": form,
		"2026-03-01T12:00:00+1": form, "2026-03-01T12:00:00 x": form, "2026-03-01T12:00:60Z": day,
		"0001-01-01T00:00:00Z": year, "3000-01-01T00:00:00Z": year, "1970-01-01T00:00:00+01:00": year,
		"2999-12-31T23:59:59-01:00": year, strings.Repeat("2", 1000): form,
	} {
		got, problem := parseInstant(s, false, lastYear)
		if problem == nil || !strings.Contains(problem.Error(), want) || !got.IsZero() {
			t.Errorf("%s: %v %v, want %q", s, got, problem, want)
		}
		got, problem = parseInstant(s, true, lastYear)
		if want == zone && (problem != nil || !got.Truncate(time.Minute).Equal(noon)) {
			t.Errorf("%s: %v %v, want noon in UTC where an offset may be absent", s, got, problem)
		} else if want != zone && (problem == nil || !strings.Contains(problem.Error(), want)) {
			t.Errorf("%s: %v %v, want %q where an offset may be absent", s, got, problem, want)
		}
	}
}

func TestCanonicalNumbers(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"25", "25.0", "25.00", "2.5e1", "2.5E+1", "250e-1", "0.25e2"},
		{"0", "0.0", "-0", "0e5"},
		{"100", "1e2", "100.0"},
		{"-1.5", "-15e-1"},
		{""},
	} {
		for _, s := range same {
			if canonical(s) != canonical(same[0]) {
				t.Errorf("%s is %s, but %s is %s", s, canonical(s), same[0], canonical(same[0]))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Range(1, 1e12).Draw(t, "a"), rapid.Int64Range(1, 1e12).Draw(t, "b")
		dollars := money.Currency{Code: "USD", Decimals: 2}
		x, y := canonical(dollars.Format(money.Amount(a))), canonical(dollars.Format(money.Amount(b)))
		if (x == y) != (a == b) {
			t.Fatalf("%d is %s and %d is %s", a, x, b, y)
		}
	})
}
