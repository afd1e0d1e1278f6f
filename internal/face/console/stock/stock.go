// Package stock is where staff make cards that are sold later, see which of them are on hand, and have them printed.
package stock

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/order"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

//go:embed templates
var templates embed.FS

// Store is what the pages about stocks need of a database.
type Store interface {
	// Stocks gives at most limit stocks of which cards are on hand, the newest first, made before an order; zero: any.
	Stocks(ctx context.Context, account, before guid.ID, limit int) ([]gift.Stock, error)
	// Stock finds one of these; refusal.NotFound where there is none.
	Stock(ctx context.Context, account, order guid.ID) (gift.Stock, error)
}

// pages are the pages of this part.
type pages struct{ Store }

// Part is the pages about stocks. Whoever takes the codes of a stock along proves once more who they are.
func Part(store Store) desk.Part {
	f := &pages{store}
	return desk.Part{Templates: templates, Pages: []desk.Page{
		{Pattern: "GET /stock", Nav: "console.stock", Needs: merchant.MayStock, Do: func(r *desk.Request) (desk.View, error) {
			return f.show(r, nil)
		}},
		{Pattern: "POST /stock", Needs: merchant.MayStock, Do: f.create},
		{Pattern: "GET /stock/{order}", Needs: merchant.MayStock, Do: f.one},
		{Pattern: "POST /stock/{order}/sheets", Needs: mayPrint, Fresh: true, Do: codes("pdf")},
		{Pattern: "POST /stock/{order}/codes", Needs: mayPrint, Fresh: true, Do: codes("csv")},
	}}
}

const mayPrint = merchant.MayStock | merchant.MayExport

// pageOfStocks is how many stocks a page lists.
const pageOfStocks = 20

// shown is what the page of all stocks shows.
type shown struct {
	Key, Currency string
	Most          int // cards of a stock
	Typed         map[string]string
	Item          bool // something of an item was typed
	Designs       []option
	Locations     []option
	Wrong         []string
	Stocks        []row
	Newest, Older string // addresses; "": there is no such page
}

// option is one of the choices of a field.
type option struct{ Value, Text string }

// row is a stock in a list.
type row struct {
	To, Worth, Place string
	Made, Unsold     int
	At               time.Time
}

// fields are the fields of the form.
var fields = []string{"count", "value", "label", "quantity", "terms", "equivalent", "design", "location", "codes",
	"numbers"}

// show shows what is on hand, and the form that makes more; where it was refused, with what was typed.
func (f *pages) show(r *desk.Request, wrong *refusal.Error) (desk.View, error) {
	var before guid.ID
	if at := r.HTTP.URL.Query().Get("before"); at != "" {
		var err error
		if before, err = guid.Parse(at); err != nil {
			return desk.View{}, desk.ErrNoPage
		}
	}
	all, err := f.Store.Stocks(r.Context(), r.Account.ID, before, pageOfStocks+1)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	home := desk.Home(r.Account.ID) + "stock"
	is := shown{Key: uuid.NewString(), Currency: r.Account.Currency.Code, Most: order.MaxStock, Typed: map[string]string{}}
	if !before.IsZero() {
		is.Newest = home
	}
	if len(all) > pageOfStocks {
		all = all[:pageOfStocks]
		is.Older = home + "?before=" + all[pageOfStocks-1].OrderID.String()
	}
	for n := range all {
		is.Stocks = append(is.Stocks, rowOf(r, &all[n]))
	}
	for n := range r.Account.Designs {
		is.Designs = append(is.Designs, option{r.Account.Designs[n].ID.String(), r.Account.Designs[n].Name})
	}
	for n := range r.Account.Locations {
		is.Locations = append(is.Locations, option{r.Account.Locations[n].ID.String(), r.Account.Locations[n].Name})
	}
	for _, name := range fields {
		is.Typed[name] = r.HTTP.PostForm.Get(name)
	}
	is.Item = is.Typed["label"]+is.Typed["quantity"]+is.Typed["terms"]+is.Typed["equivalent"] != ""
	if is.Typed["design"] == "" {
		is.Typed["design"] = r.Account.DefaultDesign.String()
	}
	v := desk.View{Template: "stock.html", Title: "console.stock", Data: &is}
	if wrong != nil {
		v.Status, is.Wrong = wrong.Code.Status(), said(r, wrong)
	}
	return v, nil
}

// rowOf is a stock as pages show it.
func rowOf(r *desk.Request, s *gift.Stock) row {
	is := row{To: desk.Home(r.Account.ID) + "stock/" + s.OrderID.String(), Made: s.Made, Unsold: s.Unsold,
		At: s.Card.CreatedAt.In(r.Account.Zone), Worth: r.Locale.Text("console.stock.any")}
	switch {
	case s.Card.Item:
		is.Worth = r.Locale.Number(int64(s.Card.Fixed)) + " × " + s.Card.Card.Label
	case s.Card.Fixed > 0:
		is.Worth = r.Locale.Money(s.Card.Fixed, s.Card.Currency)
	}
	if at := r.Account.Location(s.Card.LocationID); at != nil {
		is.Place = at.Name
	}
	return is
}

// fieldOf are the fields of the form by the members of create-stock that they become.
var fieldOf = map[string]string{"count": "count", "value": "value", "voucherDesignID": "design",
	"organizationID": "location", "verificationCodes": "codes", "activationCodes": "numbers", "label": "label",
	"quantity": "quantity", "terms": "terms", "equivalentValue": "equivalent"}

// said is what is wrong, each with the name of its field on the page.
func said(r *desk.Request, e *refusal.Error) []string {
	texts := r.Said(e)
	for n, m := range e.Messages {
		if field := fieldOf[m.Path+string(m.Field)]; field != "" {
			texts[n] = r.Locale.Text("console.stock."+field) + ": " + texts[n]
		}
	}
	return texts
}

// create makes cards, once for each form that was shown, and leads to their page.
func (f *pages) create(r *desk.Request) (desk.View, error) {
	typed := func(name string) string { return strings.TrimSpace(r.HTTP.PostForm.Get(name)) }
	body, err := asked(r, typed)
	var made struct{ OrderID string }
	if err == nil {
		err = r.Operate(http.MethodPost, "/gifting/"+string(operation.CreateStock), typed("key"), body, &made)
	}
	if refused, is := errors.AsType[*refusal.Error](err); is {
		return f.show(r, refused)
	}
	if err != nil {
		return desk.View{}, err
	}
	return desk.View{To: desk.Home(r.Account.ID) + "stock/" + made.OrderID}, nil
}

// asked is the request of create-stock that the form means.
func asked(r *desk.Request, typed func(string) string) (map[string]any, error) {
	body := map[string]any{"verificationCodes": typed("codes") != "", "activationCodes": typed("numbers") != ""}
	var wrong *refusal.Error
	for _, field := range []string{"count", "quantity"} { // in the order of the page
		most := order.MaxStock
		if field == "quantity" {
			most = gift.MaxQuantity
		}
		n, err := strconv.Atoi(typed(field))
		switch {
		case err == nil:
			body[field] = n
		case field == "count" || typed(field) != "":
			wrong = refusal.Join(wrong, refusal.At(refusal.ValidationFailure, refusal.Field(field), "%s",
				r.Locale.Text("console.stock.wrong.count", most)))
		}
	}
	for _, member := range []string{"value", "equivalentValue"} {
		field := fieldOf[member]
		if typed(field) == "" {
			continue
		}
		c := r.Account.Currency
		value, err := r.ReadAmount(refusal.Field(member), typed(field), c,
			func(a money.Amount) string { return r.Locale.Money(a, c) })
		if refused, is := errors.AsType[*refusal.Error](err); is {
			wrong = refusal.Join(wrong, refused)
		} else if err != nil {
			return nil, err
		}
		body[member] = value
	}
	for _, member := range []string{"voucherDesignID", "organizationID", "label", "terms"} {
		if field := fieldOf[member]; typed(field) != "" {
			body[member] = typed(field)
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	return body, nil
}

// oneShown is what the page of a stock shows.
type oneShown struct {
	row

	Sold, PIN        bool // some are sold; each card has a verification code
	Number           bool // each card has an activation code
	Prints           bool // the member may take the codes along
	Gifts, All, Here string
}

// one shows a stock.
func (f *pages) one(r *desk.Request) (desk.View, error) {
	id, err := guid.Parse(r.HTTP.PathValue("order"))
	if err != nil {
		return desk.View{}, desk.ErrNoPage
	}
	s, err := f.Store.Stock(r.Context(), r.Account.ID, id)
	switch {
	case errors.Is(err, refusal.NotFound):
		return desk.View{}, desk.ErrNoPage
	case err != nil:
		return desk.View{}, service.Stored(err)
	}
	home := desk.Home(r.Account.ID)
	is := oneShown{row: rowOf(r, &s), Sold: s.Unsold < s.Made, PIN: s.Card.Verification != "", Number: s.ActivationCodes,
		Prints: r.Member.Role.May().Has(mayPrint), Gifts: home + "gifts?order=" + id.String(), All: home + "stock"}
	is.Here = is.To
	return desk.View{Template: "stock-one.html", Title: "console.stock.one", Data: is}, nil
}

// codes gives the cards of a stock that are on hand, as sheets or as a list of codes.
func codes(format string) func(*desk.Request) (desk.View, error) {
	return func(r *desk.Request) (desk.View, error) {
		id, err := guid.Parse(r.HTTP.PathValue("order"))
		if err != nil {
			return desk.View{}, desk.ErrNoPage
		}
		var file desk.Answered
		path := "/gifting/orders/" + id.String() + "/stock?format=" + format
		if err := r.Operate(http.MethodGet, path, "", nil, &file); err != nil {
			return desk.View{}, err
		}
		if err := r.TakeMemory(file.Body.Len()); err != nil {
			return desk.View{}, err
		}
		return desk.View{File: &file}, nil
	}
}
