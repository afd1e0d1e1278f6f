package vtex

import (
	"testing"

	"boon.example/internal/api"
	"boon.example/internal/gift"
)

// TestEveryCodeHasAStatus: each of our refusals is told with a status that the Hub can pass on.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	ours := map[gift.Code]bool{gift.UnexpectedError: true, gift.Unavailable: true, gift.RequestInProgress: true}
	for _, code := range gift.Codes() {
		if status := statusOf(code); status < 400 || status > 404 {
			t.Errorf("%s is told with %d", code, status)
		}
		if ours[code] {
			if reply := (&call{Desk: new(api.Desk)}).failed(gift.Refuse(code, "no")); reply.Status != 500 {
				t.Errorf("%s is told with %d", code, reply.Status)
			}
		}
	}
}
