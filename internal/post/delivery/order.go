package delivery

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/spreadsheet"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/message"
	"boon.example/internal/post/print"
)

const (
	// maxAttachment is how large the cards of an order may be: with the third that a mail adds, mail servers take that.
	// The largest orders come to half of it.
	maxAttachment = 10 << 20
	// printerWait is how long an order waits for its turn to be printed, and printAgain when it asks again.
	printerWait = 10 * time.Second
	printAgain  = 5 * time.Second
)

// renderOrder writes the message that brings gifts of an order to their buyer. The codes are in the file only: what
// mail programs show in lists, and what is quoted in an answer, has none.
func (s *Gateways) renderOrder(ctx context.Context, gifts []gift.Gift, a *merchant.Account, job ledger.Job,
	p Pictures) (message.Message, error) {
	file, err := s.file(ctx, gifts, a, job.Now())
	if err != nil {
		return message.Message{}, err
	}
	view := gifts[0]
	buyer := view.Card.Purchase
	view.Card.Code, view.Card.Token = codes.VoucherCode{}, codes.Token{}
	view.Status = gift.Cancelled // there is nothing to be shown at a till
	view.Card.Language, view.Card.Message = view.BuyerLanguage, ""
	view.Card.Recipient = strings.TrimSpace(buyer.FirstName + " " + buyer.LastName)
	c := content{View: card.New(&view, a, job.Now()), Pictures: Pictures{Logo: p.Logo}, Count: len(gifts),
		Printed: view.Card.Attachment == gift.AsPDF}
	m, err := c.compose("order", message.Message{ID: job.ID, GiftID: view.ID, AccountID: view.AccountID,
		Method: contact.Email, Language: c.Language(), To: view.Card.Address(), At: job.Now()})
	m.Attachments = []message.Attachment{file}
	return m, err
}

// file makes the file in which gifts of an order go to their buyer, each as its recipient will find it.
func (s *Gateways) file(ctx context.Context, gifts []gift.Gift, a *merchant.Account,
	now time.Time) (f message.Attachment, err error) {
	shown := slices.Clone(gifts)
	for n := range shown {
		if shown[n].Status == gift.Pending {
			shown[n].Status = gift.Delivered
		}
	}
	f.OrderID = gifts[0].OrderID
	if gifts[0].Card.Attachment == gift.AsCSV {
		f.Name, f.Kind, f.Bytes = "gift-cards.csv", "text/csv; charset=utf-8", s.table(shown, a, now)
	} else {
		f.Name, f.Kind = "gift-cards.pdf", "application/pdf"
		f.Bytes, err = s.printed(ctx, shown, a, now)
	}
	if len(f.Bytes) > maxAttachment {
		return f, &message.Refusal{Words: fmt.Sprintf("The cards of this order take %d MiB, which is more than a mail holds.",
			len(f.Bytes)>>20)}
	}
	return f, err
}

// printed prints gifts: ten cards to a page, or a page where there is one gift only.
func (s *Gateways) printed(ctx context.Context, gifts []gift.Gift, a *merchant.Account, now time.Time) ([]byte, error) {
	waits, cancel := context.WithTimeout(ctx, printerWait)
	defer cancel()
	done, err := s.Printer.Take(waits, gifts[0].AccountID, gifts[0].OrderID)
	if err != nil {
		return nil, &Paused{Words: "Too many orders are printed at the same time.", After: printAgain}
	}
	defer done()
	maker := print.Cards{Fonts: s.Fonts, PublicURL: s.PublicURL, Asset: s.Asset}
	cards := make([]print.Card, len(gifts))
	for n := range gifts {
		if cards[n], err = maker.Of(ctx, &gifts[n], a, now); err != nil {
			return nil, err
		}
	}
	paper := print.PaperFor(a, gifts[0].LocationID)
	if len(cards) == 1 {
		return s.Fonts.Gift(cards[0], paper)
	}
	return s.Fonts.Order(ctx, cards, paper)
}

// table writes gifts as RFC 4180 has it, one a line. It begins with a byte order mark, without which Excel takes the
// letters for others.
func (s *Gateways) table(gifts []gift.Gift, a *merchant.Account, now time.Time) []byte {
	b := bytes.NewBufferString("\ufeff")
	w := csv.NewWriter(b)
	w.UseCRLF = true
	_ = w.Write([]string{"recipient", "code", "link", "value", "unit", "validUntil", "from", "message"}) // to memory
	for n := range gifts {
		g := &gifts[n]
		v := card.New(g, a, now)
		code, link, until := "", "", ""
		if v.Shown() {
			code, link = spreadsheet.Digits(g.Card.Code.Reveal()), card.GiftURL(s.PublicURL, g.Card.Token)
		}
		if end := g.End(); !end.IsZero() {
			until = end.In(a.TimeZone()).Format(time.RFC3339)
		}
		unit := g.Currency.Code
		if g.Item {
			unit = g.Card.Label
		}
		cells := []string{g.Card.Recipient, code, link, g.Unit().Format(g.Balance), unit, until, g.Card.Sender,
			g.Card.Message}
		for n := range cells {
			cells[n] = spreadsheet.Text(cells[n])
		}
		_ = w.Write(cells)
	}
	w.Flush()
	return b.Bytes()
}

// completeFiles makes the files of a message of the outbox again.
func (s *Gateways) completeFiles(ctx context.Context, m *message.Message) error {
	m.Attachments = slices.Clone(m.Attachments)
	for i := range m.Attachments {
		f := &m.Attachments[i]
		gifts, err := s.Gifts(ctx, gift.Filter{AccountID: m.AccountID, OrderID: f.OrderID, Limit: gift.MaxRecipients})
		if err != nil {
			return fmt.Errorf("finding the gifts of a message: %w", err)
		}
		account := s.Directory().Accounts[m.AccountID]
		gifts = slices.DeleteFunc(gifts, func(g gift.Gift) bool { return g.Card.Attachment == "" })
		if account == nil || len(gifts) == 0 {
			continue
		}
		slices.SortFunc(gifts, func(a, b gift.Gift) int { return cmp.Compare(a.Card.RecipientIndex, b.Card.RecipientIndex) })
		if *f, err = s.file(ctx, gifts, account, m.At); err != nil {
			return err
		}
	}
	return nil
}
