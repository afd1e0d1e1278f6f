package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/guid"
	"boon.example/internal/sendlist"
	"boon.example/internal/server"
	"boon.example/internal/staff"
	"boon.example/internal/store"
)

const manyPath = harborConsole + "many"

// manyForm is the form that sends to many, opened anew, with more filled in.
func (b *browser) manyForm(more url.Values) url.Values {
	b.Helper()
	form := url.Values{"key": formKey.FindStringSubmatch(b.want(http.StatusOK, manyPath, nil).body)[1:],
		"to": {"contact"}, "how": {"paid"}, "when": {"now"}, "reference": {"R-1"}, "first": {"Carla"}, "last": {"Diaz"},
		"email": {"carla@example.com"}, "storefront": {examples.HarborStorefront}}
	for name, values := range more {
		form[name] = values
	}
	return form
}

// uploads sends a file and gives the address of the list, once Boon has looked at it.
func (b *browser) uploads(form url.Values, file string) (path string) {
	b.Helper()
	a := b.send(manyPath, form, "file", []byte(file))
	if a.status != http.StatusSeeOther {
		b.Fatalf("uploading: status %d: %s", a.status, a.body)
	}
	b.settled(a.header.Get("Location"))
	return a.header.Get("Location")
}

// settled waits until nothing goes on by itself in a list, and gives its page.
func (b *browser) settled(path string) (page string) {
	b.Helper()
	b.eventually(func() bool {
		page = b.want(http.StatusOK, path, nil).body
		return !strings.Contains(page, "data-progress")
	})
	return page
}

// made are the contacts of all gifts that there are, of an order each.
func (s *service) made() (all []string) {
	s.Helper()
	var page struct {
		Gifts []struct{ RecipientContact, SenderDescription string }
	}
	s.must("GET", "/api/integration/gifting/gifts?limit=200", examples.HarborOfficeKey, "", &page)
	for _, g := range page.Gifts {
		all = append(all, g.RecipientContact)
	}
	return all
}

// TestStaffSendToMany: a file becomes a list that is looked at, shown with its count and sum, and sent once, under the
// name of whoever confirmed it, however often its forms are sent.
func TestStaffSendToMany(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	mia := s.joined("mia@example.com", staff.Manager)
	template := mia.want(http.StatusOK, manyPath+"/template.csv", nil)
	if template.body != sendlist.Template || !strings.Contains(template.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("the template is %q, %v", template.body, template.header)
	}
	const file = "\ufeffname;contact;value;<b>\r\nAna;ana@example.com;\r\nBen;ben@example.com;12,50\r\n" +
		"\"<script>x\";ana@example.com;\r\n"
	form := mia.manyForm(url.Values{"value": {"25"}, "sender": {"Carla"}})
	path := mia.uploads(form, file)
	if again := mia.uploads(form, file); again != path {
		t.Errorf("sent again, the form makes another list: %s, %s", path, again)
	}
	page := mia.want(http.StatusOK, path, nil).body
	for _, text := range []string{"3 gifts, together worth $62.50", "1 line goes to an address", "&lt;b&gt;",
		"&lt;script&gt;.png", "<dt>$25.00</dt><dd>2 gifts</dd>", "<dt>$12.50</dt><dd>1 gift</dd>"} {
		if !strings.Contains(page, text) {
			t.Errorf("the list lacks %q: %s", text, page)
		}
	}
	if all := s.made(); len(all) > 0 {
		t.Fatalf("before the list is confirmed there are %q", all)
	}
	ann := s.joined("ann@example.com", staff.Owner)
	for range 2 {
		ann.want(http.StatusSeeOther, path+"/confirm", url.Values{})
	}
	ann.settled(path)
	mia.want(http.StatusSeeOther, path+"/confirm", url.Values{})
	mia.want(http.StatusSeeOther, path+"/discard", url.Values{})
	if page = mia.settled(path); !strings.Contains(page, "Sent: 3 of 3") {
		t.Errorf("the list says %s", page)
	}
	if all := s.made(); len(all) != 3 {
		t.Errorf("there are %q", all)
	}
	orders := regexp.MustCompile(`"([^"]*gifts\?order=[0-9a-f-]{36})"`).FindAllStringSubmatch(page, -1)
	if len(orders) != 2 {
		t.Fatalf("the page leads to %d orders: %s", len(orders), page)
	}
	gifts := ann.want(http.StatusOK, orders[0][1], nil).body
	if strings.Count(gifts, "ana@example.com")+strings.Count(gifts, "&lt;script&gt;x") < 1 ||
		strings.Contains(gifts, ">Ben<") || !strings.Contains(gifts, "Gifts of order") {
		t.Errorf("the gifts of the first order are %s", gifts)
	}
	gift := regexp.MustCompile(`href="([^"]*/gifts/[0-9a-f-]{36})"`).FindStringSubmatch(gifts)[1]
	life := ann.want(http.StatusOK, gift, nil).body
	if !strings.Contains(life, " · ann") || strings.Contains(life, " · mia") {
		t.Errorf("a gift that ann sent tells %s", life)
	}
	ann.want(http.StatusNotFound, harborConsole+"gifts?order=x", nil)
	if page = ann.want(http.StatusOK, manyPath, nil).body; strings.Count(page, path) != 1 {
		t.Errorf("the page lists %s", page)
	}
}

// TestWhatIsWrongWithAList: what is wrong with the form or the whole file is told above the form, which keeps what was
// typed; what is wrong with a line, by line and column, all of it; then nothing is sent.
func TestWhatIsWrongWithAList(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	mia := s.joined("mia@example.com", staff.Manager)
	for want, upload := range map[string]struct {
		more url.Values
		file string
	}{
		"Choose a file.":                            {nil, ""},
		"names no column for e-m":                   {nil, "name,value\nAna,5\n"},
		"zip archive":                               {nil, "PK\x03\x04"},
		"Number of the sale: Please fill this in.<": {url.Values{"reference": {""}}, "contact,value\nana@example.com,5\n"},
		"Day and time: Please fill this in.<":       {url.Values{"when": {"later"}}, "contact,value\nana@example.com,5\n"},
	} {
		a := mia.send(manyPath, mia.manyForm(upload.more), "file", []byte(upload.file))
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, want) ||
			!strings.Contains(a.body, `value="carla@example.com"`) {
			t.Errorf("%s: status %d: %s", want, a.status, a.body)
		}
	}
	a := mia.send(manyPath, mia.manyForm(url.Values{"value": {"much"}}), "file", []byte("contact\nana@example.com\n"))
	if a.status != http.StatusBadRequest || strings.Count(a.body, "is no amount") != 1 {
		t.Errorf("a value of the form that is none: status %d: %s", a.status, a.body)
	}
	path := mia.uploads(mia.manyForm(nil), "name,email,value\nAna,nobody,5\nBen,ben@example.com,501\n"+
		"Cleo,4.915E+11,5\nDora,dora@example.com,0\n"+strings.Repeat("x", 201)+",eve@example.com,5\n"+
		"=1,nobody,\"1,250\"\n=2,,\"25,00\"\n")
	page := mia.want(http.StatusOK, path, nil).body
	for _, text := range []string{`<td class="number">2</td><td>email</td>`, `<td class="number">3</td><td>value</td>`,
		`<td class="number">4</td><td>email</td>`, `<td class="number">6</td><td>name</td>`,
		`<td class="number">7</td><td>name</td>`, `<td class="number">7</td><td>email</td>`,
		`<td class="number">7</td><td>value</td><td>“1,250” could be $1,250.00 or $1.25. Write 1250.00 or 1.25.`,
		`<td class="number">8</td><td>name</td>`, `<td class="number">8</td><td>email</td>`, "10 problems"} {
		if !strings.Contains(page, text) {
			t.Errorf("the list lacks %q: %s", text, page)
		}
	}
	mia.want(http.StatusSeeOther, path+"/confirm", url.Values{})
	if page = mia.want(http.StatusOK, path, nil).body; !strings.Contains(page, "Nothing was sent.") {
		t.Errorf("the list that is wrong is %s", page)
	}
	mia.want(http.StatusSeeOther, path+"/discard", url.Values{})
	mia.want(http.StatusNotFound, path, nil)
	if all := s.made(); len(all) > 0 {
		t.Errorf("there are %q", all)
	}
}

// TestAListThatCannotBeDelivered is refused above the form at once: this service sends no mail.
func TestAListThatCannotBeDelivered(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	mia := s.joined("mia@example.com", staff.Manager)
	a := mia.send(manyPath, mia.manyForm(nil), "file", []byte("contact,value\nana@example.com,5\n"))
	if a.status < 400 || !strings.Contains(a.body, "does not send e-mail yet") {
		t.Errorf("status %d: %s", a.status, a.body)
	}
}

// TestListsAreForWhoSends: a bookkeeper and a cashier see no list, nor does another account.
func TestListsAreForWhoSends(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	mia := s.joined("mia@example.com", staff.Manager)
	path := mia.uploads(mia.manyForm(nil), "contact,value\nana@example.com,5\n")
	for _, role := range []staff.Role{staff.Bookkeeper, staff.Cashier} {
		b := s.joined(string(role)+"@example.com", role)
		for _, to := range []string{manyPath, path, path + "/confirm"} {
			var form url.Values
			if strings.HasSuffix(to, "/confirm") {
				form = url.Values{}
			}
			b.want(http.StatusForbidden, to, form)
		}
	}
	tess := s.ofTheTestAccount("tess@example.com")
	theirs := strings.Replace(path, harborConsole, testConsole, 1)
	tess.want(http.StatusNotFound, theirs, nil)
	for _, do := range []string{"/confirm", "/again", "/discard"} {
		tess.want(http.StatusNotFound, theirs+do, url.Values{})
	}
	if page := mia.want(http.StatusOK, path, nil).body; !strings.Contains(page, "is ready") {
		t.Errorf("after others tried, the list is %s", page)
	}
}

// confirmed keeps a list that somebody confirmed: two orders that can be made, and one that is refused.
func (s *service) confirmed(member string) *sendlist.List {
	s.Helper()
	account, err := guid.Parse(examples.HarborAccount)
	id, wrong := guid.Parse(member)
	if err = errors.Join(err, wrong); err != nil {
		s.Fatal(err)
	}
	now := time.Now()
	l := &sendlist.List{ID: guid.ID{1, 14: 1}, AccountID: account, MemberID: id, Member: "mia", Address: "127.0.0.1",
		File: "people.csv", MadeAt: now, ConfirmedAt: now, Rows: 3}
	c := &sendlist.Content{Order: fmt.Appendf(nil, `{"monetaryGift":{},"paymentMethodID":2,
		"externalTransactionReferenceNumber":"R-1","externalTransactionCustomerFirstName":"Carla",
		"externalTransactionCustomerLastName":"Diaz","externalTransactionCustomerEmailAddress":"carla@example.com",
		"externalStorefrontID":%q}`, examples.HarborStorefront)}
	for n, to := range []string{"ana@example.com", "ben@example.com", "nobody"} {
		c.Rows = append(c.Rows, sendlist.Row{Line: n + 2, Contact: to})
		l.Orders = append(l.Orders, sendlist.Order{Value: "5", From: n, To: n + 1, Looked: true})
	}
	s.withStore(func(db *store.Store) error { return db.KeepSendList(s.Context(), l, c) })
	return l
}

// TestAListGoesOnAfterACrash: a service that died after it made an order and before it noted so makes it no second
// time. What was refused can be tried again, and the page says why it was.
func TestAListGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	mia := s.joined("mia@example.com", staff.Manager)
	l := s.confirmed(s.memberOf(mia.token()))
	path := manyPath + "/" + l.ID.String()
	page := mia.settled(path)
	if !strings.Contains(page, "Sent: 2 of 3") || !strings.Contains(page, "4: ") {
		t.Errorf("the list is %s", page)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.withStore(func(db *store.Store) error {
		return db.ChangeSendList(s.Context(), l.AccountID, l.ID, time.Now(), func(l *sendlist.List) error {
			l.EndedAt = time.Time{}
			for n := range l.Orders {
				l.Orders[n].OrderID, l.Orders[n].Refused = "", nil
			}
			return nil
		})
	})
	s.run(server.Config{Outbox: true})
	mia = s.joined("mia@example.com", staff.Manager)
	if page = mia.settled(path); !strings.Contains(page, "Sent: 2 of 3") {
		t.Errorf("after a crash the list is %s", page)
	}
	mia.want(http.StatusSeeOther, path+"/again", url.Values{})
	mia.settled(path)
	if all := s.made(); len(all) != 2 {
		t.Errorf("there are %q", all)
	}
}

// TestAListIsLeftAsItIs: of a list that was sent in part, somebody leaves the rest. The list is over: it takes no room
// among those that wait, and what was refused is tried no more.
func TestAListIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	mia := s.joined("mia@example.com", staff.Manager)
	l := s.confirmed(s.memberOf(mia.token()))
	path := manyPath + "/" + l.ID.String()
	if page := mia.settled(path); !strings.Contains(page, path+"/leave") {
		t.Fatalf("the list cannot be left: %s", page)
	}
	s.joined("ben@example.com", staff.Bookkeeper).want(http.StatusForbidden, path+"/leave", url.Values{})
	for _, do := range []string{"/leave", "/leave", "/again", "/confirm", "/discard"} {
		mia.want(http.StatusSeeOther, path+do, url.Values{})
	}
	page := mia.settled(path)
	if !strings.Contains(page, "Sent: 2 of 3") || !strings.Contains(page, "4: ") ||
		strings.Contains(page, `<form method="post" action="`+path) {
		t.Errorf("the list is %s", page)
	}
	if page = mia.want(http.StatusOK, manyPath, nil).body; !strings.Contains(page, "Sent in part, and over") {
		t.Errorf("among the others it is %s", page)
	}
	s.withStore(func(db *store.Store) error {
		lists, _, err := db.SendListsTo(s.Context(), l.AccountID, func(contact string) bool { return contact == "nobody" })
		if lists > 0 {
			t.Error("the lines of what was refused are kept")
		}
		return err
	})
	if all := s.made(); len(all) != 2 {
		t.Errorf("there are %q", all)
	}
}

// TestAListOfWhoLeft: for somebody who is of the staff no more, nothing more is sent.
func TestAListOfWhoLeft(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	mia := s.joined("mia@example.com", staff.Manager)
	l := s.confirmed("0197f2a4-0000-7000-8000-000000000001")
	page := mia.settled(manyPath + "/" + l.ID.String())
	if !strings.Contains(page, "Sent: 0 of 3") || !strings.Contains(page, "mia is not of the staff any more") {
		t.Errorf("the list is %s", page)
	}
	if all := s.made(); len(all) > 0 {
		t.Errorf("there are %q", all)
	}
}

// TestListsOnPaper: the cards of a list are printed, each with its name.
func TestListsOnPaper(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	mia := s.joined("mia@example.com", staff.Manager)
	path := mia.uploads(mia.manyForm(url.Values{"to": {"paper"}, "value": {"10"}}), "name\nAna\nBen\n")
	mia.want(http.StatusSeeOther, path+"/confirm", url.Values{})
	page := mia.settled(path)
	sheet := regexp.MustCompile(`href="([^"]*)" target="_blank"`).FindStringSubmatch(page)
	if sheet == nil {
		t.Fatalf("there is nothing to print: %s", page)
	}
	ann := s.joined("ann@example.com", staff.Owner)
	if strings.Contains(ann.want(http.StatusOK, path, nil).body, sheet[1]) {
		t.Error("somebody else of the staff is led to the cards")
	}
	at, err := url.Parse(sheet[1])
	if err != nil {
		t.Fatal(err)
	}
	if a := mia.want(http.StatusOK, at.Path, nil); !strings.HasPrefix(a.body, "%PDF") {
		t.Errorf("what is printed is %.100q", a.body)
	}
}

// TestListsForWhoPays: the codes of a list go to who pays in one mail, whatever contacts its file has.
func TestListsForWhoPays(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	mia := s.joined("mia@example.com", staff.Manager)
	path := mia.uploads(mia.manyForm(url.Values{"to": {"table"}, "value": {"10"}}),
		"name,contact\nAna,ana@example.com\nBen,nobody\n")
	mia.want(http.StatusSeeOther, path+"/confirm", url.Values{})
	mia.settled(path)
	s.measures("boon_delivery_jobs_waiting 0")
	s.withStore(func(kept *store.Store) error {
		all, err := kept.Messages(t.Context(), guid.ID{}, 10)
		for _, m := range all {
			if m.To != "carla@example.com" || len(m.Attachments) != 1 || m.Attachments[0].Name != "gift-cards.csv" {
				t.Errorf("sent is %q to %s with %v", m.Subject, m.To, m.Attachments)
			}
		}
		if len(all) != 1 {
			t.Errorf("%d messages are sent", len(all))
		}
		return err
	})
}

// TestAListThatIsThrownAway: whoever confirms a list, while somebody else throws it away, is told that it is not there,
// or sends it. That is nobody's mistake.
func TestAListThatIsThrownAway(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	mia := s.joined("mia@example.com", staff.Manager)
	for n := range 8 {
		path := mia.uploads(mia.manyForm(url.Values{"value": {"25"}}), fmt.Sprintf("contact\np%d@example.com\n", n))
		var all sync.WaitGroup
		for _, do := range []string{"/confirm", "/confirm", "/discard", "/again", "/leave", "/discard"} {
			all.Go(func() {
				if a := mia.ask(path+do, url.Values{}); a.status != http.StatusSeeOther && a.status != http.StatusNotFound {
					t.Errorf("%s is answered %d: %s", do, a.status, a.body)
				}
			})
		}
		all.Wait()
	}
	if logs := s.logs.String(); strings.Contains(logs, "could not go on") {
		t.Errorf("the log says %s", logs)
	}
}
