// Package remote has the commands that ask a running service over its interface, with an address and an API key: those
// about gifts, stocks, events, webhooks, the audit trail and tills. Package reports has those about the books. Each is
// a struct of flags with a text and a Run. It never opens a database.
package remote

import (
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"boon.example/client"
	"boon.example/internal/command/terminal"
	"boon.example/internal/gift/codes"
	"boon.example/internal/merchant"
)

type Gift struct {
	Send              giftSendCmd              `cmd:"" help:"Create gifts and send them by e-mail, by SMS, or printed."`
	Validate          giftValidateCmd          `cmd:"" help:"Tell what a gift is worth at a location, by its code or QR link."`
	Redeem            giftRedeemCmd            `cmd:"" help:"Take an amount from a gift."`
	RedeemGifts       giftRedeemGiftsCmd       `cmd:"" help:"Have several gifts pay for one sale."`
	Hold              giftHoldCmd              `cmd:"" help:"Hold an amount of a gift for one sale."`
	Capture           giftCaptureCmd           `cmd:"" help:"Redeem what is held."`
	Release           giftReleaseCmd           `cmd:"" help:"Give up what is held."`
	Reload            giftReloadCmd            `cmd:"" help:"Put more value into a gift."`
	Reverse           giftReverseCmd           `cmd:"" help:"Give back what a redemption took."`
	ReverseReload     giftReverseReloadCmd     `cmd:"" help:"Take a reload back."`
	CashOut           giftCashOutCmd           `cmd:"" help:"Pay the rest of a gift out in cash, where the law lets a guest ask for it."`
	Activate          giftActivateCmd          `cmd:"" help:"Give a card its value, as it is sold."`
	ReverseActivation giftReverseActivationCmd `cmd:"" help:"Take an activation back."`
	Resend            giftResendCmd            `cmd:"" help:"Send a gift again, also to another address or in print."`
	Reschedule        giftRescheduleCmd        `cmd:"" help:"Change when a gift that waits is delivered."`
	Replace           giftReplaceCmd           `cmd:"" help:"Give a gift another code, as its card was lost."`
	Transfer          giftTransferCmd          `cmd:"" help:"Move value from one gift to another."`
	Cancel            giftCancelCmd            `cmd:"" help:"Take gifts out of use."`
	Reinstate         giftReinstateCmd         `cmd:"" help:"Bring cancelled gifts back into use."`
	Block             giftBlockCmd             `cmd:"" help:"Keep a gift from being used until further notice."`
	Unblock           giftUnblockCmd           `cmd:"" help:"Let a blocked gift be used again."`
	Adjust            giftAdjustCmd            `cmd:"" help:"Correct the balance of a gift."`
	LinkCustomer      giftLinkCustomerCmd      `cmd:"" help:"Link a gift to a customer of yours, so that it is among the customer's gifts."`
	UnlinkCustomer    giftUnlinkCustomerCmd    `cmd:"" help:"End the link of a gift to its customer."`
	Extend            giftExtendCmd            `cmd:"" help:"Make a promotional gift valid for longer."`
	Show              giftShowCmd              `cmd:"" help:"Show one gift and everything that happened to it."`
	List              giftListCmd              `cmd:"" help:"List gifts, the newest first."`
	Activity          giftActivityCmd          `cmd:"" help:"List what happened to all gifts, the newest first."`
}

// Service is where a gift command calls, and how it answers.
type Service struct {
	URL  string `setting:"env" name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the service. Default: ${default}."`
	Key  string `setting:"env" name:"key" placeholder:"KEY" help:"API key. Better in the environment: arguments show in lists of processes."`
	JSON bool   `name:"json" help:"Print the service's JSON as it came, instead of text for people."`
}

func (s *Service) Client(t *terminal.Terminal) (*client.Client, error) {
	if s.Key == "" {
		return nil, terminal.UsageError("An API key is needed: set BOON_KEY, or give --key. boon key create makes one.")
	}
	c, err := client.New(s.URL, s.Key, client.WithUserAgent("boon-cli/"+t.Version))
	if err != nil {
		return nil, terminal.UsageError(fmt.Sprintf("--url or --key: %v.", err))
	}
	return c, nil
}

// Answer prints the JSON that came, or else what people does.
func (s *Service) Answer(t *terminal.Terminal, body []byte, people func()) error {
	if !s.JSON {
		people()
		return nil
	}
	_, err := fmt.Fprintln(t.Stdout, strings.TrimSpace(terminal.HarmlessJSON(body)))
	return err
}

// changing are the flags of the commands that change something.
type changing struct {
	IdempotencyKey string `placeholder:"KEY" help:"Do this once, however often it is asked for with this key. Default: a new key."`
	DryRun         bool   `help:"Tell what would be done, and do nothing."`
	Service
}

func (c *changing) Client(t *terminal.Terminal) (*client.Client, error) {
	api, err := c.Service.Client(t)
	if err == nil && c.DryRun {
		fmt.Fprintln(t.Stderr, "This is a dry run: nothing is done, and new ids in the answer name nothing.")
		api = api.DryRun()
	}
	return api, err
}

// place is where a gift is used.
type place struct {
	Location    string `placeholder:"ID" help:"Location where the gift is used. Not needed when the key or the account has only one."`
	PointOfSale string `name:"pos" placeholder:"NAME" help:"The location, as the point-of-sale system names it."`
}

var guidForm = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// secret sorts what a person typed or a scanner read into code and token. A code may be grouped in any way, also where
// spaces part the words of a command. It may be one of another system: whether the account has such codes, the service
// says. Digits that are no code anywhere are refused here, for the service could only say that they are no token.
func secret(words []string) (voucherCode, token string, _ error) {
	s := strings.TrimSpace(strings.Join(words, " "))
	code, err := codes.ReadVoucherCode(s)
	if err == nil {
		return code.Reveal(), "", nil
	}
	_, noToken := codes.ParseToken(s)
	if noToken == nil || guidForm.MatchString(s) {
		return "", s, nil
	}
	if text, is := codes.Written(s); is {
		return text, "", nil
	}
	digits := 0
	for _, r := range s {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	if digits > 0 && !strings.ContainsFunc(s, unicode.IsLetter) {
		if digits == codeLength {
			return "", "", terminal.UsageError("A gift's code is 12 digits. Only spaces, dashes and dots may stand between " +
				"them.")
		}
		return "", "", terminal.UsageError(fmt.Sprintf("A gift's code has 12 digits, or on a card of another system %d to "+
			"%d, and this code has %d.", merchant.MinImportedCode, merchant.MaxImportedCode, digits))
	}
	return "", s, nil
}

// codeLength is the number of digits of every code.
const codeLength = 12

// giftNamed sorts what a person typed into voucherID, code and token.
func giftNamed(words []string) (voucherID, voucherCode, token string, _ error) {
	if guidForm.MatchString(words[0]) && len(words) == 1 {
		return words[0], "", "", nil
	}
	voucherCode, token, err := secret(words)
	return "", voucherCode, token, err
}

// Amount reads the text of a flag; "" is no amount.
func Amount(flag, s string) (client.Decimal, error) {
	if s == "" {
		return client.Decimal{}, nil
	}
	d, err := client.ParseDecimal(s)
	if err != nil {
		return d, terminal.UsageError(fmt.Sprintf("%s: %v.", flag, err))
	}
	return d, nil
}

type giftValidateCmd struct {
	Gift []string `arg:"" help:"The code, or what the QR code holds: the link or the token in it."`
	ticketFlag
	place
	Service
}

func (giftValidateCmd) Help() string {
	return `Changes nothing.

Example:

    boon gift validate 4829 1337 5026
    boon gift validate https://gifts.example.com/g/5hTnUfY2cWq0vKzL8sXbRd --json
    boon gift validate 482913375026 --ticket check-4711.json
    boon gift validate 482913375026 --ticket order.json --format square

Next: boon gift redeem --help.`
}

func (c *giftValidateCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	r := client.ValidateGiftRequest{OrganizationID: c.Location, PointOfSaleSystemOrganizationIdentifier: c.PointOfSale}
	if r.VoucherCode, r.VoucherPublicToken, err = secret(c.Gift); err != nil {
		return err
	}
	if r.TicketData, err = c.read(t); err != nil {
		return err
	}
	v, err := api.ValidateGift(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, v.Meta.Body, func() { showVoucher(t, v) })
}

// takeFlags say what a till takes of a gift, or holds.
type takeFlags struct {
	Gift             []string `arg:"" help:"The gift: its voucherID, its code, or its QR link."`
	Amount           string   `xor:"how much" placeholder:"N" help:"How much: money, or a number of items."`
	All              bool     `xor:"how much" help:"All that is available, or with --ticket all that the ticket allows."`
	AllowPartial     bool     `help:"If --amount is more than is there: take what is there."`
	Reference        string   `placeholder:"TEXT" help:"Your own id of the sale."`
	VerificationCode string   `placeholder:"DIGITS" help:"The verification code of a card that has one."`
	ticketFlag
	place
	changing
}

func (f *takeFlags) request(t *terminal.Terminal) (r client.RedeemGiftRequest, err error) {
	r = client.RedeemGiftRequest{
		OrganizationID: f.Location, PointOfSaleSystemOrganizationIdentifier: f.PointOfSale,
		All: f.All, AllowPartial: f.AllowPartial, Reference: f.Reference, IdempotencyKey: f.IdempotencyKey,
		VerificationCode: f.VerificationCode,
	}
	if f.Amount == "" && !f.All {
		return r, terminal.UsageError("Say how much: --amount N or --all.")
	}
	if r.Amount, err = Amount("--amount", f.Amount); err != nil {
		return r, err
	}
	if r.VoucherID, r.VoucherCode, r.VoucherPublicToken, err = giftNamed(f.Gift); err != nil {
		return r, err
	}
	r.TicketData, err = f.read(t)
	return r, err
}

type giftRedeemCmd struct {
	takeFlags
	receiptFlag
}

func (giftRedeemCmd) Help() string {
	return `Acts as a till: it waits 5 seconds for an answer, tries three times under one key, and if there is still none it undoes the redemption
by that key, so that the guest never pays twice.

Example:

    boon gift redeem 482913375026 --amount 5.10 --reference "check 4711"
    boon gift redeem 482913375026 --all --ticket check-4711.json

Next: boon gift reverse --help gives it back; boon gift show --help tells what happened.`
}

func (c *giftRedeemCmd) Run(t *terminal.Terminal) error {
	r, err := c.request(t)
	if err != nil {
		return err
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	a, err := c.with(api).RedeemSafely(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "taken", Money(a.Amount, a.Currency), "left", Money(a.CurrentBalance, a.Currency), "status",
			string(a.Status),
			"redemption", a.RedemptionID, "gift", a.VoucherID, "reference", a.Reference, "note", replayed(a.Meta))
		c.print(t, a.Receipt)
		printNewCard(t, api, a.RedemptionID, a.NewCard)
	})
}

type giftCancelCmd struct {
	Gift           []string `arg:"" optional:"" help:"The voucherID, or the code."`
	Order          string   `placeholder:"ID" help:"In place of single gifts: all gifts of one order."`
	Purchase       string   `placeholder:"REF" help:"In place of single gifts: all gifts of one external purchase, by its reference number."`
	Storefront     string   `placeholder:"ID" help:"Beside --purchase: where it was made. Needed where several storefronts use the same reference."`
	PurchaseFailed bool     `help:"The external purchase failed: only while nothing was redeemed or transferred."`
	SkipNotAllowed bool     `help:"Cancel those that can be, and tell of the others. Default: all or none."`
	Reason         string   `placeholder:"TEXT" help:"Why, for the gifts' history."`
	changing
}

func (giftCancelCmd) Help() string {
	return `All of the gifts, or none. A gift that is cancelled already counts as done.

Example:

    boon gift cancel --purchase WEB-1001 --purchase-failed

Next: boon gift reinstate --help takes it back.`
}

func (c *giftCancelCmd) Run(t *terminal.Terminal) error {
	given := 0
	for _, s := range []string{strings.Join(c.Gift, " "), c.Order, c.Purchase} {
		if s != "" {
			given++
		}
	}
	if given != 1 {
		return terminal.UsageError("Name what to cancel: a voucherID, --order or --purchase, one of the three.")
	}
	api, voucherID, err := c.openGift(t, c.Gift)
	if err != nil {
		return err
	}
	r := client.CancelGiftRequest{
		VoucherID: voucherID, OrderID: c.Order, ExternalTransactionReferenceNumber: c.Purchase,
		ExternalStorefrontID: c.Storefront, SkipNotAllowed: c.SkipNotAllowed,
		Cause: client.CauseCancelled, Reason: c.Reason, IdempotencyKey: c.IdempotencyKey,
	}
	if c.PurchaseFailed {
		r.Cause = client.CausePurchaseFailed
	}
	a, err := api.CancelGift(t, r)
	if err != nil {
		return err
	}
	return c.outcomes(t, a)
}

// outcomes prints what became of each gift.
func (s *Service) outcomes(t *terminal.Terminal, a *client.Cancellation) error {
	said := map[client.Outcome]string{client.OutcomeDone: "done", client.OutcomeAlreadyDone: "was so already",
		client.OutcomeNotAllowed: "not allowed"}
	return s.Answer(t, a.Meta.Body, func() {
		var rows [][]string
		for _, v := range a.Vouchers {
			rows = append(rows, []string{v.VoucherID, string(v.Status), withHeld(v.AvailableBalance, v.HeldBalance, ""),
				said[v.Outcome], v.Reason})
		}
		terminal.Table(t.Stdout, []string{"GIFT", "STATUS", "AVAILABLE", "OUTCOME", "WHY"}, rows)
	})
}

type giftReinstateCmd struct {
	Gift   []string `arg:"" optional:"" help:"The voucherID, or the code."`
	Order  string   `placeholder:"ID" help:"In place of single gifts: all gifts of one order."`
	Reason string   `placeholder:"TEXT" help:"Why, for the gifts' history."`
	changing
}

func (giftReinstateCmd) Help() string {
	return `Status and balance are what they were before the gift was cancelled, or its purchase reported as failed. All of the gifts, or none.

Example:

    boon gift reinstate 019576b2-6a00-7000-8000-000000000002 --reason "cancelled by mistake"`
}

func (c *giftReinstateCmd) Run(t *terminal.Terminal) error {
	if (len(c.Gift) == 0) == (c.Order == "") {
		return terminal.UsageError("Name what to bring back: a voucherID or --order, one of the two.")
	}
	api, voucherID, err := c.openGift(t, c.Gift)
	if err != nil {
		return err
	}
	a, err := api.ReinstateGift(t, client.ReinstateGiftRequest{VoucherID: voucherID, OrderID: c.Order, Reason: c.Reason,
		IdempotencyKey: c.IdempotencyKey})
	if err != nil {
		return err
	}
	return c.outcomes(t, a)
}

type giftShowCmd struct {
	Gift []string `arg:"" help:"The voucherID, or the code."`
	Service
}

func (giftShowCmd) Help() string {
	return `A code is found among the gifts that the key may look up, by its last four digits, and compared: that takes the permission codes.
With --json: {"gift": …, "history": […]}.

Example:

    boon gift show 019576b2-6a00-7000-8000-000000000002
    boon gift show "4829 1337 5026"`
}

func (c *giftShowCmd) Run(t *terminal.Terminal) error {
	api, voucherID, err := c.openGift(t, c.Gift)
	if err != nil {
		return err
	}
	v, err := api.Gift(t, voucherID)
	if err != nil {
		return err
	}
	var rows [][]string
	history := []json.RawMessage{}
	for e, err := range api.History(t, voucherID) {
		if err != nil {
			return err
		}
		history = append(history, e.Meta.Body)
		rows = append(rows, []string{strconv.Itoa(e.Seq), terminal.Moment(e.At), string(e.Kind), e.Amount.String(),
			e.HeldAmount.String(), e.CurrentBalance.String(), string(e.Status), e.OrganizationName, by(&e), e.RedemptionID,
			note(&e)})
	}
	body, err := json.Marshal(map[string]any{"gift": json.RawMessage(v.Meta.Body), "history": history})
	if err != nil {
		return err
	}
	return c.Answer(t, body, func() {
		showVoucher(t, v)
		fmt.Fprintln(t.Stdout)
		terminal.Table(t.Stdout, []string{"#", "WHEN", "WHAT", "AMOUNT", "HELD", "BALANCE", "STATUS", "WHERE", "KEY",
			"REDEMPTION",
			"NOTE"},
			rows)
	})
}

// voucherIDOf gives the voucherID of a gift that is named by it, or by its code. A code is never sent, so that
// the command cannot be used to guess: it lists the gifts that end in the same four digits, and compares theirs here.
// The code of another system is typed as it is printed.
func voucherIDOf(t *terminal.Terminal, api *client.Client, gift []string) (voucherID string, _ error) {
	voucherCode, other, err := secret(gift)
	if err != nil || voucherCode == "" {
		return other, err
	}
	hidden, former, four := false, "", codes.LastFourOf(voucherCode)
	for v, err := range api.Gifts(t, client.GiftsFilter{LastFour: four, PageSize: 200}) {
		if err != nil {
			return "", err
		}
		if v.VoucherCode == voucherCode {
			return v.VoucherID, nil
		}
		hidden = hidden || v.VoucherCode == ""
		if v.LastFour != four {
			former = v.VoucherID
		}
	}
	if hidden {
		return "", terminal.UsageError("This key may not see codes: name the gift by its voucherID. boon gift list " +
			"--last-four " + four + " tells which it may be.")
	}
	if former != "" {
		return "", terminal.UsageError("No gift that this key may look up has this code. The card of gift " + former +
			" was replaced; " +
			"one that it had ended so: name it by its voucherID.")
	}
	return "", terminal.UsageError("No gift that this key may look up has this code.")
}

type giftListCmd struct {
	Status      string    `placeholder:"STATUS" help:"Only gifts in this status: ${statuses}."`
	Program     string    `placeholder:"ID" help:"Only gifts of this program."`
	Promotion   string    `placeholder:"ID" help:"Only gifts of this promotion."`
	Location    string    `placeholder:"ID" help:"Only gifts that are limited to this location."`
	Purchase    string    `placeholder:"REF" help:"Only gifts of this external purchase."`
	Storefront  string    `placeholder:"ID" help:"Only gifts that were purchased at this storefront."`
	Order       string    `placeholder:"ID" help:"Only gifts of this order."`
	LastFour    string    `placeholder:"DIGITS" help:"Only gifts whose code ends so."`
	CustomerID  string    `placeholder:"TEXT" help:"Only gifts that are linked to this customer."`
	Recipient   string    `placeholder:"TEXT" help:"Only gifts for this e-mail address, telephone number or name (whole words of it)."`
	CreatedFrom time.Time `placeholder:"TIME" help:"Only gifts made at or after this time, such as 2026-03-01T00:00:00Z."`
	CreatedTo   time.Time `placeholder:"TIME" help:"Only gifts made before this time."`
	Limit       int       `default:"50" placeholder:"N" help:"How many at most; 0: all of them. Default: ${default}."`
	Service
}

func (giftListCmd) Help() string {
	return `A balance in brackets is no longer owed: the gift is cancelled, expired, or its purchase failed. With --json: one gift a line.

Example:

    boon gift list --status FAILED_DELIVERY
    boon gift list --recipient "ana diaz"
    boon gift list --limit 0 --json > gifts.jsonl`
}

func (c *giftListCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	f := client.GiftsFilter{
		Status: client.Status(c.Status), ProgramID: c.Program, PromotionID: c.Promotion, OrganizationID: c.Location,
		ExternalTransactionReferenceNumber: c.Purchase, ExternalStorefrontID: c.Storefront, OrderID: c.Order,
		LastFour: c.LastFour, CustomerID: c.CustomerID,
		Recipient: c.Recipient, CreatedFrom: c.CreatedFrom, CreatedTo: c.CreatedTo, PageSize: pageFor(c.Limit),
	}
	var rows [][]string
	more, err := upTo(api.Gifts(t, f), c.Limit, func(v *client.Voucher) error {
		return c.Answer(t, v.Meta.Body, func() { rows = append(rows, listed(v)) })
	})
	if err != nil {
		return err
	}
	if !c.JSON {
		terminal.Table(t.Stdout, []string{"GIFT", "ENDS IN", "MADE", "STATUS", "AVAILABLE", "OF", "FOR"}, rows)
	}
	moreThan(t, more, c.Limit)
	return nil
}

// pageFor is the size of the pages that a list of so many is fetched in.
func pageFor(limit int) int {
	if limit <= 0 {
		return 200
	}
	return min(limit+1, 200) // one more tells whether there is more
}

// upTo hands at most limit elements to fn, and tells whether there are more; 0 is all of them.
func upTo[T any](all iter.Seq2[T, error], limit int, fn func(*T) error) (more bool, _ error) {
	if limit < 0 {
		return false, terminal.UsageError("--limit must not be below 0.")
	}
	n := 0
	for item, err := range all {
		if err != nil {
			return false, err
		}
		if limit > 0 && n == limit {
			return true, nil
		}
		if err := fn(&item); err != nil {
			return false, err
		}
		n++
	}
	return false, nil
}

// moreThan says that a list was cut short, where it does not get into what a program reads.
func moreThan(t *terminal.Terminal, more bool, limit int) {
	if more {
		fmt.Fprintf(t.Stderr, "These are the newest %d; there are more. --limit 0 gives all of them.\n", limit)
	}
}

func listed(v *client.Voucher) []string {
	balance := available(v)
	if v.HasRemainingBalance && !owed(v) {
		balance = "(" + balance + ")"
	}
	status := string(v.Status)
	if v.BlockedReason != "" {
		status += ", BLOCKED"
	}
	return []string{v.VoucherID, v.LastFour, terminal.Moment(v.CreatedAt), status, balance, worth(v, v.OriginalBalance),
		v.RecipientDescription}
}

// owed tells whether a gift's balance can still be asked for, now or later.
func owed(v *client.Voucher) bool {
	over := !v.ValidUntil.IsZero() && !v.IsInRedeemablePeriod && time.Now().After(v.ValidUntil)
	return v.Status != client.StatusCancelled && v.Status != client.StatusPurchaseFailed && !over
}

type giftActivityCmd struct {
	From     time.Time `placeholder:"TIME" help:"Only changes at or after this time, such as 2026-03-01T00:00:00Z."`
	To       time.Time `placeholder:"TIME" help:"Only changes before this time."`
	APIKey   string    `name:"api-key" placeholder:"ID" help:"Only what this API key caused, by its id."`
	Location string    `placeholder:"ID" help:"Only what happened at this location."`
	Kind     string    `placeholder:"KIND" help:"Only changes of this kind: ${kinds}."`
	Limit    int       `default:"50" placeholder:"N" help:"How many at most; 0: all of them. Default: ${default}."`
	Service
}

func (giftActivityCmd) Help() string {
	return `With --json: one change a line.

Example:

    boon gift activity --kind CANCELLATION --from 2026-03-01T00:00:00Z`
}

// by names the key that made an entry, and who was signed in at that till.
func by(e *client.Entry) string {
	if e.Person == "" {
		return e.KeyName
	}
	return e.KeyName + " (" + e.Person + ")"
}

func (c *giftActivityCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	f := client.ActivityFilter{From: c.From, To: c.To, KeyID: c.APIKey, OrganizationID: c.Location,
		Kind: client.EntryKind(c.Kind), PageSize: pageFor(c.Limit)}
	var rows [][]string
	more, err := upTo(api.Activity(t, f), c.Limit, func(e *client.Change) error {
		return c.Answer(t, e.Meta.Body, func() {
			rows = append(rows, []string{terminal.Moment(e.At), e.VoucherID, string(e.Kind), Money(e.Amount, e.Currency),
				Money(e.HeldAmount, e.Currency), Money(e.CurrentBalance, e.Currency), e.OrganizationName, by(&e.Entry),
				note(&e.Entry)})
		})
	})
	if err != nil {
		return err
	}
	if !c.JSON {
		terminal.Table(t.Stdout, []string{"WHEN", "GIFT", "WHAT", "AMOUNT", "HELD", "BALANCE", "WHERE", "KEY", "NOTE"}, rows)
	}
	moreThan(t, more, c.Limit)
	return nil
}

// showVoucher prints a gift for people.
func showVoucher(t *terminal.Terminal, v *client.Voucher) {
	usable := "yes"
	if !v.IsRedeemable {
		usable = "no"
	}
	code := grouped(v.VoucherCode)
	if code == "" && v.LastFour != "" {
		code = "ends in " + v.LastFour
	}
	terminal.Facts(t.Stdout, "gift", v.VoucherID, "code", code, "available",
		available(v)+" of "+worth(v, v.OriginalBalance),
		"status", string(v.Status), "blocked", string(v.BlockedReason), "usable", usable, "item", v.Label, "for",
		v.RecipientDescription, "from",
		v.SenderDescription,
		"language", v.RecipientLanguage, "customer", v.CustomerID, "message", v.Message,
		"terms", strings.TrimSpace(v.Terms+" "+v.PromotionalTerms), "program", v.ProgramName, "made",
		terminal.Moment(v.CreatedAt),
		"delivered", terminal.Moment(v.DeliveredAt), "valid from", terminal.Moment(v.ValidFrom), "valid until",
		terminal.Moment(v.ValidUntil), "taken until", terminal.Moment(v.GraceUntil))
	for _, r := range v.NotRedeemableReasons {
		fmt.Fprintf(t.Stdout, "not usable: %s\n", terminal.Cell(r.Text))
	}
	if v.RequiresEligibleItems {
		fmt.Fprintf(t.Stdout,
			"Good for: %s. The till must send the ticket (--ticket), unless the promotion says otherwise.\n",
			terminal.Cell(itemNames(v.EligibleItems)))
	}
	showEligibility(t, v)
}

// worth is an amount of a gift in its own unit.
func worth(v *client.Voucher, d client.Decimal) string { return d.String() + " " + unit(v) }

func unit(v *client.Voucher) string {
	if v.IsItemType {
		return "pcs"
	}
	return v.Currency
}

// available is what of a gift can be used, and what is held.
func available(v *client.Voucher) string { return withHeld(v.AvailableBalance, v.HeldBalance, unit(v)) }

func withHeld(available, held client.Decimal, unit string) string {
	text := available.String() + " " + unit
	if held.Sign() > 0 {
		text += " + " + held.String() + " held"
	}
	return strings.TrimSpace(text)
}

// Money is an amount with its currency; "" is the currency of an item gift.
func Money(d client.Decimal, currency string) string {
	if currency == "" {
		return d.String() + " pcs"
	}
	return d.String() + " " + currency
}

// grouped is a code as people read it: 4-4-4.
func grouped(code string) string {
	if len(code) != 12 {
		return code
	}
	return code[:4] + " " + code[4:8] + " " + code[8:]
}

func replayed(m client.Meta) string {
	if m.Replayed {
		return "this had been done before under the same key; nothing happened twice"
	}
	return ""
}
