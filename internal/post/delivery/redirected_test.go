package delivery

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
)

// TestRedirectedMessage: who no longer gets a gift is told so, and learns nothing by which it can be found, neither
// that of before nor that of now.
func TestRedirectedMessage(t *testing.T) {
	t.Parallel()
	for _, method := range []contact.Method{contact.Email, contact.SMS} {
		for _, name := range []string{"Ben", strings.Repeat("Maximiliane ", 16), strings.Repeat("漢", 200)} {
			g := aGift(method)
			g.Status, g.Card.Sender = gift.Delivered, name
			m, err := RenderRedirected(&g, anAccount, testID(9), Pictures{}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if m.To != g.Card.Contact || m.QR != nil || !strings.Contains(m.Text, "no longer work") ||
				!strings.Contains(m.Text, "someone else") ||
				method == contact.Email && (!strings.Contains(m.HTML, "no longer work") || m.Subject == "") {
				t.Errorf("%s: %+v", method, m)
			}
			for _, text := range []string{m.Text, m.HTML, m.Subject} {
				for _, secret := range []string{g.Card.Token.Reveal(), g.Card.Code.Reveal(), g.Card.Code.Grouped(), "/g/",
					publicURL, "25.00"} {
					if strings.Contains(text, secret) {
						t.Errorf("%s: %q is in %s", method, secret, text)
					}
				}
			}
			if method == contact.SMS && name == "Ben" && parts(m.Text) > 1 {
				t.Errorf("it does not fit into one message: %q", m.Text)
			}
		}
	}
}
