package gifts

import (
	"net/http"

	"boon.example/internal/contact"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Sample shows a gift that there is not, as its guest would see it.
type Sample func(*merchant.Account, gift.Gift) http.Handler

// sampleValue is what a gift is worth in the preview until its value is typed, in the currency's smallest unit.
const sampleValue = 2_500

// preview shows the page of the gift that the form for sending has in it, and sends nothing. What cannot be read yet is
// left out: the form says so when it is sent. While there is no value, it is sampleValue: a gift of nothing would look
// as if it were used.
func (f *pages) preview(r *desk.Request) (desk.View, error) {
	typed := r.HTTP.PostForm.Get
	a := r.Account
	g := gift.Gift{Voucher: gift.Voucher{ID: a.ID, AccountID: a.ID, ProgramID: merchant.BusinessProgram.ID,
		Currency: a.Currency, Status: gift.Delivered, CreatedAt: r.Now},
		Card: gift.Card{Sender: typed("sender"), Recipient: typed("recipient"), Message: typed("message"),
			Method: contact.Printed, DesignID: a.DefaultDesign, DeliveryZone: a.Zone.String(), DeliveredAt: r.Now}}
	g.Funded = sampleValue
	if number, err := readValue(r, typed("value")); err == nil {
		if value, err := a.Currency.Parse(money.Number(number)); err == nil && value > 0 {
			g.Funded = value
		}
	}
	g.Fixed, g.Balance = g.Funded, g.Funded
	if g.Card.Sender == "" {
		g.Card.Sender = a.Name
	}
	var err error
	if g.Card.Code, err = codes.ParseVoucherCode("123456789012"); err != nil {
		return desk.View{}, err
	}
	if g.Card.Token, err = codes.ParseToken("SampleSampleSampleSamp"); err != nil {
		return desk.View{}, err
	}
	return desk.View{Whole: f.Sample(a, g), Framed: true}, nil
}
