package setup

import (
	"errors"
	"net/http"

	"boon.example/internal/contact"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
	edits "boon.example/internal/setup"
)

// Look says where a gift is looked at.
type Look string

// The looks of a gift.
const (
	OnPage  Look = "page"
	InMail  Look = "mail"
	OnPaper Look = "paper"
)

var looks = []Look{OnPage, InMail, OnPaper}

// Sample is a gift that there is not.
type Sample struct {
	Look     Look
	Gift     gift.Gift
	Account  *merchant.Account
	Pictures []merchant.Asset // of its design that are not saved
}

// look shows a design as it would look, and saves nothing.
func (p *pages) look(r *desk.Request, e *editing, change *edits.Edit, look Look) (desk.View, error) {
	account, err := change.Look(p.Directory(), r.Now)
	if problems, is := errors.AsType[edits.Problems](err); is {
		return p.show(r, e, shown{typed: change.Is, seen: change.Seen, problems: problems})
	}
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	id, _ := change.Is["id"].(string)
	design, err := guid.Parse(id)
	if err != nil {
		return desk.View{}, desk.ErrNoPage
	}
	value := account.MaxGiftValue
	if usual, err := account.Currency.Parse("50"); err == nil {
		value = min(value, usual)
	}
	g := gift.Gift{Voucher: gift.Voucher{ID: design, AccountID: account.ID, ProgramID: merchant.BusinessProgram.ID,
		Currency: account.Currency, Funded: value, Balance: value, Status: gift.Delivered, CreatedAt: r.Now},
		Card: gift.Card{Sender: r.Locale.Text("console.setup.sample-from"),
			Recipient: r.Locale.Text("console.setup.sample-to"), Message: r.Locale.Text("console.setup.sample-message"),
			Contact: "sample@example.com", Method: contact.Email, DesignID: design, DeliveryZone: account.Zone.String(),
			DeliveredAt: r.Now}}
	if g.Card.Code, err = codes.ParseVoucherCode("123456789012"); err == nil {
		g.Card.Token, err = codes.ParseToken("SampleSampleSampleSamp")
	}
	if err != nil {
		return desk.View{}, err
	}
	shown := p.Sample(Sample{look, g, account, change.Pictures})
	done, err := p.busy.Take(r.Context(), r.Account.ID, r.Member.ID)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	return desk.View{Whole: http.HandlerFunc(func(w http.ResponseWriter, of *http.Request) {
		defer done()
		shown.ServeHTTP(w, of)
	})}, nil
}
