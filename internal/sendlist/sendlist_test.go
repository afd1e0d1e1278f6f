package sendlist

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

var euro = money.Currency{Code: "EUR", Decimals: 2}

// asked reads amounts with a point, and says sentences by their names.
func asked() Asked {
	return Asked{
		Say:   func(name string, args ...any) string { return name + fmt.Sprint(args) },
		Words: func(p *phrase.Phrase) string { return p.In(func(t phrase.Text) string { return "said: " + string(t) }) },
		Amount: func(typed string) (money.Number, money.Amount, error) {
			amount, err := euro.ParseSigned(money.Number(typed))
			if err != nil {
				return "", 0, errors.New("no amount")
			}
			return money.Number(euro.Format(amount)), amount, nil
		}}
}

// read reads a file, and gives its rows with their values, and what is wrong, each in a line of text.
func read(file string, a Asked) (l List, rows, wrong []string, err error) {
	c, err := l.Read(strings.NewReader(file), a)
	if err != nil {
		return l, nil, nil, err
	}
	for _, o := range l.Orders {
		for _, r := range c.Rows[o.From:o.To] {
			if r.Told != nil {
				continue // is only looked at
			}
			rows = append(rows, fmt.Sprintf("%d %s|%s|%s|%s", r.Line, r.Name, r.Contact, r.Message, o.Value))
		}
	}
	for _, p := range l.Problems {
		wrong = append(wrong, fmt.Sprintf("%d %s: %s", p.Line, p.Column, p.Text))
	}
	return l, rows, wrong, nil
}

// TestFilesAreRead: files as spreadsheets of several countries write them, and damaged ones.
func TestFilesAreRead(t *testing.T) {
	t.Parallel()
	latin := func(s string) string {
		var b strings.Builder
		for _, r := range s {
			b.WriteByte(byte(r))
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		file        string
		rows, wrong []string
	}{
		"plain": {"name,contact,message,value\nAna,ana@example.com,Hello,25\n",
			[]string{"2 Ana|ana@example.com|Hello|25.00"}, nil},
		"of Excel in German": {"\ufeffName;E-Mail;Betrag\r\nJörg;joerg@example.com;12.50\r\n",
			[]string{"2 Jörg|joerg@example.com||12.50"}, nil},
		"in Latin-1": {latin("name;contact;value\nJörg;joerg@example.com;5\n"),
			[]string{"2 Jörg|joerg@example.com||5.00"}, nil},
		"with tabs, without an end": {"contact\tvalue\nana@example.com\t5",
			[]string{"2 |ana@example.com||5.00"}, nil},
		"quoted over lines": {"contact,message,value\nana@example.com,\"Hello,\n\"\"Ana\"\"\",5\nben@example.com,Hi,5\n",
			[]string{"2 |ana@example.com|Hello,\n\"Ana\"|5.00", "4 |ben@example.com|Hi|5.00"}, nil},
		"empty lines": {"contact,value\n\n,\n  ,  \nana@example.com,5\n", []string{"5 |ana@example.com||5.00"}, nil},
		"two ways": {"email,mobile,value\nana@example.com,,5\n,+14155550100,5\n",
			[]string{"2 |ana@example.com||5.00", "3 |+14155550100||5.00"}, nil},
		"grouped by value": {"contact,value\na@example.com,5\nb@example.com,7\nc@example.com,5.0\n",
			[]string{"2 |a@example.com||5.00", "4 |c@example.com||5.00", "3 |b@example.com||7.00"}, nil},
		"exponents": {"contact,value\n4.91512E+11,5\nana@example.com,1.0E+03\n", nil,
			[]string{"2 contact: shortened[4.91512E+11]", "3 value: shortened[1.0E+03]"}},
		"formulas": {"name,contact,value\n\"=HYPERLINK(\"\"http://evil.example\"\")\",ana@example.com,5\n", nil,
			[]string{"2 name: formula[]"}},
		"several problems in a line": {"name,email,mobile,value\n=1+1,ana@example.com,+14155550100,much\n", nil,
			[]string{"2 name: formula[]", "2 mobile: two[ana@example.com +14155550100]", "2 value: no amount"}},
		"a formula, and no contact": {"name,contact,value\n=1+1,,5\n=1+1,4.9E+11,\n", nil,
			[]string{"2 name: formula[]", "2 contact: contact[]", "3 name: formula[]", "3 contact: shortened[4.9E+11]",
				"3 value: value[]"}},
		"lacking": {"name,contact,value\nAna,,5\nBen,ben@example.com\n", nil,
			[]string{"2 contact: contact[]", "3 value: value[]"}},
		"a zero byte": {"contact,value\nana\x00@example.com,5\n", nil,
			[]string{"2 : said: The line has a zero byte in it: the file is damaged."}},
		"too many columns": {"contact,value\nana@example.com,5,6\n", nil,
			[]string{"2 : said: The line has 3 columns, and the file names 2: put a text with \",\" in it into quotation " +
				"marks."}},
		"an open quotation mark": {"contact,value\n\"ana@example.com,5\nben@example.com,5\n",
			[]string{"3 |ben@example.com||5.00"}, []string{"2 : said: A quotation mark is opened and never closed."}},
	} {
		_, rows, wrong, err := read(tt.file, asked())
		if err != nil || !slices.Equal(rows, tt.rows) || !slices.Equal(wrong, tt.wrong) {
			t.Errorf("%s: rows %q, wrong %q, %v", name, rows, wrong, err)
		}
	}
}

// TestFilesThatAreNone are refused whole, in a sentence.
func TestFilesThatAreNone(t *testing.T) {
	t.Parallel()
	var many, values strings.Builder
	many.WriteString("contact,value\n")
	values.WriteString("contact,value\n")
	for n := range MaxRows + 1 {
		fmt.Fprintf(&many, "a%d@example.com,5\n", n)
		if n <= MaxOrders {
			fmt.Fprintf(&values, "a%d@example.com,%d\n", n, n+1)
		}
	}
	for file, want := range map[string]string{
		"":                             "said: The file is empty.",
		"PK\x03\x04 and so on":         "said: This is said: a workbook of a spreadsheet (.xlsx) or a zip archive",
		"contact,value\n":              "empty[]",
		"name,value\nAna,5\n":          "no-contacts[]",
		"contact,name\na@example.com,": "no-values[]",
		"contact,value,amount\na,5,5":  "columns[value amount]",
		many.String():                  "long[10000]",
		values.String():                "orders[50 51]",
	} {
		if _, _, _, err := read(file, asked()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v, not %q", file, err, want)
		}
	}
}

// TestWhatTheFormSays stands for what a line does not say; on paper, contacts are not looked at.
func TestWhatTheFormSays(t *testing.T) {
	t.Parallel()
	a := asked()
	a.Value, a.Worth, a.Message = "10.00", 1000, "Thank you"
	l, rows, _, err := read("contact,message,value,Shoe size\na@example.com,,\nA@example.com,Hi,5\n", a)
	if want := []string{"2 |a@example.com|Thank you|10.00", "3 |A@example.com|Hi|5.00"}; err != nil ||
		!slices.Equal(rows, want) || l.Sum != 1500 || l.Twice != 1 || !slices.Equal(l.Unused, []string{"Shoe size"}) {
		t.Errorf("%q, %+v, %v", rows, l, err)
	}
	a.Printed = true
	if _, rows, wrong, err := read("name,contact\nAna,=1\n,x\n", a); err != nil ||
		!slices.Equal(rows, []string{"2 Ana||Thank you|10.00"}) || !slices.Equal(wrong, []string{"3 name: name[]"}) {
		t.Errorf("on paper: %q, %q, %v", rows, wrong, err)
	}
}

// TestProblemsAreCounted: all of them, and as many are kept as are shown; one of the form is told once for all orders.
func TestProblemsAreCounted(t *testing.T) {
	t.Parallel()
	l, _, wrong, err := read("contact,value\n"+strings.Repeat(",\nx", MaxProblems), asked())
	if err != nil || l.Wrong != MaxProblems || len(wrong) != MaxProblems {
		t.Fatalf("%d problems, %d kept, %v", l.Wrong, len(wrong), err)
	}
	l.Problems, l.Wrong = nil, 0
	l.Orders = make([]Order, 2)
	for n := range l.Orders {
		l.Looked(n, Problem{Text: "The storefront is not there."}, Problem{Line: n + 2, Text: "No."})
	}
	if l.Wrong != 3 || l.State() != Wrong {
		t.Errorf("%d problems, %s", l.Wrong, l.State())
	}
}

// TestOrdersHaveEachRowOnce: whatever the values of a file are, its orders are of one value each, none is too long, and
// together they have every row once.
func TestOrdersHaveEachRowOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 3}), 1, 2*MaxOrder+50).Draw(t, "values")
		var file strings.Builder
		file.WriteString("contact,value\n")
		sum := money.Amount(0)
		for n, v := range values {
			fmt.Fprintf(&file, "a%d@example.com,%d\n", n, v)
			sum += money.Amount(100 * v)
		}
		var l List
		c, err := l.Read(strings.NewReader(file.String()), asked())
		if err != nil {
			t.Fatal(err)
		}
		lines, at := map[int]bool{}, 0
		for _, o := range l.Orders {
			if o.From != at || o.Rows() < 1 || o.Rows() > MaxOrder {
				t.Fatalf("an order has the rows %d to %d after %d", o.From, o.To, at)
			}
			at = o.To
			for _, r := range c.Rows[o.From:o.To] {
				if want := fmt.Sprintf("%d.00", values[r.Line-2]); string(o.Value) != want || lines[r.Line] {
					t.Fatalf("line %d is in an order of %s, not %s, or twice", r.Line, o.Value, want)
				}
				lines[r.Line] = true
			}
		}
		if len(lines) != len(values) || l.Rows != len(values) || l.Sum != sum {
			t.Fatalf("%d lines, %d rows, sum %d", len(lines), l.Rows, l.Sum)
		}
	})
}

// TestALifeOfAList: it is looked at, confirmed once, sent, and what was refused is tried again under another key.
func TestALifeOfAList(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	l := List{ID: guid.ID{1}, Rows: 3, Orders: []Order{{To: 2}, {From: 2, To: 3}}}
	is := func(want State) {
		t.Helper()
		if l.State() != want {
			t.Fatalf("it is %s, not %s", l.State(), want)
		}
	}
	is(Looking)
	if l.Confirm(guid.ID{2}, "Ann", "192.0.2.1", now) {
		t.Error("it is confirmed before it was looked at")
	}
	l.Looked(0)
	is(Looking)
	l.Looked(1)
	is(Ready)
	if l.Works() || !l.Confirm(guid.ID{2}, "Ann", "192.0.2.1", now) || l.Confirm(guid.ID{3}, "Ben", "192.0.2.2", now) {
		t.Error("it is not confirmed once")
	}
	is(Sending)
	first, second := l.Key(0), l.Key(1)
	l.Made(0, "order", "", nil, now)
	if n, _ := l.Next(); n != 1 || l.Sent() != 2 || l.Past() != 2 {
		t.Errorf("next is %d, %d are sent", n, l.Sent())
	}
	l.Made(1, "", "", []string{"The limit is reached."}, now)
	is(PartDone)
	if !l.Again(guid.ID{2}, "Ann", "192.0.2.1", now.Add(time.Hour)) {
		t.Error("it is not tried again")
	}
	is(Sending)
	if l.Leave(guid.ID{3}, "Ben", "192.0.2.2", now) {
		t.Error("what is still sent is left as it is")
	}
	if l.Key(0) != first || l.Key(1) == second || first == second {
		t.Errorf("keys: %s, %s; before: %s, %s", l.Key(0), l.Key(1), first, second)
	}
	l.Made(1, "", "", []string{"The limit is reached."}, now)
	given := l
	if l = given; !l.Leave(guid.ID{3}, "Ben", "192.0.2.2", now) || l.Again(guid.ID{3}, "Ben", "192.0.2.2", now) ||
		l.Works() || !l.Over() || l.Sent() != 2 {
		t.Errorf("what was refused is not left as it is: %+v", l)
	}
	is(Left)
	if l = given; !l.Again(guid.ID{2}, "Ann", "192.0.2.1", now) {
		t.Error("it is not tried a third time")
	}
	l.Made(1, "order", "", nil, now)
	is(Done)
	if l.Leave(guid.ID{3}, "Ben", "192.0.2.2", now) {
		t.Error("a list that is done is left in part")
	}
	if l.Again(guid.ID{2}, "Ann", "192.0.2.1", now) || l.Works() {
		t.Error("a list that is done goes on")
	}
}

// TestNothingIsQuotedAtLength: whatever a file says, what the list keeps of it for people is short.
func TestNothingIsQuotedAtLength(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 9_000)
	a := asked()
	a.Amount = func(typed string) (money.Number, money.Amount, error) { return "", 0, errors.New(typed) }
	l, _, wrong, err := read("email,mobile,value,"+long+"\n"+long+","+long+","+long+"\n", a)
	if err != nil || l.Wrong != 2 || len([]rune(l.Unused[0])) != maxQuoted {
		t.Fatalf("%d problems, unused %q, %v", l.Wrong, l.Unused, err)
	}
	for _, text := range wrong {
		if len([]rune(text)) > maxSentence+20 {
			t.Errorf("a problem has %d characters", len([]rune(text)))
		}
	}
}

// TestLongTextsAreParted: an order is no longer than a call may be.
func TestLongTextsAreParted(t *testing.T) {
	t.Parallel()
	a := asked()
	a.Value, a.Worth, a.Message = "5", 500, strings.Repeat("é", 1_000)
	l, rows, _, err := read("contact\n"+strings.Repeat("a@example.com\n", MaxOrder), a)
	if err != nil || len(rows) != MaxOrder || len(l.Orders) != 3 {
		t.Fatalf("%d rows, %d orders, %v", len(rows), len(l.Orders), err)
	}
	for _, o := range l.Orders {
		if o.Rows()*2_000 > maxBytes || o.Rows() == 0 {
			t.Errorf("an order has %d rows", o.Rows())
		}
	}
}

// TestPlaces: a problem with a recipient of an order is told at the line and the column of the file, one with the value
// at the lines of all recipients, where the file says it.
func TestPlaces(t *testing.T) {
	t.Parallel()
	c := Content{Columns: map[Column]string{Contact: "E-Mail"}, Rows: []Row{{Line: 2}, {Line: 4}, {Line: 5}}}
	o := Order{From: 1, To: 3}
	for path, want := range map[string]string{"recipients[1].recipientContact": "[5] E-Mail",
		"recipients[0].deliveryMethodID": "[4] E-Mail", "recipients[2].message": "[] ", "recipients[-1].message": "[] ",
		"recipients": "[] ", "monetaryGift.value": "[] "} {
		lines, column := c.Places(&o, path)
		if got := fmt.Sprintf("%v %s", lines, column); got != want {
			t.Errorf("%s: %q, not %q", path, got, want)
		}
	}
	c.Columns[Value] = "Betrag"
	if lines, column := c.Places(&o, "monetaryGift.value"); !slices.Equal(lines, []int{4, 5}) || column != "Betrag" {
		t.Errorf("a value is at %v, %s", lines, column)
	}
}

// TestLinesThatAreWrongAreLookedAt by the engine, which says no more of what was found wrong already; they count as no
// gifts.
func TestLinesThatAreWrongAreLookedAt(t *testing.T) {
	t.Parallel()
	for file, values := range map[string]string{
		"name,contact,value\n=1,nobody,5\nBen,ben@example.com,7\nCleo,,much\n": "5.00 5.00 7.00",
		"name,contact,value\nCleo,,much\n":                                     "1",
	} {
		var l List
		c, err := l.Read(strings.NewReader(file), asked())
		if err != nil {
			t.Fatal(err)
		}
		var of []string
		for n := range l.Orders {
			o := &l.Orders[n]
			for at, r := range c.Rows[o.From:o.To] {
				of = append(of, string(o.Value))
				for path, column := range map[string]Column{"recipientContact": Contact, "recipientDescription": Name} {
					lines, _ := c.Places(o, fmt.Sprintf("recipients[%d].%s", at, path))
					if told := slices.Contains(r.Told, column); lines == nil || told == (len(lines) == 1) {
						t.Errorf("line %d, %s: told before: %t, told now: %v", r.Line, column, told, lines)
					}
				}
			}
			if lines, _ := c.Places(o, "monetaryGift.value"); lines == nil || slices.Contains(lines, 4) {
				t.Errorf("the value of an order is at %v", lines)
			}
		}
		if got := strings.Join(of, " "); got != values || l.Size() != len(c.Rows) || l.Rows+3 < l.Size() {
			t.Errorf("the orders have the values %s, not %s; %d gifts of %d", got, values, l.Rows, l.Size())
		}
	}
}

// TestALongFileIsOneOfManyLines, not of many problems.
func TestALongFileIsOneOfManyLines(t *testing.T) {
	t.Parallel()
	l, _, _, err := read("name,contact,value\n"+strings.Repeat("=1,,much\n", MaxRows/2), asked())
	if err != nil || l.Wrong != 3*MaxRows/2 {
		t.Errorf("%d problems, %v", l.Wrong, err)
	}
}

// FuzzFiles: whatever a file is, reading it ends, and what is wrong with it is counted.
func FuzzFiles(f *testing.F) {
	f.Add("contact,value\na@example.com,5\n")
	f.Add("\"")
	f.Fuzz(func(t *testing.T, file string) {
		l, rows, wrong, err := read(file, asked())
		if err == nil && (len(rows) != l.Rows || len(rows)+len(wrong) == 0) {
			t.Errorf("%d rows, %d told, %d wrong", len(rows), l.Rows, len(wrong))
		}
	})
}
