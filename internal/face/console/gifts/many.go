package gifts

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/sendlist"
	"boon.example/internal/service"
)

// ListStore is what the pages about lists need of a database.
type ListStore interface {
	// KeepSendList keeps a list with its content, if there is none of its id; refusal.RateLimited: too many are not over.
	KeepSendList(ctx context.Context, l *sendlist.List, c *sendlist.Content) error
	// SendList finds a list of an account; refusal.NotFound where there is none.
	SendList(ctx context.Context, account, id guid.ID) (sendlist.List, error)
	// SendLists are the lists of an account, the newest first.
	SendLists(ctx context.Context, account guid.ID) ([]sendlist.List, error)
	// ChangeSendList changes a list, alone among all changes of it; where there is something to do for it, it is due from
	// an instant on.
	ChangeSendList(ctx context.Context, account, id guid.ID, from time.Time, change func(*sendlist.List) error) error
	// DeleteSendList throws a list away that nobody confirmed.
	DeleteSendList(ctx context.Context, account, id guid.ID) error
}

// manyPages are the pages that send gifts to the people of a file.
func (f *pages) manyPages() []desk.Page {
	return []desk.Page{
		{Pattern: "GET /many", Nav: "console.many", Needs: merchant.MaySend, Do: func(r *desk.Request) (desk.View, error) {
			return f.showMany(r, nil, 0)
		}},
		{Pattern: "POST /many", Needs: merchant.MaySend, Do: f.upload,
			Files: func(*http.Request) bool { return true }},
		{Pattern: "GET /many/template.csv", Needs: merchant.MaySend, Do: template},
		{Pattern: "GET /many/{list}", Needs: merchant.MaySend, Do: f.list},
		{Pattern: "POST /many/{list}/confirm", Needs: merchant.MaySend, Do: f.changeList((*sendlist.List).Confirm)},
		{Pattern: "POST /many/{list}/again", Needs: merchant.MaySend, Do: f.changeList((*sendlist.List).Again)},
		{Pattern: "POST /many/{list}/leave", Needs: merchant.MaySend, Do: f.changeList((*sendlist.List).Leave)},
		{Pattern: "POST /many/{list}/discard", Needs: merchant.MaySend, Do: f.discard},
	}
}

// template is a file to begin with.
func template(*desk.Request) (desk.View, error) {
	file := &desk.Answered{}
	file.Header().Set("Content-Type", "text/csv; charset=utf-8")
	file.Header().Set("Content-Disposition", `attachment; filename="gifts.csv"`)
	file.Body.WriteString(sendlist.Template)
	return desk.View{File: file}, nil
}

// manyShown is what the form shows.
type manyShown struct {
	sendShown
	Lists []listRow
	Most  int // lines of a file
}

// listRow is a list among others.
type listRow struct {
	To, File, State string
	Gifts           int
	Made            time.Time
	By              string
}

// showMany shows the form, and the lists of the last days.
func (f *pages) showMany(r *desk.Request, wrong []string, status int) (desk.View, error) {
	lists, err := f.Store.SendLists(r.Context(), r.Account.ID)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	shown := manyShown{sendShown: f.formOfSend(r), Most: sendlist.MaxRows}
	shown.Wrong = wrong
	for n := range lists {
		l := &lists[n]
		shown.Lists = append(shown.Lists, listRow{To: listAddress(r, l.ID), File: l.File, Gifts: l.Rows, By: l.Member,
			State: r.Locale.Text("console.many.state." + string(l.State())), Made: l.MadeAt.In(r.Account.Zone)})
	}
	return desk.View{Template: "many.html", Title: "console.many", Status: status, Data: &shown}, nil
}

func listAddress(r *desk.Request, id guid.ID) string {
	return desk.Home(r.Account.ID) + "many/" + id.String()
}

// upload reads a file, and keeps what is to be sent until it is confirmed. What is wrong with the form or the whole
// file is told above the form; what is wrong with a line, on the page of the list.
func (f *pages) upload(r *desk.Request) (desk.View, error) {
	typed := func(name string) string { return strings.TrimSpace(r.HTTP.PostForm.Get(name)) }
	l, content, err := readUpload(r, typed)
	if err == nil {
		err = f.tryOne(r, content, l)
	}
	if open := desk.Undecided(err); open != nil {
		err = open // nothing was to be done, so there is nothing to ask again
	}
	if err == nil {
		err = f.Store.KeepSendList(r.Context(), l, content)
	}
	if errors.Is(err, refusal.RateLimited) {
		err = refusal.New(refusal.RateLimited, "%s", r.Locale.Text("console.many.wrong.waiting", sendlist.MaxWaiting))
	}
	if refused, is := errors.AsType[*refusal.Error](err); is {
		return f.showMany(r, wrongInSend(r, refused), refused.Code.Status())
	}
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	return desk.View{To: listAddress(r, l.ID)}, nil
}

// readUpload reads the form with its file.
func readUpload(r *desk.Request, typed func(string) string) (*sendlist.List, *sendlist.Content, error) {
	file, name, err := r.NamedFile("file")
	if err != nil {
		return nil, nil, err
	}
	say := func(name string, args ...any) string { return r.Locale.Text("console.many.wrong."+name, args...) }
	if file == nil {
		return nil, nil, refusal.New(refusal.ValidationFailure, "%s", say("no-file"))
	}
	g := howItGoes(typed("to"))
	anonymous := g != nil // no contact of the file is used
	if !anonymous {
		g = map[string]any{}
	}
	addTexts(g, typed, map[string]string{"senderDescription": "sender"})
	order, err := orderAround(r, typed, g)
	if err != nil {
		return nil, nil, err
	}
	l := &sendlist.List{AccountID: r.Account.ID, MemberID: r.Member.ID, Member: r.Member.Name, Address: r.Address(),
		File: sendlist.Short(name), MadeAt: r.Real}
	asked := sendlist.Asked{Printed: anonymous, Message: typed("message"), Say: say, Words: r.Words,
		Amount: func(text string) (money.Number, money.Amount, error) {
			return readAmountOf(r, text)
		}}
	if typed("value") != "" {
		value, err := readValue(r, typed("value"))
		if err != nil {
			return nil, nil, err
		}
		asked.Value = money.Number(value)
		if asked.Worth, err = r.Account.Currency.ParseSigned(asked.Value); err != nil {
			return nil, nil, err
		}
	}
	content, err := l.Read(bytes.NewReader(file), asked)
	if err != nil {
		return nil, nil, refusal.New(refusal.ValidationFailure, "%s", err)
	}
	if content.Order, err = json.Marshal(order); err != nil {
		return nil, nil, err
	}
	l.ID = idOf(r.Account.ID, typed("key"), content.Order, []byte(typed("value")), []byte(typed("message")), file)
	return l, content, nil
}

// readAmountOf reads an amount of a file. The error is a sentence.
func readAmountOf(r *desk.Request, text string) (money.Number, money.Amount, error) {
	c := r.Account.Currency
	value, err := r.ReadAmountOfFile("value", text, c, func(a money.Amount) string { return r.Locale.Money(a, c) })
	if err == nil {
		var amount money.Amount
		if amount, err = c.ParseSigned(money.Number(value)); err == nil {
			return money.Number(value), amount, nil
		}
	}
	if refused, is := errors.AsType[*refusal.Error](err); is {
		err = errors.New(strings.Join(r.Said(refused), " "))
	}
	return "", 0, err
}

// idOf is the id of the list that a form makes: a form that is sent twice makes one list, and with another file it
// makes another list. It is a UUIDv8 (RFC 9562).
func idOf(account guid.ID, key string, parts ...[]byte) (id guid.ID) {
	all := sha256.New()
	for _, part := range append([][]byte{account[:], []byte(key)}, parts...) {
		sum := sha256.Sum256(part)
		all.Write(sum[:])
	}
	copy(id[:], all.Sum(nil))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}

// tryOne has the engine look at an order of one gift, so that what is wrong with the form itself is told at once.
func (f *pages) tryOne(r *desk.Request, c *sendlist.Content, l *sendlist.List) error {
	if len(l.Orders) == 0 {
		return nil
	}
	one := l.Orders[0]
	one.From += max(0, slices.IndexFunc(c.Rows[one.From:one.To], func(row sendlist.Row) bool { return row.Told == nil }))
	one.To = one.From + 1
	body, err := orderOfList(c, &one)
	if err != nil {
		return err
	}
	err = r.Operate(http.MethodPost, gifting+string(operation.SendGift)+"?dryRun=true", "", body, nil)
	refused, is := errors.AsType[*refusal.Error](err)
	if !is {
		return err
	}
	told := &refusal.Error{Code: refused.Code}
	for _, m := range refused.Messages {
		if lines, _ := c.Places(&one, m.Path); lines == nil {
			told.Messages = append(told.Messages, m)
		}
	}
	if told.Messages == nil {
		return nil // it is about the gift, and will be told with its line
	}
	return told
}

// orderOfList is the request of send-gift for an order of a list.
func orderOfList(c *sendlist.Content, o *sendlist.Order) (map[string]any, error) {
	var order map[string]any
	if err := json.Unmarshal(c.Order, &order); err != nil {
		return nil, err
	}
	g, _ := order["monetaryGift"].(map[string]any)
	g["value"] = json.Number(o.Value)
	recipients := make([]map[string]any, 0, o.Rows())
	for _, row := range c.Rows[o.From:o.To] {
		to := map[string]any{}
		if slices.Contains(row.Told, sendlist.Contact) {
			to["deliveryMethodID"] = int(contact.Email) // to nobody: what is wrong with the contact was told
		} else if row.Contact != "" {
			to = deliverTo(row.Contact)
		}
		if row.Name != "" {
			to["recipientDescription"] = row.Name
		}
		if row.Message != "" {
			to["message"] = row.Message
		}
		recipients = append(recipients, to)
	}
	order["recipients"] = recipients
	return order, nil
}

// listShown is what the page of a list shows.
type listShown struct {
	File, By, Sum    string
	State            sendlist.State
	Made, Confirmed  time.Time
	Gifts, Past      int
	Sent, Wrong      int
	More             int // problems that are not shown
	Problems         []sendlist.Problem
	Unused           string
	Twice            int
	Waits            string
	Values           []valueShown
	Orders           []orderShown
	All, Here, Again string // addresses
}

// valueShown is how many gifts of a list have a value.
type valueShown struct {
	Value string
	Gifts int
}

// orderShown is what became of an order.
type orderShown struct {
	Gifts, Failed, Print string // addresses; "": there is none
	Value                string
	Count                int
	Refused              []string
}

// list shows how far a list has come.
func (f *pages) list(r *desk.Request) (desk.View, error) {
	l, err := f.namedList(r)
	if err != nil {
		return desk.View{}, err
	}
	slices.SortStableFunc(l.Problems, func(a, b sendlist.Problem) int { return cmp.Compare(a.Line, b.Line) })
	money := func(a money.Amount) string { return r.Locale.Money(a, r.Account.Currency) }
	shown := listShown{File: l.File, By: l.Member, Sum: money(l.Sum), State: l.State(),
		Made: l.MadeAt.In(r.Account.Zone), Confirmed: l.ConfirmedAt.In(r.Account.Zone), Gifts: l.Size(), Past: l.Past(),
		Sent: l.Sent(), Wrong: l.Wrong, More: l.Wrong - len(l.Problems), Problems: l.Problems,
		Unused: strings.Join(l.Unused, ", "), Twice: l.Twice, Waits: l.Waits,
		All: desk.Home(r.Account.ID) + "many", Here: listAddress(r, l.ID)}
	for n := range l.Orders {
		o := &l.Orders[n]
		amount, err := r.Account.Currency.ParseSigned(o.Value)
		if err != nil {
			return desk.View{}, err
		}
		if last := len(shown.Values) - 1; last < 0 || shown.Values[last].Value != money(amount) {
			shown.Values = append(shown.Values, valueShown{Value: money(amount)})
		}
		shown.Values[len(shown.Values)-1].Gifts += o.Rows()
		shown.Orders = append(shown.Orders, shownOrder(r, &l, o, money(amount)))
	}
	return desk.View{Template: "list.html", Title: "console.many.list", Heading: l.File, Data: &shown}, nil
}

// shownOrder is an order as the page has it. Only whoever confirmed the list is led to its printed cards: the codes
// stand on them.
func shownOrder(r *desk.Request, l *sendlist.List, o *sendlist.Order, value string) orderShown {
	shown := orderShown{Value: value, Count: o.Rows(), Refused: o.Refused}
	if l.MemberID == r.Member.ID {
		shown.Print = o.Sheet
	}
	if o.OrderID != "" {
		shown.Gifts = desk.Home(r.Account.ID) + "gifts?order=" + o.OrderID
		shown.Failed = shown.Gifts + "&status=" + gift.FailedDelivery.String()
	}
	return shown
}

// namedList finds the list that the address names.
func (f *pages) namedList(r *desk.Request) (l sendlist.List, err error) {
	id, err := guid.Parse(r.HTTP.PathValue("list"))
	if err != nil {
		return l, desk.ErrNoPage
	}
	l, err = f.Store.SendList(r.Context(), r.Account.ID, id)
	if errors.Is(err, refusal.NotFound) {
		return l, desk.ErrNoPage
	}
	return l, service.Stored(err)
}

// changeList does something to a list, where the list is in a state for it, and leads back to its page, which says what
// became of it.
func (f *pages) changeList(change func(l *sendlist.List, member guid.ID, name, address string,
	now time.Time) bool) func(*desk.Request) (desk.View, error) {
	return func(r *desk.Request) (desk.View, error) {
		l, err := f.namedList(r)
		if err != nil {
			return desk.View{}, err
		}
		err = f.Store.ChangeSendList(r.Context(), r.Account.ID, l.ID, r.Real, func(l *sendlist.List) error {
			change(l, r.Member.ID, r.Member.Name, r.Address(), r.Real)
			return nil
		})
		if errors.Is(err, refusal.NotFound) { // somebody has just thrown it away
			err = desk.ErrNoPage
		}
		return desk.View{To: listAddress(r, l.ID)}, service.Stored(err)
	}
}

// discard throws a list away that nobody confirmed.
func (f *pages) discard(r *desk.Request) (desk.View, error) {
	l, err := f.namedList(r)
	if err != nil {
		return desk.View{}, err
	}
	err = f.Store.DeleteSendList(r.Context(), r.Account.ID, l.ID)
	if errors.Is(err, refusal.NotFound) { // it is being sent
		return desk.View{To: listAddress(r, l.ID)}, nil
	}
	return desk.View{To: desk.Home(r.Account.ID) + "many"}, service.Stored(err)
}
