package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"boon.example/internal/base/admission"
	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// TestAProviderTellsCodesApartByNothing: where no attempt is left, no code is looked up: else how long the answer takes
// would go on telling which is which.
func TestAProviderTellsCodesApartByNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, foreign := w.send(ofMoney("50")), w.send(strings.Replace(ofMoney("50"), shop, cornerShop, 1), as(cornerKey)...)
	account := w.directory.Load().Accounts[id(harbor)]
	platform := &merchant.Provider{Platform: merchant.Toast, ID: id(nowhere), Permissions: merchant.MayValidate}
	calls := w.config.api().Service
	find := func(text string) (lookedUp int64, found error) {
		code, err := codes.ParseVoucherCode(text)
		if err != nil {
			t.Fatal(err)
		}
		before := w.store.CodeLookUps()
		answer := httptest.NewRecorder()
		provider.Handler(calls, func(d *provider.Call) service.Reply {
			if err := d.Begin(platform.Caller(account, id(pier)), admission.Validate, time.Minute); err != nil {
				t.Error(err)
			}
			_, found = d.Find(code, provider.Before{References: []string{"none"}, Known: func(*gift.Voucher) (bool, error) {
				t.Error("what was not used is asked about")
				return true, nil
			}})
			return service.Reply{Status: http.StatusOK}
		}).ServeHTTP(answer, httptest.NewRequest("POST", "/", nil))
		if answer.Code != http.StatusOK {
			t.Fatalf("the call fails with %d", answer.Code)
		}
		return w.store.CodeLookUps() - before, found
	}
	if _, err := find(g.code); err != nil {
		t.Fatal(err)
	}
	for n := range merchant.GuessBurst {
		if times, err := find(fmt.Sprintf("99999%07d", n)); !errors.Is(err, refusal.NotFound) || times != 1 {
			t.Fatalf("wrong code %d: %v, looked up %d times", n, err, times)
		}
	}
	for what, code := range map[string]string{"a good one": g.code, "another merchant's": foreign.code,
		"none": fmt.Sprintf("99999%07d", 500)} {
		if times, err := find(code); !errors.Is(err, refusal.RateLimited) || times != 0 {
			t.Errorf("%s: %v, and it was looked up %d times", what, err, times)
		}
	}
}
