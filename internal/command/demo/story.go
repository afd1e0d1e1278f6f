// Package demo tells the life of a few gifts on a running service with the set-up of the examples, call by call, as
// anybody could make the calls. A call that is not answered as the story says ends it.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"boon.example/client"
	"boon.example/examples"
	"boon.example/internal/command/terminal"
)

// Story is the life of a few gifts, told call by call over real HTTP.
type Story struct {
	out  io.Writer
	Base string
	pen  pen
	http http.Client
	step int
	from string // a time before the first call, as reports take it: from then on the books are the story's
	when string // makes the story's keys and references differ from those of another run
}

// New begins a story on the service at an address. People see it in colours.
func New(t *terminal.Terminal, base string) *Story {
	colors := terminal.OnTerminal(t.Stdout) && t.Getenv("NO_COLOR") == "" && t.Getenv("TERM") != "dumb"
	began := time.Now().UTC().Truncate(time.Second)
	return &Story{out: t.Stdout, Base: base, pen: pen(colors), http: http.Client{Timeout: 15 * time.Second},
		from: began.Format(time.RFC3339), when: began.Format("150405")}
}

// call is one call of the story, and what must come of it.
type call struct {
	heading string
	path    string // below the base address
	key     string // the API key
	once    string // the Idempotency-Key, "" none
	body    string // "" makes it a GET
	status  int
	show    string // the members of the answer that the story is about
	expect  func(answer) error
}

// answer is what came back.
type answer struct {
	OrderID string
	Gifts   []client.Voucher
	client.Voucher
	RedemptionID string
	HoldID       string
	Amount       client.Decimal
	Code         client.Code
	Entries      []client.Entry
	replayed     bool
	body         []byte
}

const (
	sendPath     = "/api/integration/gifting/send-gift"
	giftsPath    = "/api/integration/gifting/gifts/"
	validatePath = "/api/integration/redemption/validate-gift"
	redeemPath   = "/api/integration/redemption/redeem-gift"
	holdPath     = "/api/integration/redemption/hold-gift"
	capturePath  = "/api/integration/redemption/capture-hold"
	reversePath  = "/api/integration/redemption/reverse-redemption"
)

// Tell runs the whole story and stops where it does not go as told.
func (s *Story) Tell(ctx context.Context) error {
	s.title("Boon: the life of a few gifts at Harbor Coffee",
		"Every call below is real; paste any of them into another terminal while this one is open. Those with an "+
			"Idempotency-Key",
		"can be pasted as often as you like: they are done once and answered the same way again.")
	bought, err := s.purchases(ctx)
	if err != nil {
		return err
	}
	if err := s.spending(ctx, bought); err != nil {
		return err
	}
	if err := s.books(ctx); err != nil {
		return err
	}
	s.title("That is all of it.", "Ana's gift:  "+bought.Gifts[0].GiftURL,
		"Her gifts:   "+s.Base+"/my/"+examples.HarborAccount,
		"The outbox:  "+s.Base+"/outbox",
		"The API:     "+s.Base+"/docs")
	return nil
}

// purchases creates gifts of all kinds and gives the first of them, delivered.
func (s *Story) purchases(ctx context.Context) (*answer, error) {
	bought, err := s.call(ctx, call{
		heading: "Carla buys two gifts of 25 dollars in the web shop. Boon e-mails them to Ana and Ben.",
		path:    sendPath, key: examples.HarborWebShopKey, once: "shop-" + s.when,
		status: 201, show: "orderID gifts status currentBalance currency giftURL",
		body: `{
  "monetaryGift": {"value": 25.00, "deliveryMethodID": 1},
  "recipients": [
    {"recipientDescription": "Ana", "recipientContact": "ana@example.com", "message": "Let's have coffee!"},
    {"recipientDescription": "Ben", "recipientContact": "ben@example.com"}
  ],
  "paymentMethodID": 2,
  "externalTransactionReferenceNumber": "WEB-` + s.when + `",
  "externalTransactionCustomerFirstName": "Carla",
  "externalTransactionCustomerLastName": "Diaz",
  "externalTransactionCustomerEmailAddress": "carla@example.com",
  "externalStorefrontID": "` + examples.HarborStorefront + `"
}`,
		expect: func(a answer) error {
			return that(len(a.Gifts) == 2 && a.Gifts[0].GiftURL != "", "two gifts with their pages")
		},
	})
	if err != nil {
		return nil, err
	}
	printed, err := s.call(ctx, call{
		heading: "The shop prints a gift of two lattes, to hand over in a card. A printed gift is usable at once.",
		path:    sendPath, key: examples.HarborWebShopKey, once: "print-" + s.when,
		status: 201, show: "gifts label quantity status currentBalance giftURL",
		body: `{
  "itemGift": {"label": "Latte", "quantity": 2, "terms": "Any size.", "equivalentValue": 11.00, "deliveryMethodID": 3, "recipientDescription": "Dora"},
  "senderDescription": "The team of Pier 39",
  "paymentMethodID": 2,
  "externalTransactionReferenceNumber": "POS-` + s.when + `",
  "externalTransactionCustomerFirstName": "Eli",
  "externalTransactionCustomerLastName": "Young",
  "externalTransactionCustomerEmailAddress": "eli@example.com",
  "externalStorefrontID": "` + examples.HarborStorefront + `"
}`,
		expect: func(a answer) error {
			return that(len(a.Gifts) == 1 && a.Gifts[0].Status == client.StatusDelivered, "one gift, DELIVERED")
		},
	})
	if err != nil {
		return nil, err
	}
	promo, err := s.promotion(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range []string{bought.Gifts[0].VoucherID, bought.Gifts[1].VoucherID, promo.Gifts[0].VoucherID} {
		if err := s.delivered(ctx, id); err != nil {
			return nil, err
		}
	}
	s.note("The e-mails and the SMS have left: see them at " + s.Base + "/outbox")
	return bought, s.scanned(ctx, printed.Gifts[0].VoucherPublicToken)
}

// promotion creates a promotional gift.
func (s *Story) promotion(ctx context.Context) (*answer, error) {
	return s.call(ctx, call{
		heading: "A promotion: 5 dollars by SMS for a guest who has not been here for a while. Nobody pays; it is good " +
			"for 60 days.",
		path: sendPath, key: examples.HarborWebShopKey, once: "promo-" + s.when,
		status: 201, show: "gifts isPromoType validFrom validUntil status currentBalance",
		body: `{
  "monetaryGift": {"value": 5, "deliveryMethodID": 2, "recipientDescription": "Finn", "recipientContact": "415-555-0132", "message": "We miss you!"},
  "paymentMethodID": 4,
  "promotionID": "` + examples.HarborWelcomeBack + `",
  "validStarting": "` + time.Now().UTC().Truncate(time.Minute).Format(time.RFC3339) + `"
}`,
		expect: func(a answer) error { return that(len(a.Gifts) == 1 && a.Gifts[0].IsPromoType, "one promotional gift") },
	})
}

// scanned shows a till that reads the QR code of the printed gift.
func (s *Story) scanned(ctx context.Context, token string) error {
	_, err := s.call(ctx, call{
		heading: "Dora's card at the till of Pier 39: the scanner reads the link in its QR code. What is it worth?",
		path:    validatePath, key: examples.HarborTillKey, status: 200, show: "label quantity currentBalance isItemType " +
			"isRedeemable status",
		body: `{"voucherPublicToken": "` + s.Base + "/g/" + token + `"}`,
		expect: func(a answer) error {
			return that(a.IsRedeemable && a.CurrentBalance.Cmp(client.Whole(2)) == 0, "two lattes, redeemable")
		},
	})
	return err
}

// spending is what happens to Ana's gift.
func (s *Story) spending(ctx context.Context, bought *answer) error {
	ana := bought.Gifts[0]
	if _, err := s.call(ctx, call{
		heading: "Ana reads her code to the cashier.",
		path:    validatePath, key: examples.HarborTillKey, status: 200, show: "voucherID currentBalance currency " +
			"isRedeemable status recipientDescription",
		body: `{"voucherCode": "` + ana.VoucherCode + `"}`,
		expect: func(a answer) error {
			return that(a.VoucherID == ana.VoucherID && a.IsRedeemable, "Ana's gift, redeemable")
		},
	}); err != nil {
		return err
	}
	pay := call{
		heading: "She pays 9.50 with it. The rest stays on the gift.",
		path:    redeemPath, key: examples.HarborTillKey, once: "check-1-" + s.when,
		status: 200, show: "redemptionID amount currentBalance status",
		body:   `{"voucherID": "` + ana.VoucherID + `", "amount": 9.50, "reference": "check 1"}`,
		expect: balance("15.50"),
	}
	paid, err := s.call(ctx, pay)
	if err != nil {
		return err
	}
	pay.heading = "The till lost that answer and asks again, with the same Idempotency-Key. It gets the same answer; " +
		"nothing is taken twice."
	pay.expect = func(a answer) error {
		return that(a.replayed && bytes.Equal(a.body, paid.body), "the first answer, byte for byte")
	}
	if _, err := s.call(ctx, pay); err != nil {
		return err
	}
	if _, err := s.call(ctx, call{
		heading: "Later she wants to pay 20. That is more than is left, so nothing is taken.",
		path:    redeemPath, key: examples.HarborTillKey, once: "check-2-" + s.when,
		status: 409, show: "status code messages path text",
		body:   `{"voucherID": "` + ana.VoucherID + `", "amount": 20, "reference": "check 2"}`,
		expect: func(a answer) error { return that(a.Code == client.InsufficientBalance, "INSUFFICIENT_BALANCE") },
	}); err != nil {
		return err
	}
	if _, err := s.call(ctx, call{
		heading: "The first check was for another table. The cashier reverses it, and the money is back on the gift.",
		path:    reversePath, key: examples.HarborTillKey, once: "void-1-" + s.when,
		status: 200, show: "reversalID amount currentBalance status",
		body:   `{"redemptionID": "` + paid.RedemptionID + `", "reason": "wrong table"}`,
		expect: balance("25.00"),
	}); err != nil {
		return err
	}
	if err := s.charging(ctx, bought.Gifts[1]); err != nil {
		return err
	}
	return s.lookingBack(ctx, ana)
}

// charging is a sale whose total is known last.
func (s *Story) charging(ctx context.Context, ben client.Voucher) error {
	held, err := s.call(ctx, call{
		heading: "Ben charges his car in front of the shop. The charger holds 20 dollars of his gift: they stay his, but " +
			"nobody else can take them.",
		path: holdPath, key: examples.HarborTillKey, once: "charger-" + s.when,
		status: 200, show: "holdID amount currentBalance heldBalance availableBalance",
		body:   `{"voucherID": "` + ben.VoucherID + `", "amount": 20, "reference": "charger 1"}`,
		expect: balance("25.00"),
	})
	if err != nil {
		return err
	}
	_, err = s.call(ctx, call{
		heading: "It was 8.63. That is taken, and the rest is his to spend again.",
		path:    capturePath, key: examples.HarborTillKey, once: "charged-" + s.when,
		status: 200, show: "redemptionID amount currentBalance heldBalance availableBalance",
		body:   `{"holdID": "` + held.HoldID + `", "amount": 8.63, "reference": "charger 1"}`,
		expect: balance("16.37"),
	})
	return err
}

// lookingBack shows the gift's history.
func (s *Story) lookingBack(ctx context.Context, ana client.Voucher) error {
	_, err := s.call(ctx, call{
		heading: "Everything that ever happened to the gift stays on record.",
		path:    giftsPath + ana.VoucherID + "/history", key: examples.HarborWebShopKey,
		status: 200, show: "entries seq kind amount currentBalance status",
		expect: func(a answer) error { return that(len(a.Entries) == 4, "four entries") },
	})
	return err
}

// Farewell says what can be done now.
func (s *Story) Farewell(till, console string) {
	fmt.Fprintf(s.out, "\nTo see them as the owner does, open the console. This link works once:\n\n  %s\n", console)
	fmt.Fprintf(s.out, "\nTo redeem these gifts as a cashier does, pair this browser as a till of Pier 39 within 15 "+
		"minutes:\n\n  %s\n",
		till)
	fmt.Fprintf(s.out, "\nThe service goes on running at %s. On the command line it is reached like this:\n\n", s.Base)
	fmt.Fprintf(s.out, "  BOON_URL=%s BOON_KEY=%s %s gift list\n\n", s.Base, examples.HarborWebShopKey, invoked())
	fmt.Fprintf(s.out, "This shows the books again, each sort of gift in a row, after what you did:\n\n  BOON_URL=%s "+
		"BOON_KEY=%s %s report roll-forward --from %s\n\n", s.Base, examples.HarborOfficeKey, invoked(), s.from)
	fmt.Fprintf(s.out, "To write a program against it, take the key of a test account, whose gifts are worth nothing:\n\n"+
		"  export BOON_URL=%s BOON_KEY=%s\n\nThe account has a clock of its own. This advances it by 30 days, and does "+
		"what is due then:\n\n  %s\n\n%s/docs/test-mode has more.\n\nCtrl-C ends it and removes its data.\n", s.Base,
		examples.HarborTestKey, strings.ReplaceAll(s.curl(call{path: "/api/test/clock", key: examples.HarborTestKey,
			body: `{"advance": "P30D"}`}), "\n", "\n  "), s.Base)
}

// invoked is how this program was called, as a word for a shell: boon, or bin/boon.
func invoked() string {
	if name := os.Args[0]; strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") != "" {
		return quote(name)
	}
	return os.Args[0]
}

// that is an error unless ok.
func that(ok bool, expected string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("the story expected %s", expected)
}

func balance(want string) func(answer) error {
	return func(a answer) error {
		return that(a.CurrentBalance.Cmp(client.MustDecimal(want)) == 0, "a balance of "+want)
	}
}

// call makes a call, prints it with its answer, and checks that the answer is as the story goes.
func (s *Story) call(ctx context.Context, c call) (*answer, error) {
	s.step++
	fmt.Fprintf(s.out, "\n%s\n\n%s\n\n", s.pen.bold(fmt.Sprintf("%d. %s", s.step, c.heading)), s.pen.cyan(s.curl(c)))
	a, status, err := s.do(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("step %d: %w", s.step, err)
	}
	mark := ""
	if a.replayed {
		mark = "  (Idempotent-Replayed: true)"
	}
	fmt.Fprintf(s.out, "HTTP %d%s\n%s\n", status, mark, terminal.Plain(shorten(a.body, c.show)))
	if status != c.status {
		return nil, fmt.Errorf("step %d did not go as told: HTTP %d instead of %d", s.step, status, c.status)
	}
	if err := c.expect(*a); err != nil {
		return nil, fmt.Errorf("step %d did not go as told: %w", s.step, err)
	}
	return a, nil
}

func (s *Story) do(ctx context.Context, c call) (*answer, int, error) {
	method := http.MethodPost
	if c.body == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, s.Base+c.path, strings.NewReader(c.body))
	if err != nil {
		return nil, 0, err
	}
	for _, h := range c.headers() {
		req.Header.Set(h[0], h[1])
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	a := &answer{replayed: resp.Header.Get("Idempotent-Replayed") == "true"}
	if a.body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20)); err != nil {
		return nil, 0, err
	}
	// The members of an error's answer and of a success's share the name status, with different types.
	if resp.StatusCode >= 400 {
		return a, resp.StatusCode, json.Unmarshal(a.body, &struct{ Code *client.Code }{&a.Code})
	}
	return a, resp.StatusCode, json.Unmarshal(a.body, a)
}

// delivered waits until a gift has been sent.
func (s *Story) delivered(ctx context.Context, voucherID string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		a, _, err := s.do(ctx, call{path: giftsPath + voucherID, key: examples.HarborWebShopKey})
		if err != nil {
			return fmt.Errorf("waiting for the delivery of gift %s: %w", voucherID, err)
		}
		if a.Status == client.StatusDelivered {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gift %s was not delivered, it is %s", voucherID, a.Status)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *call) headers() [][2]string {
	h := [][2]string{{"Authorization", "Bearer " + c.key}}
	if c.body != "" {
		h = append(h, [2]string{"Content-Type", "application/json"})
	}
	if c.once != "" {
		h = append(h, [2]string{"Idempotency-Key", c.once})
	}
	return h
}

// curl is the call as a command for a shell.
func (s *Story) curl(c call) string {
	lines := []string{"curl -sS " + quote(s.Base+c.path)}
	for _, h := range c.headers() {
		lines = append(lines, "-H "+quote(h[0]+": "+h[1]))
	}
	if c.body != "" {
		lines = append(lines, "-d "+quote(c.body))
	}
	return strings.Join(lines, " \\\n  ")
}

// quote makes one word of s for a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (s *Story) title(heading string, lines ...string) {
	fmt.Fprintf(s.out, "\n%s\n%s\n", s.pen.bold(heading), strings.Join(lines, "\n"))
}

func (s *Story) note(text string) { fmt.Fprintf(s.out, "\n%s\n", text) }

// pen colours text where that is wanted.
type pen bool

func (p pen) bold(s string) string { return p.paint("1", s) }

func (p pen) cyan(s string) string { return p.paint("36", s) }

func (p pen) paint(code, s string) string {
	if !p {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
