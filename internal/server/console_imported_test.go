package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/intake"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
	"boon.example/internal/staff"
	"boon.example/internal/store"
)

// TestStaffFindCardsOfAnotherSystem: by the number on the card, swiped too; a name or a telephone number that is as
// long is looked for as such.
func TestStaffFindCardsOfAnotherSystem(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	const currency = "    currency: USD\n"
	s.apply([]byte(strings.Replace(string(examples.HarborCoffee()), currency,
		currency+"    importedCodes: [{digits: 16}, {alphanumeric: 8}]\n", 1)))
	s.withStore(func(db *store.Store) error {
		d, err := db.Directory(s.Context())
		if err != nil {
			return err
		}
		id, err := guid.Parse(examples.HarborAccount)
		if err != nil {
			return err
		}
		o := &intake.Order{Account: d.Accounts[id], Setup: d.Version, From: merchant.FromOther, Count: -1, MadeBy: "Ann",
			TillsOnly: true, By: event.TrailEntry{AccountID: id}, Progress: func(string, int, int) {}}
		file := strings.NewReader("code,balance,recipient\n6006123456789012,25.00,Hoffmann\n")
		r, err := intake.Check(s.Context(), db, o, file)
		if err != nil {
			return err
		}
		_, err = intake.Bring(s.Context(), db, o, r, file)
		return err
	})
	s.learned()
	owner := s.joined("ann@example.com", staff.Owner)
	for _, text := range []string{"6006123456789012", "6006 1234 5678 9012", ";6006123456789012=2612?"} {
		if address, page := owner.found(text); !strings.HasPrefix(address, harborConsole+"gifts/") ||
			!strings.Contains(page, "Hoffmann") || strings.Contains(page, "6006123456789012") {
			t.Errorf("%q leads to %s: %s", text, address, page)
		}
	}
	if address, page := owner.found("Hoffmann"); address != "" ||
		!strings.Contains(page, "Hoffmann") {
		t.Errorf("a name leads to %s: %s", address, page)
	}
	if _, page := owner.found("RECEIPT1"); !strings.Contains(page, "No gift fits") {
		t.Errorf("a receipt: %s", page)
	}
	owner.want(http.StatusNotFound, harborConsole+"search", url.Values{"q": {"100000000000"}})
}
