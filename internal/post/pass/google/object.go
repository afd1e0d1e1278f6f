package google

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/pass"
)

// CardAt tells the objects apart that a gift has one after the other: one for each of its cards, at each issuer that
// the merchant was.
func CardAt(issuer string, g *gift.Gift) (c event.PassCard) {
	is := pass.CardOf(g)
	sum := sha256.Sum256(append([]byte("object at "+issuer+"\x00"), is[:]...))
	copy(c[:], sum[:])
	return c
}

// ObjectID is the name of the object of a gift's card at Google. Each card that a gift has one after the other has an
// object of its own: whoever saved the first one sees nothing of the next.
func ObjectID(issuer string, voucher guid.ID, c event.PassCard) string {
	return issuer + "." + voucher.String() + "." + hex.EncodeToString(c[:])
}

// ClassID is the name of the class of a design; of the account, where a gift has none.
func ClassID(issuer string, a *merchant.Account, g *gift.Gift) string {
	if a.Design(g.Card.DesignID) == nil {
		return issuer + "." + a.ID.String()
	}
	return issuer + "." + g.Card.DesignID.String()
}

// Saved reports whether a gift has a pass of Google Wallet: gifts of items have none.
func Saved(g *gift.Gift) bool { return !g.Item }

type class struct {
	ID       string `json:"id"`
	Issuer   string `json:"issuerName"`
	Merchant string `json:"merchantName"`
	Logo     *image `json:"programLogo,omitempty"`
	Color    string `json:"hexBackgroundColor"`
	Review   string `json:"reviewStatus"`
}

type image struct {
	Source struct {
		URI string `json:"uri"`
	} `json:"sourceUri"`
}

// classOf is the class of the design of a gift. Pictures are where Google finds them: at the service, by HTTPS.
func classOf(id, publicURL string, v *card.View) class {
	c := class{ID: id, Issuer: v.Merchant, Merchant: v.Merchant, Color: v.Accent.String(), Review: "UNDER_REVIEW"}
	if !v.Logo.IsZero() && strings.HasPrefix(publicURL, "https://") {
		c.Logo = &image{}
		c.Logo.Source.URI = strings.TrimSuffix(publicURL, "/") + "/assets/" + v.Logo.String()
	}
	return c
}

type object struct {
	ID      string    `json:"id"`
	Class   string    `json:"classId,omitempty"`
	State   string    `json:"state"`
	Number  string    `json:"cardNumber"`
	Balance *balance  `json:"balance"`
	Updated *date     `json:"balanceUpdateTime"`
	Barcode *barcode  `json:"barcode"` // null takes it away
	Valid   *validity `json:"validTimeInterval"`
	Texts   []text    `json:"textModulesData"`
}

type balance struct {
	Micros   string `json:"micros"`
	Currency string `json:"currencyCode"`
}

type date struct {
	Date string `json:"date"`
}

type barcode struct {
	Type  string `json:"type"`
	Value string `json:"value"`
	Text  string `json:"alternateText"`
}

type validity struct {
	End date `json:"end"`
}

type text struct {
	ID     string `json:"id"`
	Header string `json:"header"`
	Body   string `json:"body"`
}

// micros is an amount in millionths, as Google has it.
func micros(g *gift.Gift, now time.Time) string {
	n := int64(g.Available(now))
	for range 6 - g.Currency.Decimals {
		n *= 10
	}
	return strconv.FormatInt(n, 10)
}

// objectOf is the object of a card of a gift. Where the page shows no code, the object has none either, nor a number.
func objectOf(issuer, publicURL string, a *merchant.Account, g *gift.Gift, v *card.View, now time.Time) object {
	o := object{ID: ObjectID(issuer, g.ID, CardAt(issuer, g)), Class: ClassID(issuer, a, g), State: "INACTIVE",
		Number: "-", Balance: &balance{micros(g, now), g.Currency.Code}, Updated: &date{now.UTC().Format(time.RFC3339)}}
	switch {
	case v.Shown():
		url := card.GiftURL(publicURL, g.Card.Token)
		o.State, o.Number, o.Barcode = "ACTIVE", v.Code, &barcode{"QR_CODE", url, v.Code}
	case v.State == card.Redeemed:
		o.State = "COMPLETED"
	case v.State == card.Expired:
		o.State = "EXPIRED"
	}
	if !v.Ends.IsZero() {
		o.Valid = &validity{date{v.Ends.Format(time.RFC3339)}}
	}
	add := func(id, header string, lines ...string) {
		if body := strings.TrimSpace(strings.Join(lines, "\n")); body != "" {
			o.Texts = append(o.Texts, text{id, header, body})
		}
	}
	if v.Shown() {
		add("message", v.Text("page.words"), v.Message...)
		add("validity", v.Text("card.validity"), v.Validity)
		add("where", v.Text("card.where"), append([]string{v.Where}, v.Places...)...)
		add("terms", v.Text("card.terms"), v.Terms...)
	} else {
		add("state", v.StateTitle(), v.Notice)
	}
	return o
}

// deadObject is the object of a card that the gift has no more, or of a gift that is not there any more: it says
// nothing of the gift. Its class stays as it is. A change that names a class that Google does not have is answered with
// 404, as one of an object that it does not have.
func deadObject(issuer string, voucher guid.ID, c event.PassCard, l *locale.Locale) object {
	return object{ID: ObjectID(issuer, voucher, c), State: "EXPIRED", Number: "-",
		Texts: []text{{"state", l.Text("page.replaced.title"), l.Text("page.replaced.ask")}}}
}
