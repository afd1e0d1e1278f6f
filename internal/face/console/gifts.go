package console

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// giftPages are the pages about gifts.
func (f *console) giftPages() []page {
	return []page{
		{pattern: "GET /gifts", nav: "console.gifts", needs: merchant.MayLookUp, do: f.gifts},
		{pattern: "POST /search", needs: merchant.MayLookUp, do: f.search},
		{pattern: "GET /gifts/{voucher}", needs: merchant.MayLookUp, do: f.gift},
	}
}

// pageOfGifts is how many gifts a page of the list has.
const pageOfGifts = 50

// filters are what the list can be narrowed to.
var filters = []gift.Status{gift.Delivered, gift.Claimed, gift.Pending, gift.FailedDelivery, gift.Redeemed,
	gift.NotActivated, gift.Cancelled}

// giftList is what the page of the list shows.
type giftList struct {
	Searched string // what was asked for; "": all gifts
	Filters  []link
	Gifts    []row
	Newest   string // the address of the first page; "": this is it
	Older    string // that of the next page; "": this is the last
	Begun    bool   // something was asked for, or it is not the first page
}

// row is a gift in a list.
type row struct {
	To, For, LastFour, Value, Left string

	State state
	Made  time.Time
}

// gifts lists gifts of the account, the newest first.
func (f *console) gifts(r *request) (view, error) {
	q := r.HTTP.URL.Query()
	filter := gift.Filter{AccountID: r.account.ID, Limit: pageOfGifts}
	shown := giftList{Searched: strings.TrimSpace(q.Get("q")), Begun: q.Get("q")+q.Get("status")+q.Get("before") != ""}
	var known bool
	if filter.Status, known = gift.ParseStatus(q.Get("status")); !known && q.Get("status") != "" {
		return view{}, errNoPage
	}
	if at := q.Get("before"); at != "" {
		before, err := guid.Parse(at)
		if err != nil {
			return view{}, errNoPage
		}
		filter.Before = before
	}
	page, err := f.find(r, filter, shown.Searched)
	if err != nil {
		return view{}, service.Stored(err)
	}
	for n := range page.Gifts {
		shown.Gifts = append(shown.Gifts, r.row(&page.Gifts[n]))
	}
	base := home(r.account.ID) + "gifts"
	all := url.Values{}
	if shown.Searched != "" {
		all.Set("q", shown.Searched)
	}
	shown.Filters = []link{{r.locale.Text("console.gifts.all"), address(base, all), filter.Status == 0}}
	for _, s := range filters {
		shown.Filters = append(shown.Filters, link{r.locale.Text("console.state." + s.String()),
			address(base, with(all, "status", s.String())), s == filter.Status})
	}
	if s := q.Get("status"); s != "" {
		all.Set("status", s)
	}
	if !filter.Before.IsZero() {
		shown.Newest = address(base, all)
	}
	if !page.Next.IsZero() {
		shown.Older = address(base, with(all, "before", page.Next.String()))
	}
	return view{template: "gifts.html", title: "console.gifts", data: shown}, nil
}

// find selects gifts by what somebody typed: an order, the last four digits, an address or a number, else words of the
// recipient's name, else the reference of a sale.
func (f *console) find(r *request, filter gift.Filter, text string) (gift.Page, error) {
	if id, err := guid.Parse(text); err == nil {
		filter.OrderID = id
		return f.Store.List(r.Context(), filter)
	}
	if len(text) == 4 && strings.Trim(text, "0123456789") == "" {
		filter.LastFour = text
		return f.Store.List(r.Context(), filter)
	}
	if text == "" {
		return f.Store.List(r.Context(), filter)
	}
	sale := filter
	sale.Reference = text
	filter.Contacts, filter.Words = service.ReadRecipient(text, r.account)
	if filter.Words != nil || filter.Contacts != nil {
		found, err := f.Store.List(r.Context(), filter)
		if err != nil || len(found.Gifts) > 0 || !found.Next.IsZero() {
			return found, err
		}
	}
	return f.Store.List(r.Context(), sale)
}

// address is one with a query.
func address(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// with is a query with one more parameter.
func with(q url.Values, name, value string) url.Values {
	more := url.Values{name: {value}}
	for n := range q {
		more[n] = q[n]
	}
	return more
}

// search leads to what somebody typed or scanned: a gift by its code, by the token of its QR code or by its id, else
// the list of what fits. Codes are sent and never stand in an address; they are limited against guessing as at a till.
func (f *console) search(r *request) (view, error) {
	text := strings.TrimSpace(r.HTTP.PostForm.Get("q"))
	base := home(r.account.ID) + "gifts"
	g, err := r.bySecret(text)
	if id, wrong := guid.Parse(text); wrong == nil { // else it is an order's
		found, missing := f.Store.Gift(r.Context(), r.account.ID, id)
		switch {
		case missing == nil:
			g = &found
		case !errors.Is(missing, refusal.NotFound):
			err = service.Stored(missing)
		}
	}
	switch {
	case err != nil:
		return view{}, err
	case g != nil:
		return view{to: base + "/" + g.ID.String()}, nil
	}
	q := url.Values{}
	if text != "" {
		q.Set("q", text)
	}
	return view{to: address(base, q)}, nil
}

// bySecret finds a gift by its code or its token; nil where the text is neither. A text that could be the code of
// another system, and is not, may be the number of a sale or a telephone.
func (r *request) bySecret(text string) (*gift.Gift, error) {
	if code, err := gift.ReadCodeOf(r.account, text); err == nil {
		g, err := r.FindByCode(code, guid.ID{})
		if _, wrong := gift.ReadVoucherCode(text); wrong != nil && errors.Is(err, refusal.NotFound) {
			return nil, nil
		}
		return &g, err
	}
	if token, err := gift.ParseToken(text); err == nil {
		g, err := r.FindByToken(token, guid.ID{})
		return &g, err
	}
	return nil, nil
}

// row is a gift as lists have it.
func (r *request) row(g *gift.Gift) row {
	return row{To: home(r.account.ID) + "gifts/" + g.ID.String(), For: r.recipient(g), LastFour: g.Card.Code.LastFour(),
		Value: r.worth(g, g.Worth()), Left: r.left(g), State: r.state(g),
		Made: g.CreatedAt.In(r.account.Zone)}
}

// recipient is for whom a gift is, as well as it is known.
func (r *request) recipient(g *gift.Gift) string {
	switch {
	case g.Card.Recipient != "":
		return g.Card.Recipient
	case g.Card.Contact != "":
		return g.Card.Contact
	case g.Status == gift.NotActivated:
		return r.locale.Text("console.gift.card")
	}
	return r.locale.Text("console.gift.unnamed")
}

// left is what can still be used of a gift: nothing of one that was cancelled or not paid for, whose balance stays as a
// record.
func (r *request) left(g *gift.Gift) string {
	if !g.Status.Receivable() {
		return r.worth(g, 0)
	}
	return r.worth(g, g.Balance)
}

// worth is an amount of a gift as people write it.
func (r *request) worth(g *gift.Gift, a amount) string {
	if g.Item {
		return r.locale.Number(int64(a)) + " × " + g.Card.Label
	}
	return r.locale.Money(a, g.Currency)
}
