package ticket

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"boon.example/internal/gift"
)

// reader reads one JSON value strictly, token by token. Its methods fail only where the text is no JSON; everything else is a problem,
// and reading goes on.
type reader struct {
	*gift.Problems
	json     *jsontext.Decoder
	currency gift.Currency
	unknown  int
}

// maxUnknown is how many unknown members are listed, each with its path.
const maxUnknown = 100

// readStandard reads the standard schema:
//   - lineItems is needed, quantity in every line, and itemUnitPrice or itemTotalPrice. Everything else may be absent; null means absent.
//   - A line without itemTotalPrice costs itemUnitPrice × quantity. With both, itemTotalPrice holds, and need not be the product:
//     tills round, and know of discounts.
//   - Amounts have no more decimals than the currency. Zero is a price, a negative one is refused, and so are lines that take money off:
//     a till must take a discount off the lines that it is for. discountTotal may have either sign, as tills write it either way.
func readStandard(data []byte, c gift.Currency, path string, problems *gift.Problems) *Ticket {
	// Duplicates are ours to find, so that they are a problem with a path like the others.
	r := &reader{Problems: problems, json: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true)), currency: c}
	t := &Ticket{}
	err := r.object(path, members{
		"lineItems": func(at string) (err error) { t.Lines, err = r.lines(at); return err },
		"totals":    func(at string) error { return r.totals(at, &t.Totals) },
	}, "lineItems")
	if err == nil {
		if _, after := r.json.ReadToken(); after != io.EOF {
			err = errors.New("something follows")
		}
	}
	if err != nil {
		r.Add(path, "This ticket data is not valid JSON, or nests too deeply.")
	}
	return t
}

func (r *reader) lines(path string) (lines []Line, err error) {
	if ok, err := r.begin(path, '[', "a list"); !ok || err != nil {
		return nil, err
	}
	n := 0
	for ; r.json.PeekKind() != ']'; n++ {
		if n >= MaxLines {
			if err := r.json.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		l, err := r.line(fmt.Sprintf("%s[%d]", path, n))
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	if n > MaxLines {
		r.Add(path, "A ticket may have at most %d lines, not %d.", MaxLines, n)
	}
	_, err = r.json.ReadToken()
	return lines, err
}

func (r *reader) line(path string) (l Line, err error) {
	var total *gift.Amount
	err = r.object(path, members{
		"itemID":         func(at string) (err error) { l.ItemID, err = r.text(at, maxItemID); return err },
		"itemName":       func(at string) (err error) { l.ItemName, err = r.text(at, maxItemName); return err },
		"itemUnitPrice":  func(at string) (err error) { l.UnitPrice, err = r.amount(at, false); return err },
		"quantity":       func(at string) (err error) { l.Quantity, err = r.quantity(at); return err },
		"itemTotalPrice": func(at string) (err error) { total, err = r.amount(at, false); return err },
	}, "quantity")
	at := path + ".itemTotalPrice"
	switch {
	case err != nil || r.Has(path): // not read
	case total != nil:
		l.Total = *total
	case l.UnitPrice == nil:
		if !r.Has(path + ".itemUnitPrice") {
			r.Add(at, "A line needs an itemTotalPrice or an itemUnitPrice.")
		}
	case int64(*l.UnitPrice)*l.Quantity > MaxAmount:
		r.Add(at, "The line's itemUnitPrice times its quantity is too large.")
	default:
		l.Total = *l.UnitPrice * gift.Amount(l.Quantity)
	}
	return l, err
}

func (r *reader) totals(path string, t *Totals) error {
	total := func(to **gift.Amount, signed bool) func(string) error {
		return func(at string) (err error) { *to, err = r.amount(at, signed); return err }
	}
	return r.object(path, members{
		"subTotal":           total(&t.Sub, false),
		"taxTotal":           total(&t.Tax, false),
		"discountTotal":      total(&t.Discount, true),
		"serviceChargeTotal": total(&t.ServiceCharge, false),
		"grandTotal":         total(&t.Grand, false),
	})
}

// members says how to read each member of an object, given its path.
type members map[string]func(path string) error

// object reads an object with these members and no others, each at most once; null is as good as absent.
func (r *reader) object(path string, known members, needed ...string) error {
	if ok, err := r.begin(path, '{', "an object"); !ok || err != nil {
		return err
	}
	given := map[string]bool{} // whether each known member seen so far held something
	for r.json.PeekKind() != '}' {
		token, err := r.json.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		read, ok := known[name]
		at := path + "." + name
		_, seen := given[name]
		switch null := r.json.PeekKind() == 'n'; {
		case !ok:
			r.refuse(path, name, known)
		case seen:
			r.Add(at, "This member is given more than once.")
		case null:
			given[name] = false
		default:
			given[name] = true
			if err := read(at); err != nil {
				return err
			}
			continue
		}
		if err := r.json.SkipValue(); err != nil {
			return err
		}
	}
	for _, name := range needed {
		if !given[name] {
			r.Add(path+"."+name, "This is needed.")
		}
	}
	_, err := r.json.ReadToken()
	return err
}

// begin steps into an object or an array. A value of another kind is a problem and is stepped over; ok is false then.
func (r *reader) begin(path string, kind jsontext.Kind, must string) (ok bool, err error) {
	if ok, err := r.is(path, kind, must); !ok || err != nil {
		return false, err
	}
	_, err = r.json.ReadToken()
	return true, err
}

// is reports whether the next value is of a kind. One of another kind is a problem and is stepped over.
func (r *reader) is(path string, kind jsontext.Kind, must string) (ok bool, err error) {
	switch got := r.json.PeekKind(); got {
	case kind:
		return true, nil
	default:
		if err := r.json.SkipValue(); err != nil {
			return false, err
		}
		r.Add(path, "This must be %s, not %s.", must, kindName(got))
		return false, nil
	}
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a text"
	case '0':
		return "a number"
	case '{':
		return "an object"
	}
	return "a list"
}

func (r *reader) refuse(path, name string, known members) {
	if r.unknown++; r.unknown > maxUnknown {
		if r.unknown == maxUnknown+1 {
			r.Add(path, "There are more unknown members than are listed here.")
		}
		return
	}
	const longest = 80
	at := path + "." + name
	if len(name) > longest || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") != "" || name == "" {
		if runes := []rune(name); len(runes) > longest {
			name = string(runes[:longest]) + "…"
		}
		quoted, _ := jsontext.AppendQuote(nil, name)
		at = path + "[" + string(quoted) + "]"
	}
	if k := gift.Closest(name, slices.Sorted(maps.Keys(known))); k != "" {
		r.Add(at, "There is no such member; did you mean %s?", k)
		return
	}
	r.Add(at, "There is no such member here.")
}

// text reads a text, normalized to NFC as the item ids of promotions are.
func (r *reader) text(path string, limit int) (string, error) {
	if ok, err := r.is(path, '"', "a text"); !ok || err != nil {
		return "", err
	}
	token, err := r.json.ReadToken()
	if err != nil {
		return "", err
	}
	text := norm.NFC.String(token.String())
	if err := gift.CheckText(text, limit, false); err != nil {
		r.Add(path, "%s", err)
	}
	return text, nil
}

// amount reads an amount in the ticket's currency; nil with a problem.
func (r *reader) amount(path string, signed bool) (*gift.Amount, error) {
	a, parsed, err := r.number(path, r.currency)
	switch {
	case err != nil || parsed == errNoNumber:
		return nil, err
	case parsed == gift.ErrTooPrecise:
		r.Add(path, "An amount in %s has at most %d decimals.", r.currency.Code, r.currency.Decimals)
	case parsed != nil || a > MaxAmount || a < -MaxAmount:
		r.Add(path, "This amount is too large.")
	case a < 0 && !signed:
		r.Add(path, "An amount on a ticket cannot be negative: take a discount off the lines that it is for.")
	default:
		return &a, nil
	}
	return nil, nil
}

func (r *reader) quantity(path string) (int64, error) {
	n, parsed, err := r.number(path, gift.Pieces)
	if err == nil && parsed != errNoNumber && (parsed != nil || n < 0 || n > MaxQuantity) {
		r.Add(path, "A quantity must be a whole number from 0 to %d.", MaxQuantity)
		return 0, nil
	}
	return int64(n), err
}

var errNoNumber = errors.New("not a number, which is a problem already")

// number reads a number; parsed is why it is none in that unit.
func (r *reader) number(path string, unit gift.Currency) (a gift.Amount, parsed, err error) {
	if ok, err := r.is(path, '0', "a number without quotes"); !ok || err != nil {
		return 0, errNoNumber, err
	}
	value, err := r.json.ReadValue()
	if err != nil {
		return 0, errNoNumber, err
	}
	a, parsed = unit.ParseSigned(string(value))
	return a, parsed, nil
}
