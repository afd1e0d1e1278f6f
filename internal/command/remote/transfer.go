package remote

import (
	"slices"
	"strings"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type giftTransferCmd struct {
	From   string `arg:"" help:"The gift that gives: the voucherID, or the 12-digit code."`
	To     string `arg:"" help:"The gift that receives, likewise."`
	Amount string `xor:"how much" placeholder:"N" help:"How much to move."`
	All    bool   `xor:"how much" help:"Move all that is available."`
	changing
}

func (giftTransferCmd) Help() string {
	return `Both gifts must be of the same program and kind. What is moved may not become good for more: not elsewhere, not for other items, not for
longer. The key needs the permission transfer.

Example:

    boon gift transfer 482913375026 019576b2-6a00-7000-8000-000000000002 --all

Next: boon gift show --help.`
}

// Run moves.
func (c *giftTransferCmd) Run(t *terminal.Terminal) error {
	if c.Amount == "" && !c.All {
		return terminal.UsageError("Say how much to move: --amount N or --all.")
	}
	move, err := Amount("--amount", c.Amount)
	if err != nil {
		return err
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	r := client.TransferBalanceRequest{Amount: move, All: c.All, IdempotencyKey: c.IdempotencyKey}
	if r.FromVoucherID, err = voucherIDOf(t, api, []string{c.From}); err != nil {
		return err
	}
	if r.ToVoucherID, err = voucherIDOf(t, api, []string{c.To}); err != nil {
		return err
	}
	a, err := api.TransferBalance(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "moved", Money(a.Amount, a.Currency), "left", Money(a.From.CurrentBalance, a.Currency), "of",
			a.From.VoucherID, "now has", Money(a.To.CurrentBalance, a.Currency), "gift", a.To.VoucherID, "note",
			replayed(a.Meta))
	})
}

// note is what an entry says beside its amounts.
func note(e *client.Entry) string {
	words := []string{e.Reference, string(e.ReasonCode), e.Reason}
	switch e.Kind {
	case client.EntryTransferOut:
		words = append(words, "to gift "+e.CounterpartVoucherID)
	case client.EntryTransferIn:
		words = append(words, "from gift "+e.CounterpartVoucherID)
	case client.EntryExtended:
		words = append(words, "until "+terminal.Moment(e.ValidUntil))
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
}
