package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"boon.example/internal/api"
	"boon.example/internal/gift"
)

// TestADeskTellsCodesApartByNothing: where no attempt is left, a good code costs what a bad one does: else how long the
// answer takes would go on telling which is which.
func TestADeskTellsCodesApartByNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, foreign := w.send(money("50")), w.send(strings.Replace(money("50"), shop, cornerShop, 1), as(cornerKey)...)
	account := w.directory.Load().Accounts[id(harbor)]
	platform := &gift.Provider{Platform: gift.Toast, ID: id(nowhere), Permissions: gift.MayValidate}
	desk := api.New(w.config)
	find := func(text string) (asked int, found error) {
		code, err := gift.ParseVoucherCode(text)
		if err != nil {
			t.Fatal(err)
		}
		answer := httptest.NewRecorder()
		desk.Foreign(func(d *api.Desk) api.Reply {
			if err := d.Begin(platform.Caller(account, id(pier)), api.PriorityValidate, time.Minute); err != nil {
				t.Error(err)
			}
			_, found = d.Find(code, func(*gift.Voucher) (bool, error) {
				asked++
				return false, nil
			})
			return api.Reply{Status: http.StatusOK}
		}).ServeHTTP(answer, httptest.NewRequest("POST", "/", nil))
		if answer.Code != http.StatusOK {
			t.Fatalf("the desk fails with %d", answer.Code)
		}
		return asked, found
	}
	if _, err := find(g.code); err != nil {
		t.Fatal(err)
	}
	for n := range gift.GuessBurst {
		if asked, err := find(fmt.Sprintf("99999%07d", n)); !errors.Is(err, gift.NotFound) || asked != 0 {
			t.Fatalf("wrong code %d: %v, asked %d times", n, err, asked)
		}
	}
	for what, code := range map[string]string{"a good one": g.code, "another merchant's": foreign.code,
		"none": fmt.Sprintf("99999%07d", 500)} {
		if asked, err := find(code); !errors.Is(err, gift.RateLimited) || asked != 1 {
			t.Errorf("%s: %v, and whether it was used before was asked %d times", what, err, asked)
		}
	}
}
