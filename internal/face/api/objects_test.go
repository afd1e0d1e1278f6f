package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"boon.example/internal/racetest"
	"boon.example/internal/store/pgtest"
)

// TestCallsTakeFewObjects: objects are what a call costs beside the database, and, unlike time, they are the same on a
// machine that is busy. A call that takes more of them than it did should be worth it.
func TestCallsTakeFewObjects(t *testing.T) {
	racetest.Skip(t, "the detector makes objects of its own")
	pgtest.Once(t) // the driver of PostgreSQL makes objects in the background
	const calls = 100
	w := newWorld(t)
	var gifts []made
	for range calls + 1 { // once more before it counts
		gifts = append(gifts, w.send(ofMoney("25")))
	}
	sold := w.send(ofMoney("500"))
	handler := w.config.handler() // without what holds calls against the OpenAPI file
	for operation, c := range map[string]struct {
		body func(n int) string
		most float64
	}{
		"validate-gift": {func(n int) string {
			return `{"voucherCode":"` + gifts[n].code + `","organizationID":"` + pier + `"}`
		}, 290},
		"redeem-gift": {func(int) string { return redeemBody(sold, "0.01") }, 610},
	} {
		n := 0
		objects := testing.AllocsPerRun(calls, func() {
			r := httptest.NewRequest(http.MethodPost, "/api/integration/redemption/"+operation, strings.NewReader(c.body(n)))
			r.Header.Set("Authorization", harborKey)
			r.Header.Set("Idempotency-Key", fmt.Sprintf("objects-%d", n))
			answer := httptest.NewRecorder()
			if handler.ServeHTTP(answer, r); answer.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", operation, answer.Code, answer.Body)
			}
			n++
		})
		if t.Logf("%s: %v", operation, objects); objects > c.most {
			t.Errorf("%s takes %v objects, want at most %v", operation, objects, c.most)
		}
	}
}
