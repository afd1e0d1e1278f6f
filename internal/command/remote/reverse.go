package remote

import (
	"time"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type giftReverseCmd struct {
	Redemption  string `arg:"" optional:"" help:"The redemptionID, or the cashOutID."`
	OriginalKey string `placeholder:"KEY" help:"In place of the redemptionID: the Idempotency-Key of the redemption. If the redemption never arrived, it is refused from now on."`
	Operation   string `placeholder:"NAME" enum:",redeem-gift,redeem-gifts,capture-hold,cash-out-gift" default:"" help:"With --original-key: what was done with it, redeem-gift, redeem-gifts, capture-hold or cash-out-gift. Default: redeem-gift."`
	reverseByKey
	Amount string `placeholder:"N" help:"How much to give back. Default: all that is left of the redemption."`
	Reason string `placeholder:"TEXT" help:"Why, for the gift's history."`
	place
	changing
}

// reverseByKey are the flags that name many redemptions.
type reverseByKey struct {
	ByKey string    `placeholder:"NAME" help:"In place of both: all redemptions that were made with this API key, by its name or id (boon key list). Without --yes they are only counted."`
	Since time.Time `placeholder:"TIME" help:"With --by-key: from then on, such as 2026-03-01T22:00:00Z."`
	Until time.Time `placeholder:"TIME" help:"With --by-key: before then. Default: now."`
	Yes   bool      `help:"With --by-key: give them back."`
}

func (giftReverseCmd) Help() string {
	return `With --by-key it undoes what a stolen key has taken (revoke that key first: boon key revoke). It needs a key that may look up and reverse.
Given twice it does nothing twice; what was cut off goes on where it was.

Examples:

    boon gift reverse 019576b2-6a00-7000-8000-000000000009 --reason "wrong table"
    boon gift reverse --by-key till-2 --since 2026-03-01T22:00:00Z
    boon gift reverse --by-key till-2 --since 2026-03-01T22:00:00Z --reason "till stolen" --yes

Next: boon gift show --help.`
}

func (c *giftReverseCmd) Run(t *terminal.Terminal) error {
	given := 0
	for _, s := range []string{c.Redemption, c.OriginalKey, c.ByKey} {
		if s != "" {
			given++
		}
	}
	if given != 1 {
		return terminal.UsageError("Name the redemption by its redemptionID or by --original-key, or many by --by-key: one " +
			"of the " +
			"three.")
	}
	if c.Operation != "" && c.OriginalKey == "" {
		return terminal.UsageError("--operation belongs to --original-key.")
	}
	if c.ByKey != "" {
		return c.byKey(t)
	}
	if c.Yes || !c.Since.IsZero() || !c.Until.IsZero() {
		return terminal.UsageError("--since, --until and --yes belong to --by-key.")
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	give, err := Amount("--amount", c.Amount)
	if err != nil {
		return err
	}
	a, err := api.ReverseRedemption(t, client.ReverseRedemptionRequest{
		RedemptionID: c.Redemption, OriginalKey: c.OriginalKey, Operation: client.Operation(c.Operation), Amount: give,
		All: !give.Given(), Reason: c.Reason,
		OrganizationID: c.Location, PointOfSaleSystemOrganizationIdentifier: c.PointOfSale, IdempotencyKey: c.IdempotencyKey,
	})
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		if a.Reversals != nil {
			showReversals(t, a)
			return
		}
		terminal.Facts(t.Stdout, "given back", Money(a.Amount, a.Currency), "left", Money(a.CurrentBalance, a.Currency),
			"status",
			string(a.Status),
			"reversal", a.ReversalID, "redemption", a.RedemptionID, "gift", a.VoucherID, "note", replayed(a.Meta))
	})
}

// showReversals tells what each of several gifts got back.
func showReversals(t *terminal.Terminal, a *client.Reversal) {
	var rows [][]string
	for n := range a.Reversals {
		r := &a.Reversals[n]
		rows = append(rows, []string{r.VoucherID, Money(r.Amount, r.Currency), Money(r.CurrentBalance, r.Currency),
			string(r.Status), r.ReversalID})
	}
	terminal.Table(t.Stdout, []string{"GIFT", "GIVEN BACK", "LEFT", "STATUS", "REVERSAL"}, rows)
	terminal.Facts(t.Stdout, "note", replayed(a.Meta))
}
