// Package today is the first page of the console: how the account does, and what is to be mended.
package today

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/books"
	"boon.example/internal/calendar"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/face/console/figures"
	"boon.example/internal/face/console/gifts"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

const (
	plottedDays  = 90
	plottedMoney = 4                // currencies with a plot, so that a page stays small
	newestGifts  = 8                // in the list
	mostCounted  = 100              // gifts of a state
	booksWithin  = 2 * time.Second  // until a place to read the books in is free
	mostRead     = 20_000           // entries of today that are read one by one, so that the page is there at once
	thisInstant  = time.Millisecond // is over soon: what was answered before the page is in it
	todayPath    = "today"          // below the account
	failedGifts  = "gifts?status=FAILED_DELIVERY"
	waitingGifts = "gifts?status=PENDING"
	online       = "online" // in the place of a location: what was sold or redeemed at none
)

// Store is what the page needs of a database.
type Store interface {
	// List gives a page of gifts, the newest first.
	List(context.Context, gift.Filter) (gift.Page, error)
	// Members are the staff of an account.
	Members(ctx context.Context, account guid.ID) ([]staff.Member, error)
	// EachMoved tells of what moved in the books of an account, sum by sum. Where too much is not closed yet, the error
	// is a books.Behind.
	EachMoved(ctx context.Context, a *books.Asked, tell func(day int, k books.Key, s books.Sum) error) error
}

//go:embed templates
var templates embed.FS

// pages are the pages of this part.
type pages struct {
	Store

	reading *fair.Places // in which the books are read
}

// Part is the first pages.
func Part(store Store, reading *fair.Places) desk.Part {
	f := &pages{store, reading}
	return desk.Part{Templates: templates, Pages: []desk.Page{
		{Pattern: "GET /{$}", Do: toFirstPage},
		{Pattern: "GET /till", Nav: "console.till", Needs: merchant.MayRedeem, Do: toTheTill},
		{Pattern: "GET /" + todayPath, Nav: "console.today", Key: "t", Needs: merchant.MayLookUp, Do: f.today},
	}}
}

// toTheTill leads to the till of this device. Who may redeem does so there, at the location of the till.
func toTheTill(*desk.Request) (desk.View, error) { return desk.View{To: "/till"}, nil }

// toFirstPage leads to the page that somebody sees after signing in.
func toFirstPage(r *desk.Request) (desk.View, error) {
	first := "you"
	if r.Member.Role.May().Has(merchant.MayLookUp) {
		first = todayPath
	}
	return desk.View{To: desk.Home(r.Account.ID) + first}, nil
}

// today is what the page of the day shows.
type today struct {
	Day             time.Time
	Failed, Waiting counted
	FailedAt        string // the address of the gifts that did not arrive
	WaitingAt       string
	Books           []blockOf
	Note            string  // why there are no figures; "": there are, or the member may not see them
	Reports         bool    // the member may see reports
	Here            string  // the address of the page
	Places          []place // to choose from; none: the account has one at most, or there are no figures
	At              string  // the name of the location that is chosen; "": all
	Newest          []gifts.Row
	Steps           []step // what a new shop does next
	Stocked         bool   // none of the newest gifts is more than a card of a stock
	All             string // the address of all gifts
}

// counted is how many gifts have a state.
type counted struct {
	Any   bool
	Text  string
	Among string // which gifts were counted; "": all
}

// blockOf is what is shown of one currency.
type blockOf struct {
	Currency                    string
	Sold, Redeemed, Outstanding string
	Gifts, Times                string        // how many were sold; how often one was redeemed
	SoldBefore, RedeemedBefore  string        // yesterday
	Plot                        *figures.Plot // nil: only the table
	Days                        []dayOfFigures
	Places                      []placeOfFigures // where it is not about one alone
}

// place is a location to choose, or all of them.
type place struct {
	Value, Text string
	Is          bool
}

// placeOfFigures is what was sold and redeemed at a location.
type placeOfFigures struct {
	Name, To                                 string
	Sold, Redeemed, SoldInAll, RedeemedInAll string
}

// dayOfFigures is a row of the table below a plot.
type dayOfFigures struct {
	Day            time.Time
	Sold, Redeemed string
}

// today shows how the account does: what was sold and redeemed, what is owed, and what is to be mended.
func (f *pages) today(r *desk.Request) (desk.View, error) {
	below := desk.Home(r.Account.ID)
	shown := today{Day: r.Now.In(r.Account.Zone), Reports: r.Member.Role.May().Has(merchant.MayReport),
		FailedAt: below + failedGifts, WaitingAt: below + waitingGifts, All: below + "gifts", Here: below + todayPath}
	at, err := placeAsked(r)
	if err != nil {
		return desk.View{}, err
	}
	// Cards of a stock that are not sold yet are no news: a new stock of some hundred would be all that is seen.
	newest, err := f.Store.List(r.Context(), gift.Filter{AccountID: r.Account.ID, Except: gift.NotActivated,
		Limit: newestGifts})
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	for n := range newest.Gifts {
		shown.Newest = append(shown.Newest, gifts.RowOf(r, &newest.Gifts[n]))
	}
	shown.Stocked = newest.Read > 0
	if shown.Steps, err = f.steps(r, len(newest.Gifts)); err != nil {
		return desk.View{}, err
	}
	if shown.Failed, err = f.count(r, gift.FailedDelivery); err != nil {
		return desk.View{}, err
	}
	if shown.Waiting, err = f.count(r, gift.Pending); err != nil {
		return desk.View{}, err
	}
	if shown.Reports {
		if shown.Books, shown.Note, err = f.figures(r, at); err != nil {
			return desk.View{}, err
		}
		shown.Places, shown.At = places(r, at)
	}
	return desk.View{Template: "today.html", Title: "console.today", Action: gifts.ToSend(r), Data: shown}, nil
}

// placeAsked is the location that the page is asked about: nil for all of them, the zero id for what happens online.
func placeAsked(r *desk.Request) (*guid.ID, error) {
	text := r.HTTP.URL.Query().Get("at")
	if text == "" {
		return nil, nil
	}
	if text == online {
		return &guid.ID{}, nil
	}
	id, err := guid.Parse(text)
	if err != nil || r.Account.Location(id) == nil {
		return nil, desk.ErrNoPage
	}
	return &id, nil
}

// places are the locations to choose from, and the name of the one that is chosen.
func places(r *desk.Request, at *guid.ID) (all []place, chosen string) {
	all = []place{{Text: r.Locale.Text("console.today.everywhere"), Is: at == nil}}
	for n := range r.Account.Locations {
		l := &r.Account.Locations[n]
		all = append(all, place{l.ID.String(), l.Name, at != nil && *at == l.ID})
	}
	all = append(all, place{online, r.Locale.Text("console.report.online"), at != nil && at.IsZero()})
	for _, p := range all[1:] {
		if p.Is {
			chosen = p.Text
		}
	}
	if len(r.Account.Locations) == 0 {
		return nil, chosen
	}
	return all, chosen
}

// count counts the gifts of a state among the newest, up to mostCounted.
func (f *pages) count(r *desk.Request, s gift.Status) (c counted, _ error) {
	page, err := f.Store.List(r.Context(), gift.Filter{AccountID: r.Account.ID, Status: s, Limit: mostCounted})
	if err != nil {
		return c, service.Stored(err)
	}
	n := len(page.Gifts)
	c.Any, c.Text = n > 0, r.Locale.Number(int64(n))
	switch {
	case page.Next.IsZero():
	case n == mostCounted:
		c.Text += "+"
	default:
		c.Among = r.Locale.Text("console.today.among", r.Locale.Number(int64(page.Read)))
	}
	return c, nil
}

// figures reads what moved in the books, at one location or at all: the days before the plot as one, then each day of
// the plot, of which only the last is read entry by entry. Where that cannot be done now, note says why.
func (f *pages) figures(r *desk.Request, at *guid.ID) (all []blockOf, note string, _ error) {
	waits, stop := context.WithTimeout(r.Context(), booksWithin)
	defer stop()
	done, err := f.reading.Take(waits, r.Account.ID, r.Member.ID)
	switch {
	case r.Context().Err() != nil:
		return nil, "", err
	case err != nil:
		return nil, r.Locale.Text("console.today.busy"), nil
	}
	defer done()
	days := lastDays(r, plottedDays)
	until := r.Now.Truncate(thisInstant).Add(thisInstant)
	from := calendar.FromWall(days[0], r.Account.Zone).UTC()
	read := booksRead{r: r, at: at, days: map[int]int{}, all: map[money.Currency]*moved{}}
	for n, d := range days {
		read.days[d.Year()*10_000+int(d.Month())*100+d.Day()] = n
	}
	for _, asked := range []books.Asked{
		{Account: r.Account, Until: from, Cubes: []books.Cube{books.Stock}},
		{Account: r.Account, From: from, Until: until, Cubes: []books.Cube{books.Stock, books.Places}, ByDay: true,
			Most: mostRead},
	} {
		err := f.Store.EachMoved(r.Context(), &asked, read.tell)
		if _, behind := errors.AsType[*books.Behind](err); behind {
			return nil, r.Locale.Text("console.today.behind"), nil
		}
		if err != nil {
			return nil, "", service.Stored(err)
		}
	}
	return read.figures(days), "", nil
}

// lastDays are the last days of the account, today at the end, by their dates.
func lastDays(r *desk.Request, n int) []time.Time {
	y, m, d := r.Now.In(r.Account.Zone).Date()
	days := make([]time.Time, n)
	for i := range days {
		days[i] = time.Date(y, m, d-n+1+i, 0, 0, 0, 0, time.UTC)
	}
	return days
}

// booksRead adds up what moved.
type booksRead struct {
	r    *desk.Request
	at   *guid.ID    // the location that counts; nil: all
	days map[int]int // by the number of a day, which of the plot it is
	all  map[money.Currency]*moved
}

// moved is what moved in a currency.
type moved struct {
	owed, sold, redeemed [plottedDays]money.Amount
	before               money.Amount // owed when the plot begins
	gifts, times         int64        // sold, and redemptions, today
	places               map[guid.ID]*movedAt
}

// movedAt is what moved at a location: today, and in all days of the plot.
type movedAt struct{ sold, redeemed, soldInAll, redeemedInAll money.Amount }

// tell adds a sum. What was given away is never sold, and not owed to anybody: it is left out. What is owed counts
// where it was sold.
func (b *booksRead) tell(day int, k books.Key, s books.Sum) error {
	if k.Promotional || k.Currency.Code == "" {
		return nil
	}
	of := b.all[k.Currency]
	if of == nil {
		of = &moved{places: map[guid.ID]*movedAt{}}
		b.all[k.Currency] = of
	}
	place := k.Place
	if k.Cube == books.Stock {
		place = k.Sold
	}
	if b.at != nil && place != *b.at {
		return nil
	}
	n, plotted := b.days[day]
	switch {
	case k.Cube == books.Stock && !books.State(k.Line).Owed():
	case k.Cube == books.Stock && !plotted:
		of.before += s.Money
	case k.Cube == books.Stock:
		of.owed[n] += s.Money
	case plotted:
		of.add(n, place, books.Line(k.Line), s)
	}
	return nil
}

// add adds what moved on a line at a place in a day of the plot.
func (m *moved) add(n int, place guid.ID, line books.Line, s books.Sum) {
	at, now := m.places[place], n == plottedDays-1
	if at == nil {
		at = &movedAt{}
		m.places[place] = at
	}
	switch line {
	case books.LineIssued, books.LineActivated, books.LineReloaded:
		m.sold[n] += s.Money
		if at.soldInAll += s.Money; now {
			at.sold += s.Money
			m.gifts += s.Count
		}
	case books.LineRedeemed:
		m.redeemed[n] -= s.Money
		if at.redeemedInAll -= s.Money; now {
			at.redeemed -= s.Money
			m.times += s.Count
		}
	}
}

// figures are the sums as people read them, by currency.
func (b *booksRead) figures(days []time.Time) (all []blockOf) {
	in := b.r.Locale
	for _, c := range slices.SortedFunc(maps.Keys(b.all),
		func(a, b money.Currency) int { return strings.Compare(a.Code, b.Code) }) {
		m, last := b.all[c], plottedDays-1
		owed := m.before
		sums := make([]figures.Day, len(days))
		one := blockOf{Currency: c.Code}
		for n, day := range days {
			owed += m.owed[n]
			sums[n] = figures.Day{Date: day, Sold: m.sold[n], Redeemed: m.redeemed[n]}
			if m.sold[n] != 0 || m.redeemed[n] != 0 {
				one.Days = append(one.Days, dayOfFigures{day, in.Money(m.sold[n], c), in.Money(m.redeemed[n], c)})
			}
		}
		slices.Reverse(one.Days)
		one.Sold, one.Redeemed = in.Money(m.sold[last], c), in.Money(m.redeemed[last], c)
		one.SoldBefore, one.RedeemedBefore = in.Money(m.sold[last-1], c), in.Money(m.redeemed[last-1], c)
		one.Gifts, one.Times, one.Outstanding = in.Number(m.gifts), in.Number(m.times), in.Money(owed, c)
		if len(all) < plottedMoney && len(one.Days) > 0 {
			one.Plot = figures.Draw(sums, c, in)
		}
		if b.at == nil {
			one.Places = b.places(m, c)
		}
		all = append(all, one)
	}
	return all
}

// places are the locations at which something moved, in the order of the set-up, and then what happened online.
func (b *booksRead) places(m *moved, c money.Currency) (all []placeOfFigures) {
	in := b.r.Locale
	tell := func(id guid.ID, name, value string) {
		at := m.places[id]
		delete(m.places, id)
		if at == nil || *at == (movedAt{}) {
			return
		}
		p := placeOfFigures{Name: name, Sold: in.Money(at.sold, c), Redeemed: in.Money(at.redeemed, c),
			SoldInAll: in.Money(at.soldInAll, c), RedeemedInAll: in.Money(at.redeemedInAll, c)}
		if value != "" {
			p.To = desk.Address(desk.Home(b.r.Account.ID)+todayPath, url.Values{"at": {value}})
		}
		all = append(all, p)
	}
	for n := range b.r.Account.Locations {
		l := &b.r.Account.Locations[n]
		tell(l.ID, l.Name, l.ID.String())
	}
	tell(guid.ID{}, in.Text("console.report.online"), online)
	gone := slices.SortedFunc(maps.Keys(m.places), func(a, b guid.ID) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range gone {
		tell(id, id.String(), "") // of a location that the set-up has no more
	}
	return all
}
