package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

// members are the names that flags and arguments have in requests, where the flag is not the member's name with dashes.
var members = map[string][]string{
	"--account": {"accountID"}, "--all": {"amount"}, "--all-types": {"types"}, "--amount": {"amount"},
	"--api-key": {"keyID"}, "--at": {"deliveryDate", "at"}, "--customer": {"externalTransactionCustomerEmailAddress"},
	"--customer-id":       {"customerID"},
	"--customer-language": {"externalTransactionCustomerLanguage"},
	"--deliver-at":        {"deliveryDate", "hasScheduledDelivery"}, "--design": {"voucherDesignID"},
	"--disable":  {"enabled"},
	"--disabled": {"enabled"}, "--email": {"recipientContact", "recipientDescription", "deliveryMethodID"},
	"--enable": {"enabled"}, "--first-name": {"externalTransactionCustomerFirstName"}, "--for": {"recipientDescription"},
	"--item": {"label"},
	"--keep": {"final"}, "--language": {"recipientLanguage"},
	"--last-name": {"externalTransactionCustomerLastName"}, "--location": {"organizationID"},
	"--order": {"orderID"}, "--original-key": {"idempotencyKey"},
	"--post": {"month"},
	"--pos":  {"pointOfSaleSystemOrganizationIdentifier"}, "--print": {"recipientDescription"},
	"--program": {"programID"}, "--promotion": {"promotionID"}, "--purchase": {"externalTransactionReferenceNumber"},
	"--purchase-failed": {"cause"}, "--seconds": {"expiresInSeconds"}, "--sender": {"senderDescription"},
	"--sms": {"recipientContact", "recipientDescription", "deliveryMethodID"}, "--storefront": {"externalStorefrontID"},
	"--ticket": {"ticketData"}, "--time-zone": {"deliveryTimezoneId"}, "--type": {"types", "type"},
	"--until": {"validUntil"}, "--valid-days": {"validForDays"}, "--valid-from": {"validStarting"},
	"ACTIVATION": {"activationID"}, "ADDRESS": {"url"}, "FROM": {"fromVoucherID"},
	"GIFT": {"voucherID", "voucherCode", "voucherPublicToken"}, "HOLD": {"holdID"}, "ORDER": {"orderID"},
	"REDEMPTION": {"redemptionID"}, "RELOAD": {"reloadID"}, "TILL": {"keyID"}, "TO": {"toVoucherID"},
	"WEBHOOK": {"webhookID"},
}

// given is what a command calls the members of its request: its flags and its arguments, by the members' names.
type given map[string][]string

// spoken is what the command that was given calls the members of its request. A request that stands in a file has its
// own names.
func spoken(command *kong.Context) given {
	for _, p := range command.Path {
		if p.Flag != nil && p.Flag.Name == "file" {
			return nil
		}
	}
	return givenTo(command.Selected())
}

// givenTo tells what a command calls the members of its request.
func givenTo(command *kong.Node) given {
	g := make(given)
	add := func(name string, of []string) {
		for _, member := range of {
			g[member] = append(g[member], name)
		}
	}
	for _, group := range command.AllFlags(true) {
		for _, f := range group {
			add("--"+f.Name, membersOf("--"+f.Name))
		}
	}
	for _, a := range command.Positional {
		name := strings.ToUpper(a.Name)
		add(name, membersOf(name))
	}
	return g
}

// membersOf are the names that a flag or an argument has in requests.
func membersOf(name string) []string {
	if list := members[name]; list != nil {
		return list
	}
	words := strings.Split(strings.ToLower(strings.TrimLeft(name, "-")), "-")
	for i := range words[1:] {
		words[i+1] = strings.ToUpper(words[i+1][:1]) + words[i+1][1:]
	}
	return []string{strings.Join(words, "")}
}

var (
	element = regexp.MustCompile(`^recipients\[(\d+)\]\.`)
	ofGifts = regexp.MustCompile(`^gifts\[(\d+)\]`)
)

// at says where something is wrong, in the words of the command line. What lies in a ticket is told as it is there.
func (g given) at(path string) string {
	if inside, is := strings.CutPrefix(path, "ticketData.data"); is && g["ticketData"] != nil {
		return strings.TrimSpace("--ticket " + strings.TrimPrefix(inside, "."))
	}
	if n := ofGifts.FindStringSubmatch(path); n != nil {
		number, _ := strconv.Atoi(n[1])
		return fmt.Sprintf("GIFT %d", number+1)
	}
	last := path[strings.LastIndexByte(path, '.')+1:]
	name, _, _ := strings.Cut(last, "[")
	names := g[name]
	if names == nil {
		return path
	}
	if n := element.FindStringSubmatch(path); n != nil {
		number, _ := strconv.Atoi(n[1])
		return fmt.Sprintf("%s (recipient %d)", oneOf(names), number+1)
	}
	return oneOf(names)
}

// oneOf lists names for a sentence: --email, --sms or --print.
func oneOf(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " or " + names[n]
	}
	return names[0]
}

var word = regexp.MustCompile(`[a-z][A-Za-z]*`)

// text writes the names of members in a sentence as the command line has them. A name of one small word may be just a
// word.
func (g given) text(s string) string {
	return word.ReplaceAllStringFunc(s, func(w string) string {
		if names := g[w]; names != nil && strings.ContainsFunc(w, unicode.IsUpper) {
			return oneOf(names)
		}
		return w
	})
}

// refusal tells a service's no: the code, each message on a line of its own, and the request id. Flags and arguments
// are named as they were given.
func showRefusal(t *terminal.Terminal, e *client.Error, g given) {
	fmt.Fprintf(t.Stderr, "boon: refused: %s\n", terminal.Plain(string(e.Code)))
	for _, m := range e.Messages {
		path := ""
		if m.Path != "" {
			path = g.at(m.Path) + ": "
		}
		fmt.Fprintf(t.Stderr, "  %s\n", terminal.Plain(path+g.text(m.Text)))
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(t.Stderr, "  Try again in %s.\n", e.RetryAfter)
	}
	if e.RequestID != "" {
		fmt.Fprintf(t.Stderr, "  request %s\n", terminal.Plain(e.RequestID))
	}
}
