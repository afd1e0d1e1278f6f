package gifts

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// giftPages are the pages about gifts.
func (f *pages) giftPages() []desk.Page {
	return []desk.Page{
		{Pattern: "GET /gifts", Nav: "console.gifts", Key: "g", Needs: merchant.MayLookUp, Do: f.gifts},
		{Pattern: "POST /search", Needs: merchant.MayLookUp, Do: f.search},
		{Pattern: "GET /gifts/{voucher}", Needs: merchant.MayLookUp, Do: f.gift},
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
	Order    string // whose gifts are shown; "": those of all orders
	Search   string // the address that what was asked for is sent to
	Filters  []desk.Link
	Gifts    []Row
	Newest   string // the address of the first page; "": this is it
	Older    string // that of the next page; "": this is the last
	Before   string // in place of it, where the page after a search begins; "": there is none
	All      string // the address of all gifts, where something was asked for
	Begun    bool   // something was asked for, or it is not the first page
}

// Row is a gift in a list.
type Row struct {
	To, For, LastFour, Value, Left string

	State state
	Made  time.Time
}

// gifts lists gifts of the account, the newest first.
func (f *pages) gifts(r *desk.Request) (desk.View, error) {
	q := r.HTTP.URL.Query()
	filter := gift.Filter{AccountID: r.Account.ID, Limit: pageOfGifts}
	shown := giftList{Begun: q.Get("status")+q.Get("before")+q.Get("order") != ""}
	var known bool
	if filter.Status, known = gift.ParseStatus(q.Get("status")); !known && q.Get("status") != "" {
		return desk.View{}, desk.ErrNoPage
	}
	var err error
	if filter.Before, err = idOrNone(q.Get("before")); err != nil {
		return desk.View{}, err
	}
	if filter.OrderID, err = idOrNone(q.Get("order")); err != nil {
		return desk.View{}, err
	}
	page, err := f.Store.List(r.Context(), filter)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	shown.add(r, &page)
	base := desk.Home(r.Account.ID) + "gifts"
	all := url.Values{}
	if !filter.OrderID.IsZero() {
		all.Set("order", filter.OrderID.String())
		shown.Order, shown.All = filter.OrderID.String(), base
	}
	shown.Filters = []desk.Link{{Text: r.Locale.Text("console.gifts.all"), To: desk.Address(base, all),
		Here: filter.Status == 0}}
	for _, s := range filters {
		shown.Filters = append(shown.Filters, desk.Link{Text: r.Locale.Text("console.state." + s.String()),
			To: desk.Address(base, desk.With(all, "status", s.String())), Here: s == filter.Status})
	}
	if s := q.Get("status"); s != "" {
		all.Set("status", s)
	}
	if !filter.Before.IsZero() {
		shown.Newest = desk.Address(base, all)
	}
	if !page.Next.IsZero() {
		shown.Older = desk.Address(base, desk.With(all, "before", page.Next.String()))
	}
	return desk.View{Template: "gifts.html", Title: "console.gifts", Action: ToSend(r), Data: shown}, nil
}

// ToSend leads to the form by which a gift is sent; nil: the member may not.
func ToSend(r *desk.Request) *desk.Link {
	if !r.Member.Role.May().Has(merchant.MaySend) {
		return nil
	}
	return &desk.Link{Text: r.Locale.Text("console.send"), To: desk.Home(r.Account.ID) + "send"}
}

// idOrNone reads an id of an address; "": there is none.
func idOrNone(text string) (at guid.ID, err error) {
	if text == "" {
		return at, nil
	}
	if at, err = guid.Parse(text); err != nil {
		return at, desk.ErrNoPage
	}
	return at, nil
}

func (l *giftList) add(r *desk.Request, page *gift.Page) {
	for n := range page.Gifts {
		l.Gifts = append(l.Gifts, RowOf(r, &page.Gifts[n]))
	}
}

// find selects gifts by what somebody typed: an order; else the last four digits; else an address or a number, or words
// of the recipient's name. Else, and beside all digits, the reference of a sale or the id of a customer.
func (f *pages) find(r *desk.Request, filter gift.Filter, text string) (gift.Page, error) {
	if id, err := guid.Parse(text); err == nil {
		filter.OrderID = id
		return f.Store.List(r.Context(), filter)
	}
	if text == "" {
		return f.Store.List(r.Context(), filter)
	}
	exact := exactly(filter, text)
	digits := strings.Trim(text, "0123456789") == ""
	if digits && len(text) == 4 {
		filter.LastFour = text
		return f.either(r, append(exact, filter)...)
	}
	filter.Contacts, filter.Words = service.ReadRecipient(text, r.Account)
	switch {
	case filter.Words == nil && filter.Contacts == nil:
		return f.either(r, exact...)
	case digits:
		return f.either(r, append(exact, filter)...)
	}
	found, err := f.Store.List(r.Context(), filter)
	if err != nil || len(found.Gifts) > 0 || !found.Next.IsZero() {
		return found, err
	}
	return f.either(r, exact...)
}

// exactly are the filters by a text that is the reference of a sale or the id of a customer, letter by letter.
func exactly(filter gift.Filter, text string) []gift.Filter {
	sale, customer := filter, filter
	sale.Reference, customer.CustomerID = text, text
	return []gift.Filter{sale, customer}
}

// either gives a page of the gifts that one of some filters selects, the newest first. Where the page of a filter ends,
// this one does: what another filter selects beyond is on the next page.
func (f *pages) either(r *desk.Request, filters ...gift.Filter) (page gift.Page, _ error) {
	for _, filter := range filters {
		found, err := f.Store.List(r.Context(), filter)
		if err != nil {
			return page, err
		}
		page.Gifts, page.Read = append(page.Gifts, found.Gifts...), page.Read+found.Read
		if bytes.Compare(found.Next[:], page.Next[:]) > 0 {
			page.Next = found.Next
		}
	}
	slices.SortFunc(page.Gifts, func(a, b gift.Gift) int { return bytes.Compare(b.ID[:], a.ID[:]) })
	page.Gifts = slices.CompactFunc(page.Gifts, func(a, b gift.Gift) bool { return a.ID == b.ID })
	page.Gifts = slices.DeleteFunc(page.Gifts, func(g gift.Gift) bool { return bytes.Compare(g.ID[:], page.Next[:]) < 0 })
	return page, nil
}

// search leads to what somebody typed or scanned: a gift by its code, by the token of its QR code or by its id. Else it
// lists what fits. What was typed never stands in an address, which browsers and proxies keep: it may be a code with a
// slip in it. Codes are limited against guessing as at a till.
func (f *pages) search(r *desk.Request) (desk.View, error) {
	text := strings.TrimSpace(r.HTTP.PostForm.Get("q"))
	filter := gift.Filter{AccountID: r.Account.ID, Limit: pageOfGifts}
	var err error
	if filter.Before, err = idOrNone(r.HTTP.PostForm.Get("before")); err != nil {
		return desk.View{}, err
	}
	page, err := f.byNumber(r, filter, text)
	if err != nil {
		return desk.View{}, err
	}
	if len(page.Gifts) == 0 {
		g, err := f.one(r, text)
		if err != nil {
			return desk.View{}, err
		}
		if g != nil {
			return desk.View{To: desk.Home(r.Account.ID) + "gifts/" + g.ID.String()}, nil
		}
		if page, err = f.find(r, filter, text); err != nil {
			return desk.View{}, service.Stored(err)
		}
	}
	below := desk.Home(r.Account.ID)
	shown := giftList{Searched: text, Search: below + "search", Begun: true, All: below + "gifts"}
	shown.add(r, &page)
	if !page.Next.IsZero() {
		shown.Before = page.Next.String()
	}
	return desk.View{Template: "gifts.html", Title: "console.gifts", Data: shown}, nil
}

// byNumber finds the gifts of a sale or of a customer by a number that could be a code, before it counts as a guess
// of one. That tells nobody of codes: whoever may search sees the numbers of all sales and customers of the account.
func (f *pages) byNumber(r *desk.Request, filter gift.Filter, text string) (page gift.Page, _ error) {
	if _, err := codes.ReadOf(r.Account, text); err != nil {
		return page, nil
	}
	page, err := f.either(r, exactly(filter, text)...)
	return page, service.Stored(err)
}

// one finds the one gift that a text names: by its id, its code or its token; nil where it names none.
func (f *pages) one(r *desk.Request, text string) (*gift.Gift, error) {
	id, err := guid.Parse(text)
	if err != nil {
		return bySecret(r, text)
	}
	found, err := f.Store.Gift(r.Context(), r.Account.ID, id)
	switch {
	case errors.Is(err, refusal.NotFound): // it may be an order's
		return nil, nil
	case err != nil:
		return nil, service.Stored(err)
	}
	return &found, nil
}

// bySecret finds a gift by its code or its token; nil where the text is neither. A text that could be the code of
// another system, and is not, may be the number of a sale or a telephone.
func bySecret(r *desk.Request, text string) (*gift.Gift, error) {
	if code, err := codes.ReadOf(r.Account, text); err == nil {
		g, err := r.FindByCode(code, guid.ID{})
		if _, wrong := codes.ReadVoucherCode(text); wrong != nil && errors.Is(err, refusal.NotFound) {
			return nil, nil
		}
		return &g, err
	}
	if token, err := codes.ParseToken(strings.TrimSuffix(text, "/print.pdf")); err == nil {
		g, err := r.FindByToken(token, guid.ID{})
		return &g, err
	}
	return nil, nil
}

// RowOf is a gift as lists have it.
func RowOf(r *desk.Request, g *gift.Gift) Row {
	return Row{To: desk.Home(r.Account.ID) + "gifts/" + g.ID.String(), For: recipient(r, g),
		LastFour: g.Card.Code.LastFour(), Value: worth(r, g, g.Worth()), Left: left(r, g), State: stateOf(r, g),
		Made: g.CreatedAt.In(r.Account.Zone)}
}

// recipient is for whom a gift is, as well as it is known.
func recipient(r *desk.Request, g *gift.Gift) string {
	switch {
	case g.Card.Recipient != "":
		return g.Card.Recipient
	case g.Card.Contact != "":
		return g.Card.Contact
	case g.Status == gift.NotActivated:
		return r.Locale.Text("console.gift.card")
	}
	return r.Locale.Text("console.gift.unnamed")
}

// left is what can still be used of a gift: nothing of one that was cancelled or not paid for, whose balance stays as a
// record.
func left(r *desk.Request, g *gift.Gift) string {
	if !g.Status.Receivable() {
		return worth(r, g, 0)
	}
	return worth(r, g, g.Balance)
}

// worth is an amount of a gift as people write it.
func worth(r *desk.Request, g *gift.Gift, a amount) string {
	if g.Item {
		return r.Locale.Number(int64(a)) + " × " + g.Card.Label
	}
	return r.Locale.Money(a, g.Currency)
}
