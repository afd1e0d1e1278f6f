package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"boon.example/client"
)

// ticketFlag is the flag of the commands that can send a ticket.
type ticketFlag struct {
	Ticket string `placeholder:"FILE" help:"The guest's ticket as JSON: {\"lineItems\": [...], \"totals\": {...}}, or ticketData whole (- is standard input)."`
}

// read reads the ticket that the flag names, as it is; nil where there is none. What is wrong with it is for the
// service to say.
func (f ticketFlag) read(t *terminal) (*client.TicketData, error) {
	if f.Ticket == "" {
		return nil, nil
	}
	text, err := readFile(t, f.Ticket)
	if err != nil {
		return nil, fmt.Errorf("reading the ticket: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("%s is not a ticket in JSON: %w", f.Ticket, err)
	}
	var format string
	if data, ok := members["data"]; ok && json.Unmarshal(members["format"], &format) == nil {
		return &client.TicketData{Data: data, Format: format}, nil
	}
	return &client.TicketData{Data: json.RawMessage(bytes.TrimSpace(text)), Format: "standard"}, nil
}

// eligibility tells what a ticket says about a gift.
func (t *terminal) eligibility(v *client.Voucher) {
	e := v.Eligibility
	if e == nil {
		return
	}
	fmt.Fprintf(t.stdout, "this ticket: at most %s\n", worth(v, e.MaximumAmount))
	for _, l := range e.ExcludedLines {
		fmt.Fprintf(t.stdout, "line %d: %s\n", l.Index+1, cell(l.Reason))
	}
}

// itemNames lists what a gift is good for.
func itemNames(items []client.Item) string {
	var names []string
	for _, i := range items {
		name := i.Name
		if name == "" {
			name = i.ID
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
