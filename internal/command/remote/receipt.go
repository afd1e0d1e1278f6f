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
