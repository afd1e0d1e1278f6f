package merchant

import (
	"time"
	_ "time/tzdata" // the zones of the tests are the same on every machine

	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/refusal/refusaltest"
)

var (
	shop  = id(0x21)
	kiosk = id(0x22)
)

// now is the moment at which the tests take place.
var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// id makes an ID that is easy to tell from others.
func id(n byte) guid.ID { return guid.ID{0: n, 15: n} }

// codeOf is the code of an error, "" for none.
var codeOf = refusaltest.CodeOf

// inOurWords gives fields the names that they have in this package.
func inOurWords(f refusal.Field) string { return string(f) }
