package server_test

import (
	"encoding/base64"
	"encoding/csv"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	stdmail "net/mail"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/guid"
	"boon.example/internal/server"
	"boon.example/internal/store"
	"boon.example/internal/store/erase"
)

// soldTo sends gifts, and says more of who paid.
func (s *service) soldTo(gift, more string) []soldGift {
	s.Helper()
	var order struct{ Gifts []soldGift }
	s.must("POST", "/api/integration/gifting/send-gift", examples.HarborWebShopKey,
		`{"monetaryGift":`+gift+`,"paymentMethodID":2,"externalTransactionReferenceNumber":"W-1",
		"externalTransactionCustomerFirstName":"Carla","externalTransactionCustomerLastName":"Diaz",
		"externalTransactionCustomerEmailAddress":"carla@example.com",
		"externalStorefrontID":"`+examples.HarborStorefront+`"`+more+`}`, &order)
	return order.Gifts
}

// TestBuyersAreTold: whoever bought a gift and asked for it is told, in their language and once each, that it was
// delivered and that it was used for the first time; the mails tell no code, no link and no amount.
func TestBuyersAreTold(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	s.learned()
	g := s.soldTo(`{"value":25,"deliveryMethodID":1,"recipientDescription":"Ana","recipientContact":"ana@example.com"}`,
		`,"notifyBuyer":true,"externalTransactionCustomerLanguage":"de-AT"`)[0]
	receive(t, box.letters) // the gift
	arrived := receive(t, box.letters)
	s.toBuyer(arrived, g, "Dein Geschenk ist angekommen", "Das Geschenk für Ana, das du bei Harbor Coffee gekauft hast")
	redeem := func(amount string) {
		t.Helper()
		s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":`+amount+`}`, nil)
	}
	redeem("9.5")
	used := receive(t, box.letters)
	s.toBuyer(used, g, "Dein Geschenk wurde eingelöst", "zum ersten Mal eingelöst")
	redeem("1")

	// A gift that nobody asked for, one that its buyer has, and one that is sent again tell the buyer nothing more.
	s.soldTo(`{"value":25,"deliveryMethodID":1,"recipientContact":"leo@example.com"}`, "")
	s.soldTo(`{"value":25,"deliveryMethodID":1,"recipientContact":"carla@example.com"}`, `,"notifyBuyer":true`)
	s.must("POST", "/api/integration/gifting/resend-gift", examples.HarborOfficeKey, `{"voucherID":"`+g.VoucherID+
		`","recipientContact":"ben@example.com"}`, nil)
	printed := s.soldTo(`{"value":5,"deliveryMethodID":3,"recipientDescription":"Zoe"}`, `,"notifyBuyer":true`)[0]
	for range 4 { // three gifts, and one notice to Ana that hers went to somebody else
		if letter := receive(t, box.letters); strings.Contains(letter, "\r\nTo: \"Carla Diaz\"") {
			t.Errorf("the buyer gets\n%.800s", letter)
		}
	}
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+printed.VoucherID+`"}`, nil)
	s.toBuyer(receive(t, box.letters), printed, "Your gift was used", "The gift for Zoe that you bought at Harbor Coffee")
	s.measures("boon_delivery_jobs_waiting 0")
	if n := len(box.letters); n != 0 {
		t.Errorf("%d more mails", n)
	}
	if strings.Contains(s.logs.String(), "carla@example.com") {
		t.Error("the log has a contact")
	}
}

// toBuyer judges a mail to whoever bought a gift.
func (s *service) toBuyer(source string, g soldGift, subject, text string) {
	s.Helper()
	mail := readLetter(s.T, source)
	if mail.subject != subject || !strings.Contains(mail.text, text) || !strings.Contains(source, "carla@example.com") {
		s.Errorf("the mail to the buyer is %+v", mail)
	}
	for _, secret := range []string{g.VoucherCode, g.VoucherCode[:4] + " " + g.VoucherCode[4:8], g.VoucherPublicToken,
		"/g/", "25.00", "25,00", "15.50", "15,50", "9.50", "9,50", "$", "ana@example.com"} {
		if strings.Contains(mail.text+mail.html, secret) {
			s.Errorf("the mail to the buyer tells %q: %+v", secret, mail)
		}
	}
}

// TestOrdersGoToTheirBuyer: the gifts of an order come to their buyer as the file of one mail, each of them is
// delivered by that, and none is told twice.
func TestOrdersGoToTheirBuyer(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	s.learned()
	const three = `{"value":20,"deliveryMethodID":1}`
	gifts := s.soldTo(three, `,"deliverTo":"buyer","attachment":"csv","notifyBuyer":true,"senderDescription":"=HYPERLINK(1)",
		"externalTransactionCustomerLanguage":"de",
		"recipients":[{"recipientDescription":"Ana","message":"Danke"},{"recipientDescription":"Leo"},{}]`)
	source := receive(t, box.letters)
	s.toBuyer(source, gifts[0], "Deine Geschenkkarten sind da", "Die 3 Geschenke, die du bei Harbor Coffee gekauft hast")
	table := s.attached(source, "gift-cards.csv")
	lines, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(table, "\ufeff"))).ReadAll()
	if err != nil || len(lines) != 4 {
		t.Fatalf("%v in %s", err, table)
	}
	for n, g := range gifts {
		line := lines[n+1]
		if line[0] != []string{"Ana", "Leo", ""}[n] || strings.ReplaceAll(line[1], "-", "") != g.VoucherCode ||
			line[2] != g.GiftURL || line[3] != "20.00" || line[4] != "USD" || line[6] != "'=HYPERLINK(1)" {
			t.Errorf("line %d is %q", n, line)
		}
		s.eventually(func() bool { return s.gift(g.VoucherID).Status == "DELIVERED" })
	}
	page := s.soldTo(three, `,"deliverTo":"buyer","recipients":[{"recipientDescription":"Ana"},{"recipientDescription":"Leo"}]`)
	if pdf := s.attached(receive(t, box.letters), "gift-cards.pdf"); !strings.HasPrefix(pdf, "%PDF-") {
		t.Errorf("attached is %.20q", pdf)
	}
	// One of them goes to its recipient after all, by another code.
	s.must("POST", "/api/integration/gifting/resend-gift", examples.HarborOfficeKey, `{"voucherID":"`+page[1].VoucherID+
		`","recipientContact":"leo@example.com"}`, nil)
	for range 2 { // the gift, and to the buyer that it went elsewhere
		if letter := receive(t, box.letters); strings.Contains(letter, "leo@example.com") ==
			strings.Contains(letter, "carla@example.com") || strings.Contains(letter, "gift-cards") {
			t.Errorf("sent is %.800s", letter)
		}
	}
	// All others go to the buyer again, whose address was mistyped.
	var again soldGift
	s.must("POST", "/api/integration/gifting/resend-gift", examples.HarborOfficeKey, `{"voucherID":"`+gifts[2].VoucherID+
		`","recipientContact":"carla.diaz@example.com","withOrder":true}`, &again)
	for range 2 { // the gifts, and to the old address that they went elsewhere
		letter := receive(t, box.letters)
		if strings.Contains(letter, "gift-cards.csv") != strings.Contains(letter, "carla.diaz@example.com") {
			t.Errorf("sent is %.800s", letter)
		} else if strings.Contains(letter, "gift-cards.csv") {
			table := strings.ReplaceAll(s.attached(letter, "gift-cards.csv"), "-", "")
			if strings.Count(table, "\n") != 4 || strings.Contains(table, gifts[0].VoucherCode) || again.VoucherCode != "" &&
				!strings.Contains(table, again.VoucherCode) {
				t.Errorf("attached is %s", table)
			}
		}
	}
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+gifts[1].VoucherID+`","amount":5}`, nil)
	s.toBuyer(receive(t, box.letters), gifts[1], "Dein Geschenk wurde eingelöst", "Das Geschenk für Leo")
	s.measures("boon_delivery_jobs_waiting 0")
	if n := len(box.letters); n != 0 {
		t.Errorf("%d more mails", n)
	}
}

// gift is a gift as the office sees it.
func (s *service) gift(id string) (g soldGift) {
	s.Helper()
	s.must("GET", giftPath+id, examples.HarborOfficeKey, "", &g)
	return g
}

// attached is a file of a mail.
func (s *service) attached(source, name string) string {
	s.Helper()
	m, err := stdmail.ReadMessage(strings.NewReader(source))
	if err != nil {
		s.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		s.Fatal(err)
	}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := r.NextPart()
		if err != nil {
			s.Fatalf("no %s: %v in %.2000s", name, err, source)
		}
		if part.FileName() == name {
			bytes, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, part))
			if err != nil {
				s.Fatal(err)
			}
			return string(bytes)
		}
	}
}

// TestOrdersForNoBuyer: what does not go together is refused, and told where it stands.
func TestOrdersForNoBuyer(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	for gift, wrong := range map[string]string{
		`{"value":5,"deliveryMethodID":2},"deliverTo":"buyer"`:                                                   "monetaryGift.deliveryMethodID",
		`{"value":5,"deliveryMethodID":3},"deliverTo":"buyer"`:                                                   "monetaryGift.deliveryMethodID",
		`{"value":5,"deliveryMethodID":1,"recipientContact":"ana@example.com"},"deliverTo":"buyer"`:              "monetaryGift.recipientContact",
		`{"value":5,"deliveryMethodID":1},"recipients":[{},{"deliveryMethodID":3}],"deliverTo":"buyer"`:          "recipients[1].deliveryMethodID",
		`{"value":5,"deliveryMethodID":1},"recipients":[{"recipientContact":"a@b.example"}],"deliverTo":"buyer"`: "recipients[0].recipientContact",
		`{"value":5,"deliveryMethodID":1},"deliverTo":"me"`:                                                      "deliverTo",
		`{"value":5,"deliveryMethodID":1},"deliverTo":"buyer","attachment":"zip"`:                                "attachment",
		`{"value":5,"deliveryMethodID":1,"recipientContact":"ana@example.com"},"attachment":"pdf"`:               "attachment",
	} {
		status, answer, err := s.callOnce("POST", "/api/integration/gifting/send-gift?dryRun=true",
			examples.HarborWebShopKey, "", `{"monetaryGift":`+gift+`,"paymentMethodID":2,"externalTransactionReferenceNumber":"W-1",
			"externalTransactionCustomerFirstName":"Carla","externalTransactionCustomerLastName":"Diaz",
			"externalTransactionCustomerEmailAddress":"carla@example.com","externalStorefrontID":"`+examples.HarborStorefront+`"}`)
		if err != nil || status != http.StatusBadRequest || !strings.Contains(string(answer), `"path":"`+wrong+`"`) {
			t.Errorf("%s: %d %s %v", gift, status, answer, err)
		}
	}
	status, answer, err := s.call("POST", "/api/integration/gifting/send-gift", examples.HarborWebShopKey,
		`{"monetaryGift":{"value":5,"deliveryMethodID":1},"paymentMethodID":4,"promotionID":"`+examples.HarborWelcomeBack+
			`","validStarting":"2026-01-01T00:00:00Z","deliverTo":"buyer"}`)
	if err != nil || status != http.StatusBadRequest || !strings.Contains(string(answer), `"path":"deliverTo"`) {
		t.Errorf("a promotion: %d %s %v", status, answer, err)
	}
}

// TestEveryBuyerIsTold: an account whose set-up says so tells each buyer that the gift was delivered, and nothing of
// its use.
func TestEveryBuyerIsTold(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	s.apply([]byte(strings.Replace(string(examples.HarborCoffee()), "    timeZone:",
		"    arrivalNotice: true\n    timeZone:", 1)))
	s.learned()
	g := s.sell(`{"value":25,"deliveryMethodID":1,"recipientContact":"ana@example.com"}`)
	receive(t, box.letters)
	s.toBuyer(receive(t, box.letters), g, "Your gift has arrived", "The gift that you bought at Harbor Coffee")
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`"}`, nil)
	s.measures("boon_delivery_jobs_waiting 0")
	if n := len(box.letters); n != 0 {
		t.Errorf("%d more mails", n)
	}
}

// TestErasedBuyersAreNotTold: a buyer whose address was erased gets no mail about the first use.
func TestErasedBuyersAreNotTold(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	s.learned()
	g := s.soldTo(`{"value":25,"deliveryMethodID":3,"recipientDescription":"Ana"}`, `,"notifyBuyer":true`)[0]
	s.withStore(func(kept *store.Store) error {
		id, err := guid.Parse(g.VoucherID)
		if err != nil {
			return err
		}
		directory, err := kept.Directory(t.Context())
		if err != nil {
			return err
		}
		account, err := guid.Parse(examples.HarborAccount)
		if err != nil {
			return err
		}
		_, err = kept.Eraser.Gifts(t.Context(), erase.Request{Account: directory.Accounts[account],
			Contact: "carla@example.com"}, []guid.ID{id})
		return err
	})
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`"}`, nil)
	s.measures("boon_delivery_jobs_waiting 0")
	if n := len(box.letters); n != 0 {
		t.Errorf("%d mails", n)
	}
}

// TestPromotionsHaveNoBuyer: a gift that nobody bought has no buyer to be told.
func TestPromotionsHaveNoBuyer(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	status, answer, err := s.call("POST", "/api/integration/gifting/send-gift", examples.HarborWebShopKey,
		`{"monetaryGift":{"value":5,"deliveryMethodID":3},"paymentMethodID":4,"promotionID":"`+examples.HarborWelcomeBack+
			`","validStarting":"2026-01-01T00:00:00Z","notifyBuyer":true,"externalTransactionCustomerLanguage":"de"}`)
	if err != nil || status != http.StatusBadRequest {
		t.Fatalf("%d %v", status, err)
	}
	for _, member := range []string{"notifyBuyer", "externalTransactionCustomerLanguage"} {
		if !strings.Contains(string(answer), `"path":"`+member+`"`) {
			t.Errorf("%s is not named: %s", member, answer)
		}
	}
}
