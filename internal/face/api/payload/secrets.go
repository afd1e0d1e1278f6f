package payload

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/wire"
)

// secretMember is the name of a member of an answer by whose value a gift can be spent. Nothing but writeSecret
// writes such a value, so that what hides the secretMembers of an answer that is kept hides all of them.
type secretMember string

// The members by which a gift can be spent. The last is a PDF of one gift, or of all printed gifts of an order.
const (
	secretCode  secretMember = "voucherCode"
	secretToken secretMember = "voucherPublicToken"
	secretPage  secretMember = "giftURL"
	secretPrint secretMember = "printURL"
)

var secretMembers = map[secretMember]bool{secretCode: true, secretToken: true, secretPage: true, secretPrint: true}

// writeSecret writes a member by which a gift can be spent, and null where the caller may not see it.
func writeSecret(w *wire.Writer, name secretMember, value string, masked bool) {
	if masked {
		w.Null(string(name))
		return
	}
	w.Text(string(name), value)
}

// writeSecrets writes code, token and page of a gift.
func writeSecrets(w *wire.Writer, g *gift.Gift, s View) {
	writeSecret(w, secretCode, g.Card.Code.Reveal(), s.Masked)
	writeSecret(w, secretToken, g.Card.Token.Reveal(), s.Masked)
	writeSecret(w, secretPage, GiftURL(g, s.Pages), s.Masked)
}

// WriteCode writes the code of a gift to whoever is told it, whatever else they may see.
func WriteCode(w *wire.Writer, g *gift.Gift) {
	writeSecret(w, secretCode, g.Card.Code.Reveal(), false)
	w.Text("lastFour", g.Card.Code.LastFour())
}

// GiftURL is the address of a gift's page.
func GiftURL(g *gift.Gift, publicURL string) string { return publicURL + "/g/" + g.Card.Token.Reveal() }

// printPath ends the addresses of PDFs, which package web answers.
const printPath = "/print.pdf"

// WritePrintURL writes where a gift can be printed, if it goes in print.
func WritePrintURL(w *wire.Writer, g *gift.Gift, s View) {
	writeSecret(w, secretPrint, GiftURL(g, s.Pages)+printPath, s.Masked || g.Card.Method != contact.Printed)
}

// WriteSheetURL writes where the printed gifts of an order can be printed together, if there are any.
func WriteSheetURL(w *wire.Writer, sheet codes.Token, publicURL string) {
	writeSecret(w, secretPrint, publicURL+"/orders/"+sheet.Reveal()+printPath, sheet == codes.Token{})
}

// CodesIn is how many codes an answer tells. No text in it has this look: its quotes are escaped.
func CodesIn(answer []byte) int { return bytes.Count(answer, []byte(`"`+secretCode+`":"`)) }

// TellsCodes reports whether an answer may tell codes to a key that may not see them. That of a new gift does. That of
// a replacement does unless the new code was sent, as it goes nowhere else.
func TellsCodes(op operation.Name, body []byte) (bool, error) {
	switch op.CardTold() {
	case operation.OldCard:
		return false, nil
	case operation.ReplacedCard:
		var replaced struct {
			Sent bool `json:"sent"`
		}
		err := json.Unmarshal(body, &replaced)
		return !replaced.Sent, err
	}
	return true, nil
}

// WithoutSecrets gives an answer with null in place of the value of each secretMember, at whatever depth. All else
// stays as it is, byte for byte.
func WithoutSecrets(answer []byte) (masked []byte, _ error) {
	d, copied := jsontext.NewDecoder(bytes.NewReader(answer), jsontext.AllowDuplicateNames(true)), int64(0)
	for {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return append(masked, answer[copied:]...), nil
		} else if err != nil {
			return nil, err
		}
		kind, read := d.StackIndex(d.StackDepth())
		isName := kind == '{' && read%2 == 1
		if !isName || !secretMembers[secretMember(token.String())] {
			continue
		}
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		masked = append(append(masked, answer[copied:d.InputOffset()-int64(len(value))]...), "null"...)
		copied = d.InputOffset()
	}
}
