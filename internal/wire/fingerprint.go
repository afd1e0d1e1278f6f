package wire

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// normal writes what was read of a request in one way. What is absent leaves no trace, so that a member that a later
// version adds leaves the fingerprints of earlier requests as they are. The names are those of the Go fields: whoever
// renames one changes the fingerprints of requests that may still be repeated, which a test notices. In what stays as
// it was sent, the order of members and the spelling of texts make no difference.
var normal = json.JoinOptions(json.Deterministic(true), json.OmitZeroStructFields(true),
	jsontext.ReorderRawObjects(true), jsontext.AllowDuplicateNames(true),
	json.WithMarshalers(json.JoinMarshalers(
		asText(codes.VoucherCode.Reveal), asText(codes.ActivationCode.Reveal), asText(codes.Token.Reveal),
		asText(guid.ID.String),
		asText(func(d money.Decimal) string { return d.In(money.Pieces) }),
	)))

// asText writes values of a type as texts.
func asText[T any](text func(T) string) *json.Marshalers {
	return json.MarshalToFunc(func(e *jsontext.Encoder, v T) error { return e.WriteToken(jsontext.String(text(v))) })
}

// Normalized is the text over which a request's fingerprint is made: spacing, the order of members, the spelling of
// numbers and the letter case of GUIDs make no difference. It holds the request's secrets.
func Normalized(operation string, request any) []byte {
	text, err := json.Marshal(request, normal)
	if err != nil {
		panic(fmt.Sprintf("a request of the type %T cannot be written: %v", request, err)) // a mistake in the type
	}
	return append([]byte(operation+" "), text...)
}

// canonical writes a JSON number in one way: 25, 25.0 and 2.5e1 are all 25e0. An exponent beyond all reason stays as
// it is.
func canonical(s string) money.Number {
	number, power := s, 0
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		n, err := strconv.Atoi(s[e+1:])
		if err != nil || n > 1<<30 || n < -1<<30 {
			return money.Number(s)
		}
		number, power = s[:e], n
	}
	sign := ""
	if strings.HasPrefix(number, "-") {
		sign, number = "-", number[1:]
	}
	whole, fraction, _ := strings.Cut(number, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	power -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	if power += len(digits) - len(trimmed); trimmed == "" {
		if s == "" {
			return ""
		}
		return "0e0"
	}
	return money.Number(sign + trimmed + "e" + strconv.Itoa(power))
}
