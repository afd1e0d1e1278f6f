package remote

import (
	"encoding/json"
	"strings"
	"testing"

	"boon.example/internal/command/terminal"
)

// TestTicketFiles: what a file says is sent, be it a ticket, a platform's order, or ticketData, of which unknown
// members and options are refused by their names.
func TestTicketFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ format, text, want, refused string }{
		{"", `{"lineItems":[]}`, `{"data":{"lineItems":[]},"format":"standard"}`, ""},
		{"square", ` {"order":{"total":1.50}} `, `{"data":{"order":{"total":1.50}},"format":"square"}`, ""},
		{"", `{"data":{"checks":[]},"format":"toast","options":{"checkGuid":"C","itemID":"plu"}}`,
			`{"data":{"checks":[]},"format":"toast","options":{"checkGuid":"C","itemID":"plu"}}`, ""},
		{"", `{"format":"lightspeed-x","options":{"taxInclusive":false},"data":{}}`,
			`{"data":{},"format":"lightspeed-x","options":{"taxInclusive":false}}`, ""},
		{"", `{"format":"toast","options":null,"data":{}}`, `{"data":{},"format":"toast"}`, ""},
		{"lightspeed-x", `{"data":{"line_items":[]}}`, `{"data":{"data":{"line_items":[]}},"format":"lightspeed-x"}`, ""},
		{"", `{"format":"toast","options":{"checkGuid":"C","itemId2":"plu"},"data":{}}`, "", `unknown field "itemId2"`},
		{"", `{"format":"toast","options":{"checkGuid":7},"data":{}}`, "", "- is not ticketData"},
		{"", `{"format":"toast","option":{"checkGuid":"C"},"data":{}}`, "", `unknown field "option"`},
		{"", `[]`, "", "- is not a ticket in JSON"},
	} {
		got, err := ticketFlag{"-", tt.format}.read(&terminal.Terminal{Stdin: strings.NewReader(tt.text)})
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %v, want %s", tt.text, err, tt.refused)
			}
			continue
		}
		sent, _ := json.Marshal(got)
		if err != nil || string(sent) != tt.want {
			t.Errorf("%s: %v, sent as %s, want %s", tt.text, err, sent, tt.want)
		}
	}
}
