package gift

import (
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests are the same on every machine

	"boon.example/internal/guid"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/refusal/refusaltest"
)

var (
	usd = money.Currency{Code: "USD", Decimals: 2}
	jpy = money.Currency{Code: "JPY", Decimals: 0}
)

// now is the moment at which the tests take place.
var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// id makes an ID that is easy to tell from others.
func id(n byte) guid.ID { return guid.ID{0: n, 15: n} }

func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func ptr[T any](v T) *T { return &v }

// codeOf is the code of an error, "" for none.
var codeOf = refusaltest.CodeOf

// inOurWords gives fields the names that they have in this package.
func inOurWords(f refusal.Field) string { return string(f) }
