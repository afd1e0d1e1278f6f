package remote

import (
	"fmt"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

// receiptFlag is the flag of the commands whose answer may have a receipt.
type receiptFlag struct {
	Receipt bool `help:"Print a receipt, too: at most 6 lines of at most 32 columns, in the account's language."`
}

// with is a client that asks for receipts where the flag is given.
func (f receiptFlag) with(api *client.Client) *client.Client {
	if !f.Receipt {
		return api
	}
	return api.Receipts()
}

// print prints the receipt of an answer, where it has one.
func (f receiptFlag) print(t *terminal.Terminal, r *client.Receipt) {
	if r == nil {
		return
	}
	fmt.Fprintln(t.Stdout)
	for _, line := range r.Lines {
		fmt.Fprintln(t.Stdout, terminal.Cell(line))
	}
}

// printNewCard prints the new code of a card of another system that a redemption or hold used first.
func printNewCard(t *terminal.Terminal, api *client.Client, entryID string, card *client.NewCard) {
	if card == nil {
		return
	}
	fmt.Fprintf(t.Stdout, "\nThe old card works no more. Its new code ends in %s. Give this to the guest:\n\n",
		card.LastFour)
	told, err := api.NewCard(t, entryID)
	if err != nil {
		fmt.Fprintf(t.Stdout, "The code could not be read: %s. Ask for it within 24 hours: GET "+
			"/api/integration/redemption/new-cards/%s\n", terminal.Cell(err.Error()), entryID)
		return
	}
	for _, line := range told.Lines {
		fmt.Fprintln(t.Stdout, terminal.Cell(line))
	}
}
