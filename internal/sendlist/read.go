package sendlist

import (
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/imports"
	"boon.example/internal/money"
)

// Column is what a column of a file holds.
type Column string

// The columns.
const (
	Name    Column = "name"
	Contact Column = "contact"
	Message Column = "message"
	Value   Column = "value"
)

// names are how files name the columns, in small letters.
var names = map[string]Column{
	"name": Name, "recipient": Name, "recipient name": Name, "full name": Name, "empfänger": Name, "für": Name,
	"nombre": Name, "destinatario": Name, "para": Name,
	"contact": Contact, "email": Contact, "e-mail": Contact, "mail": Contact, "email address": Contact,
	"e-mail address": Contact, "mobile": Contact, "phone": Contact, "e-mail-adresse": Contact, "handy": Contact,
	"handynummer": Contact, "telefon": Contact, "kontakt": Contact, "correo": Contact, "correo electrónico": Contact,
	"móvil": Contact, "teléfono": Contact, "contacto": Contact,
	"message": Message, "nachricht": Message, "mensaje": Message,
	"value": Value, "amount": Value, "wert": Value, "betrag": Value, "valor": Value, "importe": Value,
}

// Template is a file with nothing but the names of the columns.
const Template = "\ufeffname,contact,message,value\r\n"

// Asked is how a file is to be read.
type Asked struct {
	Printed bool         // nobody is sent anything: contacts are left aside
	Value   money.Number // of lines without one; "": they need one
	Worth   money.Amount // is Value
	Message string       // of lines without one
	// Amount reads an amount of the file. The error is a sentence.
	Amount func(text string) (money.Number, money.Amount, error)
	// Say is a sentence by its name, with what it is about, in the language of whoever uploads the file.
	Say func(name string, args ...any) string
	// Words is a sentence about the file as a table, in the same language.
	Words func(*phrase.Phrase) string
}

// Read reads a file into a list, and gives what is to be sent but for the order. The error is a sentence about the
// whole file.
func (l *List) Read(file io.Reader, asked Asked) (*Content, error) {
	content, err := l.read(file, asked)
	if said, is := errors.AsType[*phrase.Phrase](err); is {
		err = errors.New(asked.Words(said))
	}
	return content, err
}

func (l *List) read(file io.Reader, asked Asked) (*Content, error) {
	t, err := imports.NewTable(file)
	if err != nil {
		return nil, err
	}
	r := &reader{List: l, Asked: asked, content: &Content{Columns: map[Column]string{}}, at: map[Column][]int{},
		orders: map[money.Number][]Row{}, seen: map[string]bool{}}
	if err := r.columns(t.Names); err != nil {
		return nil, err
	}
	for {
		row, err := t.Next()
		if errors.Is(err, io.EOF) {
			return r.content, r.divide()
		}
		if err != nil {
			return nil, err
		}
		if !blank(row.Fields) || row.Wrong != nil {
			r.read(row)
		}
		if r.lines > MaxRows {
			return nil, errors.New(asked.Say("long", MaxRows))
		}
	}
}

// reader reads one file.
type reader struct {
	*List
	Asked
	content *Content
	at      map[Column][]int
	lines   int // that are not empty

	fields []string // of the line that is read
	line   int
	told   []Column // what is wrong with it

	orders map[money.Number][]Row
	values []money.Number // in the order in which the file has them
	unsure []Row          // whose value cannot be read
	seen   map[string]bool
}

// columns finds out what the columns hold.
func (r *reader) columns(said []string) error {
	for n, name := range said {
		column, known := names[strings.ToLower(strings.Join(strings.Fields(name), " "))]
		switch {
		case !known && name != "" && len(r.Unused) < maxUnused:
			r.Unused = append(r.Unused, Short(name))
		case known && column != Contact && r.at[column] != nil:
			return errors.New(r.Say("columns", Short(r.content.Columns[column]), Short(name)))
		case known:
			r.at[column] = append(r.at[column], n)
			r.content.Columns[column] = name
		}
	}
	switch {
	case r.at[Contact] == nil && !r.Printed:
		return errors.New(r.Say("no-contacts"))
	case r.at[Name] == nil && r.Printed:
		return errors.New(r.Say("no-names"))
	case r.at[Value] == nil && r.Value == "":
		return errors.New(r.Say("no-values"))
	}
	return nil
}

func blank(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool { return strings.TrimSpace(f) != "" })
}

// wrong notes what is wrong with a column of the line; "": with the whole line.
func (r *reader) wrong(column Column, sentence string) {
	r.told = append(r.told, column)
	r.note(Problem{Line: r.line, Column: r.content.Columns[column], Text: sentence})
}

// text is what the line has in a column; "": nothing. Of contacts, there may be several columns.
func (r *reader) text(column Column) string {
	text := ""
	for _, at := range r.at[column] {
		if at >= len(r.fields) {
			continue
		}
		said := strings.TrimSpace(r.fields[at])
		switch {
		case said != "" && text != "":
			r.wrong(column, r.Say("two", Short(text), Short(said)))
		case strings.HasPrefix(said, "="):
			r.wrong(column, r.Say("formula"))
		case said != "":
			text = said
		}
	}
	return text
}

// exponent is what spreadsheets make of a long number.
var exponent = regexp.MustCompile(`^\+?[0-9]+([.,][0-9]+)?[eE]\+?[0-9]+$`)

// read reads a line. One with a problem is never sent. It is in an order all the same, so that the engine looks at the
// rest of it, and all of its problems are told at once.
func (r *reader) read(row imports.Row) {
	r.fields, r.line, r.told = row.Fields, row.Number, nil
	r.lines++
	if row.Wrong != nil {
		r.wrong("", r.Words(row.Wrong))
		return
	}
	is := Row{Line: row.Number, Name: r.text(Name), Message: r.text(Message)}
	if is.Message == "" {
		is.Message = r.Message
	}
	if !r.Printed {
		is.Contact = r.contact()
	} else if is.Name == "" && !r.said(Name) {
		r.wrong(Name, r.Say("name"))
	}
	value, amount := r.value()
	if is.Told = r.told; is.Told == nil {
		r.Rows++
		r.Sum += amount
	}
	if value == "" {
		r.unsure = append(r.unsure, is)
	} else {
		r.add(value, is)
	}
}

// said reports whether something was found wrong with a column of the line.
func (r *reader) said(column Column) bool { return slices.Contains(r.told, column) }

func (r *reader) add(value money.Number, rows ...Row) {
	if r.orders[value] == nil {
		r.values = append(r.values, value)
	}
	r.orders[value] = append(r.orders[value], rows...)
}

// value is what the gift of a line is worth; "": that cannot be read.
func (r *reader) value() (money.Number, money.Amount) {
	text := r.text(Value)
	value, amount := r.Value, r.Worth
	if text != "" && !exponent.MatchString(text) {
		var err error
		if value, amount, err = r.Amount(text); err != nil {
			r.wrong(Value, err.Error())
		}
	}
	switch {
	case r.said(Value):
	case text != "" && exponent.MatchString(text):
		r.wrong(Value, r.Say("shortened", Short(text)))
	case value == "":
		r.wrong(Value, r.Say("value"))
	case amount > math.MaxInt64-r.Sum:
		r.wrong(Value, r.Say("much"))
	}
	if r.said(Value) {
		return "", 0
	}
	return value, amount
}

// contact is whom the gift of a line goes to.
func (r *reader) contact() string {
	to := r.text(Contact)
	switch folded := strings.ToLower(to); {
	case r.said(Contact):
	case to == "":
		r.wrong(Contact, r.Say("contact"))
	case exponent.MatchString(to):
		r.wrong(Contact, r.Say("shortened", Short(to)))
	case r.seen[folded]:
		r.Twice++
	default:
		r.seen[folded] = true
	}
	return to
}

// judged has the engine look at the lines whose value cannot be read, too: under whichever value there is.
func (r *reader) judged() {
	value := r.Value
	if value == "" && len(r.values) > 0 {
		value = r.values[0]
	}
	if value == "" {
		value = "1"
	}
	if len(r.unsure) > 0 {
		r.add(value, r.unsure...)
	}
}

// divide makes the orders: of one value each, and none with too many rows or too long for a call.
func (r *reader) divide() error {
	if r.Rows == 0 && r.Wrong == 0 {
		return errors.New(r.Say("empty"))
	}
	r.judged()
	for _, value := range r.values {
		size := 0
		for n, row := range r.orders[value] {
			at, own := len(r.content.Rows), len(row.Name)+len(row.Contact)+len(row.Message)
			if last := len(r.Orders) - 1; n == 0 || r.Orders[last].Rows() == MaxOrder || size+own > maxBytes {
				r.Orders, size = append(r.Orders, Order{Value: value, From: at}), 0
			}
			size += own
			r.content.Rows = append(r.content.Rows, row)
			r.Orders[len(r.Orders)-1].To = at + 1
		}
	}
	if len(r.Orders) > MaxOrders {
		return errors.New(r.Say("orders", MaxOrders, len(r.Orders)))
	}
	return nil
}
