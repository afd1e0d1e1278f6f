package gifts

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/calendar"
	"boon.example/internal/contact"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// sendPages are the form that sends a gift.
func (f *pages) sendPages() []desk.Page {
	return []desk.Page{
		{Pattern: "GET /send", Nav: "console.send", Key: "s", Needs: merchant.MaySend,
			Do: func(r *desk.Request) (desk.View, error) {
				return f.showSend(r, nil)
			}},
		{Pattern: "GET /send/preview", Needs: merchant.MaySend, Do: f.preview},
		{Pattern: "POST /send/preview", Needs: merchant.MaySend, Do: f.preview},
		{Pattern: "POST /send", Needs: merchant.MaySend, Do: f.send},
	}
}

// The choices of the form.
const (
	asPresent = "present" // nobody pays: a promotion says what it is for
	onPaper   = "paper"
	toBuyer   = "buyer" // all in one e-mail, as a PDF
	asTable   = "table" // the same as a table
	later     = "later"
)

// sendShown is what the form shows.
type sendShown struct {
	Key         string
	Currency    string
	Promotions  []option
	Storefronts []option
	Wrong       []string
	Typed       map[string]string
	Zone        string // in which a time is meant
}

// typedInSend are the fields of the form.
var typedInSend = []string{"value", "price", "how", "to", "contact", "recipient", "sender", "message", "when", "at",
	"reference", "first", "last", "email", "storefront", "promotion"}

// showSend shows the form; where it was refused, with what was typed and what is wrong with it.
func (f *pages) showSend(r *desk.Request, wrong *refusal.Error) (desk.View, error) {
	shown := f.formOfSend(r)
	v := desk.View{Template: "send.html", Title: "console.send", Data: &shown}
	if wrong != nil {
		v.Status, shown.Wrong = wrong.Code.Status(), wrongInSend(r, wrong)
	}
	return v, nil
}

// formOfSend is the form, with what was typed into it.
func (f *pages) formOfSend(r *desk.Request) sendShown {
	shown := sendShown{Key: uuid.NewString(), Currency: r.Account.Currency.Code, Typed: map[string]string{},
		Zone: r.Account.Zone.String()}
	for n := range r.Account.Promotions {
		p := &r.Account.Promotions[n]
		shown.Promotions = append(shown.Promotions, option{p.ID.String(), p.Name})
	}
	for n := range r.Account.Storefronts {
		s := &r.Account.Storefronts[n]
		shown.Storefronts = append(shown.Storefronts, option{s.ID.String(), s.Name})
	}
	for _, name := range typedInSend {
		shown.Typed[name] = r.HTTP.PostForm.Get(name)
	}
	if shown.Typed["to"] == "" && !f.sends && !r.Account.Test {
		shown.Typed["to"] = onPaper
	}
	return shown
}

// fieldsOfSend are the fields of the form by the members of send-gift that they become.
var fieldsOfSend = map[string]string{"value": "value", "pricePaid": "price", "recipientContact": "contact",
	"recipientDescription": "recipient",
	"senderDescription":    "sender", "message": "message", "deliveryDate": "at",
	"externalTransactionReferenceNumber": "reference", "externalTransactionCustomerFirstName": "first",
	"externalTransactionCustomerLastName": "last", "externalTransactionCustomerEmailAddress": "email",
	"externalStorefrontID": "storefront", "promotionID": "promotion"}

// wrongInSend tells what is wrong, each with the name of its field on the page. Of a field that was left empty there is
// one thing to say: the words of the interface mean nothing to whoever sees a form.
func wrongInSend(r *desk.Request, e *refusal.Error) (sentences []string) {
	texts := r.Said(e)
	for n, m := range e.Messages {
		texts[n] = strings.Replace(texts[n], " (deliveryMethodID 3)", "", 1) // the interface's name of what the form has
		path := m.Path + string(m.Field)
		member := path[strings.LastIndexByte(path, '.')+1:]
		if lacking := lackingIn(promotionOf(r), member); lacking != "" {
			texts[n] = r.Locale.Text(lacking)
		} else if field := fieldsOfSend[member]; field != "" {
			if strings.TrimSpace(r.HTTP.PostForm.Get(field)) == "" {
				texts[n] = r.Locale.Text("console.send.missing")
			}
			texts[n] = r.Locale.Text("console.send."+field) + ": " + texts[n]
			if typed := r.HTTP.PostForm.Get("contact"); field == "contact" && typed != "" && !strings.Contains(typed, "@") {
				texts[n] += " " + r.Locale.Text("console.send.text-countries")
			}
		}
	}
	return texts
}

// lackingIn is the text about what a promotion must say before a form, which has no fields for it, can send its gifts;
// "": it says that.
func lackingIn(p *merchant.Promotion, member string) string {
	switch {
	case p == nil:
	case member == "validForDays" && p.ValidForDays == 0:
		return "console.send.no-days"
	case member == "promotionalTerms" && p.Terms == "":
		return "console.send.no-terms"
	}
	return ""
}

// promotionOf is the promotion that a form names; nil: the account has no such one.
func promotionOf(r *desk.Request) *merchant.Promotion {
	id, err := guid.Parse(strings.TrimSpace(r.HTTP.PostForm.Get("promotion")))
	if err != nil {
		return nil
	}
	return r.Account.Promotion(id)
}

// beginOf is from when a present is valid if its promotion does not say it: from the day on which it is sent. The form
// has no field for it. A moment would be another one when the form is sent once more, which then would not repeat the
// first request.
func beginOf(r *desk.Request, g map[string]any) time.Time {
	day := r.Now
	if at, later := g["deliveryDate"].(string); later {
		day, _ = time.Parse(time.RFC3339, at) // which orderAround wrote
	}
	y, m, d := day.In(r.Account.Zone).Date()
	return calendar.FromWall(time.Date(y, m, d, 0, 0, 0, 0, time.UTC), r.Account.Zone)
}

// send sends a gift, once for each form that was shown, and leads to its page. That of a printed gift is shown with the
// address of its card, which stands nowhere else.
func (f *pages) send(r *desk.Request) (desk.View, error) {
	typed := func(name string) string { return strings.TrimSpace(r.HTTP.PostForm.Get(name)) }
	body, err := orderOf(r, typed)
	var made struct {
		Gifts []struct{ VoucherID, PrintURL string }
	}
	if err == nil {
		err = r.Operate(http.MethodPost, gifting+string(operation.SendGift), typed("key"), body, &made)
	}
	if refused, is := errors.AsType[*refusal.Error](err); is {
		return f.showSend(r, refused)
	}
	if err != nil {
		return desk.View{}, err
	}
	to := desk.Home(r.Account.ID) + "gifts/" + made.Gifts[0].VoucherID
	if card := made.Gifts[0].PrintURL; card != "" {
		return desk.View{Template: "printed.html", Title: "console.send.printed", Data: printed{to, card}}, nil
	}
	return desk.View{To: to + "?done=send"}, nil
}

// printed is what is shown of a gift that was made for paper.
type printed struct{ Gift, Card string }

// orderOf is the request of send-gift that a form means.
func orderOf(r *desk.Request, typed func(string) string) (map[string]any, error) {
	value, err := readValue(r, typed("value"))
	if err != nil {
		return nil, err
	}
	g := howItGoes(typed("to"))
	if g == nil {
		if typed("contact") == "" {
			return nil, errNoContact
		}
		g = deliverTo(typed("contact"))
	}
	g["value"] = value
	if typed("price") != "" {
		if g["pricePaid"], err = readPrice(r, typed("price")); err != nil {
			return nil, err
		}
	}
	addTexts(g, typed, map[string]string{"recipientDescription": "recipient", "senderDescription": "sender",
		"message": "message"})
	return orderAround(r, typed, g)
}

// howItGoes is the gift of a form that says no contact; nil: it goes to one.
func howItGoes(to string) map[string]any {
	switch to {
	case onPaper:
		return map[string]any{"deliveryMethodID": int(contact.Printed)}
	case toBuyer, asTable:
		return map[string]any{"deliveryMethodID": int(contact.Email)}
	}
	return nil
}

// readValue reads what a gift is to be worth.
func readValue(r *desk.Request, typed string) (json.Number, error) {
	c := r.Account.Currency
	return r.ReadAmount("value", typed, c, func(a money.Amount) string { return r.Locale.Money(a, c) })
}

// readPrice reads what was paid for a gift.
func readPrice(r *desk.Request, typed string) (json.Number, error) {
	c := r.Account.Currency
	return r.ReadAmount("pricePaid", typed, c, func(a money.Amount) string { return r.Locale.Money(a, c) })
}

// addTexts adds what was typed as members of a request.
func addTexts(to map[string]any, typed func(string) string, fields map[string]string) {
	for member, field := range fields {
		if typed(field) != "" {
			to[member] = typed(field)
		}
	}
}

// orderAround is the order of a gift: when it is delivered, and who pays.
func orderAround(r *desk.Request, typed func(string) string, g map[string]any) (map[string]any, error) {
	if typed("when") == later {
		at, err := time.ParseInLocation("2006-01-02T15:04", typed("at"), r.Account.Zone)
		if err != nil {
			return nil, refusal.At(refusal.ValidationFailure, "deliveryDate", "Choose a day and a time.")
		}
		g["hasScheduledDelivery"], g["deliveryDate"] = true, at.Format(time.RFC3339)
	}
	order := map[string]any{"monetaryGift": g}
	switch typed("to") {
	case toBuyer:
		order["deliverTo"] = gift.ToBuyer
	case asTable:
		order["deliverTo"], order["attachment"] = gift.ToBuyer, string(gift.AsCSV)
	}
	if typed("how") == asPresent {
		order["paymentMethodID"], order["promotionID"] = 4, typed("promotion")
		if p := promotionOf(r); p != nil && p.ValidStarting.IsZero() {
			order["validStarting"] = beginOf(r, g).Format(time.RFC3339)
		}
		return order, nil
	}
	order["paymentMethodID"] = 2
	addTexts(order, typed, map[string]string{"externalTransactionReferenceNumber": "reference",
		"externalTransactionCustomerFirstName": "first", "externalTransactionCustomerLastName": "last",
		"externalTransactionCustomerEmailAddress": "email", "externalStorefrontID": "storefront"})
	return order, nil
}
