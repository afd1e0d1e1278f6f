package service

import (
	"fmt"
	"math"
	"net/http"
	"strings"

	"boon.example/internal/merchant"
)

// sayQuotas says what is left of the daily limits that a call counted against, by the headers RateLimit-Policy and
// RateLimit (draft-ietf-httpapi-ratelimit-headers-10). What is left of guesses is told to nobody.
func sayQuotas(h http.Header, all []merchant.Quota) {
	if len(all) == 0 {
		return
	}
	var policies, left []string
	for _, q := range all {
		policies = append(policies, fmt.Sprintf(`"%s";q=%d;qu="%s";w=%d`, q.Name, integer(q.Limit), q.Unit,
			int64(q.Day.Seconds())))
		left = append(left, fmt.Sprintf(`"%s";r=%d;t=%d`, q.Name, integer(q.Left), int64(math.Ceil(q.Ends.Seconds()))))
	}
	h.Set("RateLimit-Policy", strings.Join(policies, ", "))
	h.Set("RateLimit", strings.Join(left, ", "))
}

// integer is a number as structured fields have it (RFC 9651, 3.3.1): of at most 15 digits.
func integer(n int64) int64 { return min(n, 999_999_999_999_999) }
