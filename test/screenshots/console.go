package main

import (
	"context"
	"fmt"
	"image"
	"image/draw"
	"time"

	"github.com/chromedp/chromedp"

	"boon.example/client"
	"boon.example/internal/guid"
	"boon.example/internal/staff"
	"boon.example/internal/store"
)

// invite invites somebody to the console as an owner, and gives the path of the invitation.
func (w *world) invite(ctx context.Context, name, email string) (path string, err error) {
	s, err := store.Open(ctx, store.Options{Dir: w.data})
	if err != nil {
		return "", err
	}
	defer s.Close()
	account, err := guid.Parse(prefix + "01")
	if err != nil {
		return "", err
	}
	d, err := s.Directory(ctx)
	if err != nil {
		return "", err
	}
	var token string
	err = s.ChangeStaff(ctx, account, func(members []staff.Member) (c staff.Changes, err error) {
		who := staff.Member{Name: name, Email: email, Role: staff.Owner}
		if _, c, err = staff.Invite(d.Accounts[account], members, who, time.Now()); err == nil {
			token = c.Invite.Token
		}
		return c, err
	})
	return "/console/join/" + token, err
}

// guests makes gifts of some guests, in the states that live brings them into, and gives the id of the last.
func (w *world) guests(ctx context.Context) (id string, err error) {
	for _, g := range []struct{ guest, worth, state string }{{"Julia Hoffmann", "50", "ready"},
		{"Jonas Wirth", "25", "redeemed"}, {"Chloé Martin", "100", "ready"}, {"Team Müller GmbH", "40", "blocked"},
		{"Peter Sommer", "75", "held"}, {"Grandma", "30", "cancelled"}, {"Ana Lee", "25", "partly"}} {
		sent, err := w.api.SendGift(ctx, client.SendGiftRequest{
			MonetaryGift: &client.MonetaryGift{Value: client.MustDecimal(g.worth), DeliveryMethodID: client.Printed,
				RecipientDescription: g.guest, Message: "Happy birthday!"},
			SenderDescription: "Ben", PaymentMethodID: client.ExternalTransaction,
			ExternalPayment: client.ExternalPayment{
				ExternalTransactionReferenceNumber: "Receipt " + g.worth, ExternalTransactionCustomerFirstName: "Ben",
				ExternalTransactionCustomerLastName:     "Young",
				ExternalTransactionCustomerEmailAddress: "ben@example.com", ExternalStorefrontID: prefix + "21"}})
		if err != nil {
			return "", err
		}
		id = sent.Gifts[0].VoucherID
		if err := w.live(ctx, id, g.state); err != nil {
			return "", err
		}
	}
	return id, nil
}

// console shows the gifts of an account on a desk, and what became of one of them: on a desk, and in the dark on a
// phone.
func (s *studio) console(ctx context.Context) error {
	one, err := s.guests(ctx)
	if err != nil {
		return err
	}
	invitation, err := s.invite(ctx, "Robin", "robin@example.com")
	if err != nil {
		return err
	}
	desk, dark := look{"light", 1120, 1}, look{"dark", phone, 1}
	limited, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	if err := s.open(limited, s.url+invitation, desk); err != nil {
		return err
	}
	if err := chromedp.Do(limited, chromedp.Click("main button"), chromedp.WaitVisible(".who")); err != nil {
		return fmt.Errorf("coming in to the console: %w", err)
	}
	const home, tallest = "/console/" + prefix + "01/", 720
	var row []image.Image
	for _, as := range []struct {
		path string
		look look
	}{{"gifts", desk}, {"gifts/" + one, dark}} {
		img, err := s.shoot(s.url+home+as.path, as.look)
		if err != nil {
			return err
		}
		top := image.NewNRGBA(image.Rect(0, 0, img.Bounds().Dx(), min(tallest, img.Bounds().Dy())))
		draw.Draw(top, top.Bounds(), img, img.Bounds().Min, draw.Src)
		row = append(row, top)
	}
	return s.save("console", grid(row, len(row)))
}
