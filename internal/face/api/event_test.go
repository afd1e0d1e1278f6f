package api_test

import (
	"testing"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// TestEventsNameKeyAndLocation: for the log, each call names its key, and the location that it is about or that
// follows from the key.
func TestEventsNameKeyAndLocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	place := func(text string) guid.ID {
		if text == "" {
			return guid.ID{}
		}
		return id(text)
	}
	const validate = "validate-gift"
	for name, tt := range map[string]struct {
		call     func()
		key      string // the key's name
		location string
	}{
		"named": {func() { w.post(validate, `{"voucherCode":"123456789012","organizationID":"`+wharf+`"}`) }, harborKey,
			wharf},
		"by its POS name": {func() {
			w.post(validate, `{"voucherCode":"123456789012","pointOfSaleSystemOrganizationIdentifier":"POS-1"}`)
		}, harborKey, pier},
		"not allowed": {func() {
			w.post(validate, `{"voucherCode":"123456789012","organizationID":"`+wharf+`"}`, as(pierKey)...)
		}, pierKey, wharf},
		"of the key":   {func() { w.post(validate, `{"voucherCode":"123456789012"}`, as(pierKey)...) }, pierKey, pier},
		"of a look-up": {func() { w.get("/requests/none", as(pierKey)...) }, pierKey, pier},
		"not said":     {func() { w.get("/requests/none") }, harborKey, ""},
		"a wrong key":  {func() { w.get("/requests/none", as("boon_test_wrong")...) }, "", ""},
	} {
		w.mu.Lock()
		w.events = nil
		w.mu.Unlock()
		tt.call()
		w.mu.Lock()
		e := w.events[len(w.events)-1]
		w.mu.Unlock()
		var key guid.ID
		if k := w.directory.Load().Keys[merchant.HashKey(tt.key)]; k != nil {
			key = k.ID
			if e.KeyName != k.Name {
				t.Errorf("%s: the key is called %q, want %q", name, e.KeyName, k.Name)
			}
		}
		if e.KeyID != key || e.LocationID != place(tt.location) {
			t.Errorf("a location that is %s: key %s at %s, want %s at %s", name, e.KeyID, e.LocationID, key, tt.location)
		}
	}
}
