package remote

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

// ticketFlag is the flag of the commands that can send a ticket.
type ticketFlag struct {
	Ticket string `placeholder:"FILE" help:"The guest's ticket as JSON: {\"lineItems\": [...], \"totals\": {...}}, or ticketData whole (- is standard input)."`
	Format string `placeholder:"NAME" help:"The format of the ticket, if it is a platform's own order, such as square; see docs/guides/tickets.md."`
}

// read reads the ticket that the flag names, as it is; nil where there is none. What is wrong with it is for the
// service to say.
func (f ticketFlag) read(t *terminal.Terminal) (*client.TicketData, error) {
	if f.Ticket == "" {
		return nil, nil
	}
	text, err := terminal.ReadFile(t, f.Ticket)
	if err != nil {
		return nil, fmt.Errorf("reading the ticket: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("%s is not a ticket in JSON: %w", f.Ticket, err)
	}
	var format string
	if data, ok := members["data"]; ok && json.Unmarshal(members["format"], &format) == nil {
		ticket := &client.TicketData{Data: &data} // which is sent as it is
		known := json.NewDecoder(bytes.NewReader(text))
		known.DisallowUnknownFields() // they would not be sent
		if err := known.Decode(ticket); err != nil {
			return nil, fmt.Errorf("%s is not ticketData: %w", f.Ticket, err)
		}
		return ticket, nil
	}
	return &client.TicketData{Data: json.RawMessage(bytes.TrimSpace(text)), Format: cmp.Or(f.Format, "standard")}, nil
}

// showEligibility tells what a ticket says about a gift.
func showEligibility(t *terminal.Terminal, v *client.Voucher) {
	e := v.Eligibility
	if e == nil {
		return
	}
	fmt.Fprintf(t.Stdout, "this ticket: at most %s\n", worth(v, e.MaximumAmount))
	lines := map[int]string{}
	for _, l := range e.EligibleLines {
		lines[l.Index] = worth(v, l.Amount)
	}
	for _, l := range e.ExcludedLines {
		lines[l.Index] = terminal.Cell(l.Reason)
	}
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(t.Stdout, "line %d: %s\n", n+1, lines[n])
	}
}

// itemNames lists what a gift is good for.
func itemNames(items []client.Item) string {
	var names []string
	for _, i := range items {
		names = append(names, cmp.Or(i.Name, i.ID, i.Group))
	}
	return strings.Join(names, ", ")
}
