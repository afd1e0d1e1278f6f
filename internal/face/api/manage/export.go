package manage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/base/spreadsheet"
	"boon.example/internal/event"
	"boon.example/internal/face/api/payload"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// The forms in which the codes of a stock leave.
const (
	asPDF = "pdf"
	asCSV = "csv"
)

// exportTypes are the media types of the forms.
var exportTypes = map[string]string{asPDF: "application/pdf", asCSV: "text/csv; charset=utf-8"}

// ExportStock gives the codes of a stock, as sheets to be printed or as a list. That they leave is noted before. Of
// cards that were sold or taken out of use meanwhile, no code leaves any more: it is their owner's.
func ExportStock(c *Call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	order := q.ParseID("orderID", c.HTTP.PathValue("orderID"))
	form := q.Text("format")
	if exportTypes[form] == "" {
		q.Add("format", "The format must be %s or %s.", asPDF, asCSV)
	}
	if err := q.Err(); err != nil {
		return ledger.Answer{}, err
	}
	if form == asPDF {
		printed, err := c.startPrinting()
		if err != nil {
			return ledger.Answer{}, err
		}
		defer printed()
	}
	cards, err := c.stockOf(order)
	if err != nil {
		return ledger.Answer{}, err
	}
	unsold := slices.DeleteFunc(slices.Clone(cards), func(g gift.Gift) bool { return g.Status != gift.NotActivated })
	if form == asPDF && (len(unsold) == 0 || c.Sheets == nil) {
		return ledger.Answer{}, refusal.New(refusal.RedemptionNotAllowed, "No card of this stock is left to be printed.")
	}
	if err := c.addActivationCodes(order, cards, unsold); err != nil {
		return ledger.Answer{}, err
	}
	body, err := c.export(form, cards, unsold)
	if err != nil {
		return ledger.Answer{}, err
	}
	const leave phrase.Kept = "the codes of %d cards of order %s of account %-q (%-s) leave as %s, by the key %q (%-s), " +
		"request %-s"
	what := leave.Say(len(unsold), order, c.Account.Name, c.Account.ID, strings.ToUpper(form), c.Caller.Name,
		c.Caller.KeyID, c.RequestID)
	if err := c.CountKept(); err != nil {
		return ledger.Answer{}, err
	}
	err = c.Records.LogExport(c.Context(), event.TrailEntry{AccountID: c.Account.ID, Actor: c.Actor(guid.ID{}).Actor,
		Action: event.CodesExported, RequestID: c.RequestID, What: what})
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	c.Media = exportTypes[form]
	c.Writer.Header().Set("Content-Disposition", `attachment; filename="stock-`+order.String()+"."+form+`"`)
	return ledger.Answer{Code: ledger.OK, Body: body}, nil
}

// addActivationCodes gives cards the numbers by which they are sold. A card that is sold meanwhile has none.
func (c *Call) addActivationCodes(order guid.ID, lists ...[]gift.Gift) error {
	numbers, err := c.Records.ActivationCodes(c.Context(), c.Account.ID, order)
	if err != nil {
		return service.Stored(err)
	}
	for _, cards := range lists {
		for n := range cards {
			cards[n].Card.Activation = numbers[cards[n].ID]
		}
	}
	return nil
}

func (c *Call) export(form string, cards, unsold []gift.Gift) ([]byte, error) {
	if form != asPDF {
		return c.list(cards), nil
	}
	sheets, err := c.Sheets(c.Context(), c.Account, unsold)
	if errors.Is(err, context.DeadlineExceeded) {
		err = notPrinted()
	}
	return sheets, err
}

// startPrinting waits until no other stock is printed, in turns by account: the sheets of thousands of cards take
// seconds, and memory. After it, there is as much time as any other call has; printed ends it.
func (c *Call) startPrinting() (printed func(), _ error) {
	ctx, cancel := c.MoreTime()
	waits, stop := context.WithTimeout(ctx, engine.MaxHeld)
	defer stop()
	done, err := c.prints.Take(waits, c.Account.ID, c.Caller.KeyID)
	switch {
	case err == nil:
		c.Proceed(ctx)
		return func() {
			done()
			cancel()
		}, nil
	case ctx.Err() == nil:
		err = notPrinted()
	}
	cancel()
	return nil, err
}

func notPrinted() *refusal.Error {
	e := refusal.New(refusal.Unavailable,
		"The sheets could not be made in time: other stocks are being printed. Repeat the "+
			"request in a minute, or ask for the list, format=csv.")
	e.RetryAfter = time.Minute
	return e
}

// cardMemory is about how much memory a card takes while it is written.
const cardMemory = 1 << 10

// stockOf finds the cards of a stock that the key may see, in the order in which they were made.
func (c *Call) stockOf(order guid.ID) (cards []gift.Gift, _ error) {
	none := refusal.At(refusal.NotFound, refusal.FieldOrder, "This account has no such stock.")
	filter := gift.Filter{AccountID: c.Account.ID, Locations: c.Caller.Locations, OrderID: order,
		Limit: gift.MaxRecipients}
	for {
		page, err := c.Records.Gifts(c.Context(), filter)
		if err != nil {
			return nil, service.Stored(err)
		}
		if err := c.TakeMemory(len(page) * cardMemory); err != nil {
			return nil, err
		}
		cards = append(cards, page...)
		if len(page) < filter.Limit {
			break
		}
		filter.Before = page[len(page)-1].ID
	}
	if len(cards) == 0 {
		return nil, none
	}
	// All gifts of an order were made alike. Those of send-gift are their recipients'.
	if is, err := c.fromStock(c.Context(), &cards[0]); err != nil || !is {
		return nil, cmp.Or(err, error(none))
	}
	slices.SortFunc(cards, func(a, b gift.Gift) int { return cmp.Compare(a.Card.RecipientIndex, b.Card.RecipientIndex) })
	return cards, nil
}

// fromStock reports whether a gift was made as a card of a stock.
func (c *Call) fromStock(ctx context.Context, g *gift.Gift) (bool, error) {
	history, err := c.Records.History(ctx, g.AccountID, g.ID, 0, 1)
	switch {
	case errors.Is(err, refusal.NotFound):
		return false, nil
	case err != nil:
		return false, service.Stored(err)
	}
	return len(history) == 1 && history[0].Status == gift.NotActivated, nil
}

// list writes cards as RFC 4180 has it.
func (c *Call) list(cards []gift.Gift) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	write := func(cells ...string) {
		for n := range cells {
			cells[n] = spreadsheet.Text(cells[n])
		}
		_ = w.Write(cells) // a buffer takes everything
	}
	write("code", "lastFour", "verificationCode", "status", "link", "codeText", "verificationText",
		"activationCode", "activationText")
	for n := range cards {
		g := &cards[n]
		if g.Status == gift.NotActivated {
			code, activation := g.Card.Code.Reveal(), g.Card.Activation.Reveal()
			write(code, g.Card.Code.LastFour(), g.Verification, g.Status.String(), payload.GiftURL(g, c.PublicURL()),
				spreadsheet.Digits(code), spreadsheet.Digits(g.Verification), activation, spreadsheet.Digits(activation))
		} else {
			write("", g.Card.Code.LastFour(), "", g.Status.String(), "", "", "", "", "")
		}
	}
	w.Flush()
	return b.Bytes()
}
