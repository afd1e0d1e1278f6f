package server_test

import (
	"html"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/guest"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
	"boon.example/internal/store"
	"boon.example/internal/store/erase"
)

// asagaoAccount is the other example.
const asagaoAccount = "0c5e7a10-93d4-4f0b-8a6e-5b1d2c3e4f01"

const harborMy = "/my/" + examples.HarborAccount

// asks sends the form that asks for a link.
func (b *browser) asks(to string, headers ...string) answer {
	b.Helper()
	return b.want(http.StatusSeeOther, harborMy, url.Values{"contact": {to}}, headers...)
}

var guestLink = regexp.MustCompile(`/my/[0-9a-f-]{36}/link/[A-Z2-7]{26}`)

// linkIn is the path of the link that a message brings.
func linkIn(t *testing.T, text string) string {
	t.Helper()
	link := guestLink.FindString(text)
	if link == "" {
		t.Fatalf("there is no link in %q", text)
	}
	return link
}

// guestLinksLeft counts the links that are still to be judged or sent.
func (s *service) guestLinksLeft() (n int) {
	s.withStore(func(db *store.Store) (err error) {
		n, err = db.CountGuestLinks(s.Context())
		return err
	})
	return n
}

// mailbox to whom ana's gift was sent.
func (s *service) giftsOfAna(letters <-chan string) (mine, other soldGift) {
	s.Helper()
	mine = s.sell(`{"value":25,"deliveryMethodID":1,"recipientDescription":"Ana","recipientContact":"ana@example.com"}`)
	other = s.sell(`{"value":40,"deliveryMethodID":1,"recipientDescription":"Leo","recipientContact":"leo@example.com"}`)
	receive(s.T, letters)
	receive(s.T, letters)
	s.become(mine, "DELIVERED")
	s.become(other, "DELIVERED")
	return mine, other
}

// TestMyGifts: a recipient asks for a link, comes in with it once, sees the gifts that are theirs without any code,
// opens one, and leaves. Who bought the gifts sees whether they arrived, and neither what is left nor a code.
func TestMyGifts(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	mine, other := s.giftsOfAna(box.letters)
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+mine.VoucherID+`","amount":9.5}`, nil)
	surprise := s.sell(`{"value":77,"deliveryMethodID":1,"recipientContact":"ana@example.com","hasScheduledDelivery":true,
		"deliveryDate":"` + time.Now().AddDate(0, 0, 30).UTC().Format(time.RFC3339) + `"}`)

	ana := s.browser()
	page := ana.want(http.StatusOK, harborMy, nil)
	if !strings.Contains(page.body, "Your gifts at Harbor Coffee") || !strings.Contains(page.body, `name="contact"`) {
		t.Errorf("the page asks for no contact: %s", page.body)
	}
	ana.want(http.StatusBadRequest, harborMy, url.Values{"contact": {"ana"}})
	ana.asks("  ANA@Example.com ", "Accept-Language", "de")
	mail := readLetter(t, receive(t, box.letters))
	if mail.subject != "Deine Geschenke bei Harbor Coffee" || mail.language != "de" ||
		!strings.Contains(mail.html, linkIn(t, mail.text)) {
		t.Errorf("the mail is %+v", mail)
	}
	link := linkIn(t, mail.text)
	for range 3 { // a program that opens links uses nothing up
		scanner := s.browser()
		shown := scanner.want(http.StatusOK, link, nil)
		if strings.Contains(shown.body, "ana@") || !strings.Contains(shown.body, "A•••@example.com") ||
			shown.header.Get("Set-Cookie") != "" {
			t.Errorf("the page of the link says %s, %v", shown.body, shown.header)
		}
		scanner.want(http.StatusForbidden, link, url.Values{}, "Sec-Fetch-Site", "cross-site")
	}
	in := ana.want(http.StatusSeeOther, link+"?lang=en", url.Values{})
	cookie := in.header.Get("Set-Cookie")
	for _, part := range []string{"boon_my_" + examples.HarborAccount + "=", "HttpOnly", "SameSite=Lax",
		"Max-Age=2592000", "Path=/"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("the cookie lacks %s: %s", part, cookie)
		}
	}
	s.browser().want(http.StatusNotFound, link, url.Values{}) // it was used
	s.browser().want(http.StatusNotFound, link, nil)

	list := ana.want(http.StatusOK, in.header.Get("Location"), nil).body
	for _, part := range []string{"$15.50", "left of $25.00", "ends in\u00a0" + mine.VoucherCode[8:], "Carla Diaz",
		`value="` + mine.VoucherID} {
		if !strings.Contains(list, part) {
			t.Errorf("the list lacks %q: %s", part, list)
		}
	}
	for _, secret := range []string{mine.VoucherCode, mine.VoucherPublicToken, "/g/", mine.VoucherCode[:4] + " ", "40.00",
		other.VoucherID, "77.00", surprise.VoucherID, "ana@example.com"} {
		if strings.Contains(list, secret) {
			t.Errorf("the list tells %q", secret)
		}
	}
	opened := ana.want(http.StatusSeeOther, harborMy+"/open", url.Values{"gift": {mine.VoucherID}}).header.Get("Location")
	if !strings.HasPrefix(opened, "/g/"+mine.VoucherPublicToken+"?") {
		t.Errorf("the gift opens at %s", opened)
	}
	back := `<a href="` + harborMy + `?lang=en">All my gifts</a>`
	if page := ana.want(http.StatusOK, opened, nil).body; !strings.Contains(page, back) {
		t.Errorf("the page of a gift does not lead to all of them: %s", page)
	}
	for _, foreign := range []string{other.VoucherID, surprise.VoucherID, examples.HarborAccount, "x"} {
		ana.want(http.StatusNotFound, harborMy+"/open", url.Values{"gift": {foreign}})
	}
	s.browser().want(http.StatusSeeOther, harborMy+"/open", url.Values{"gift": {mine.VoucherID}})

	// What is put into a gift or taken out of it later is not the buyer's to know.
	s.must("POST", "/api/integration/gifting/adjust-gift", examples.HarborOfficeKey, `{"voucherID":"`+mine.VoucherID+
		`","amount":-4,"reasonCode":"FRAUD","reason":"it was charged back in part"}`, nil)
	carla := s.browser()
	carla.asks("carla@example.com")
	carla.want(http.StatusSeeOther, linkIn(t, readLetter(t, receive(t, box.letters)).text), url.Values{})
	bought := carla.want(http.StatusOK, harborMy+"?list=bought", nil).body
	for _, part := range []string{"For <bdi>Ana</bdi>", "For <bdi>Leo</bdi>",
		"$25.00", "$40.00", "$77.00", "Delivered", "Will be sent: "} {
		if !strings.Contains(bought, part) {
			t.Errorf("the buyer's list lacks %q: %s", part, bought)
		}
	}
	for _, secret := range []string{"15.50", "21.00", "11.50", mine.VoucherCode[8:], other.VoucherCode[8:], "/g/",
		"ana@example.com", "/open"} {
		if strings.Contains(bought, secret) {
			t.Errorf("the buyer's list tells %q", secret)
		}
	}
	carla.want(http.StatusNotFound, harborMy+"/open", url.Values{"gift": {mine.VoucherID}})
	received := carla.want(http.StatusOK, harborMy, nil).body
	if !strings.Contains(received, "There are no gifts in this list.") {
		t.Errorf("the buyer has received %s", received)
	}

	for range 2 { // a second click, and a step back
		again := ana.want(http.StatusSeeOther, link+"?lang=en", url.Values{}).header.Get("Location")
		if shown := ana.want(http.StatusSeeOther, link+"?lang=en", nil).header.Get("Location"); shown != again ||
			again != harborMy+"?lang=en" {
			t.Errorf("the link that signed in leads to %s and %s", again, shown)
		}
	}
	out := ana.want(http.StatusSeeOther, harborMy+"/out?lang=en", url.Values{}).header.Get("Location")
	if page := ana.want(http.StatusOK, out, nil).body; !strings.Contains(page, `name="contact"`) ||
		!strings.Contains(page, `role="status">You are signed out.`) {
		t.Errorf("who signed out sees %s", page)
	}
	if page := ana.want(http.StatusOK, harborMy, nil).body; strings.Contains(page, "signed out") {
		t.Errorf("who comes later sees %s", page)
	}
	ana.want(http.StatusNotFound, link, url.Values{})
	for _, secret := range []string{"ana@example.com", "carla@example.com", link[len(link)-26:]} {
		if strings.Contains(s.logs.String(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
}

// TestMyGiftsTellNothing: of contacts without gifts, in another account, or with a letter that only Unicode takes for
// another one, nothing is sent, and the answer is that of the others; nothing of them is kept.
func TestMyGiftsTellNothing(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	s.sell(`{"value":25,"deliveryMethodID":1,"recipientContact":"sam@example.com"}`)
	receive(t, box.letters)
	known := s.browser().asks("sam@example.com")
	letter := receive(t, box.letters)
	for _, unknown := range []string{"nobody@example.com", "\u017fam@example.com", "sam@example.com.example",
		"s.am@example.com"} {
		a := s.browser().asks(unknown)
		a.header.Del("Date")
		a.header.Del("X-Request-Id")
		known.header.Del("Date")
		known.header.Del("X-Request-Id")
		if a.body != known.body || !reflect.DeepEqual(a.header, known.header) {
			t.Errorf("%q is answered with %v %s, a contact with gifts with %v %s", unknown, a.header, a.body, known.header,
				known.body)
		}
	}
	s.browser().want(http.StatusNotFound, "/my/"+guid.Max().String(), url.Values{"contact": {"sam@example.com"}})
	s.browser().want(http.StatusBadRequest, harborMy, url.Values{"contact": {"415 555 0134"}}) // there is no gateway
	s.eventually(func() bool { return s.guestLinksLeft() == 0 })
	if n := len(box.letters); n != 0 {
		t.Errorf("%d mails went to contacts without gifts", n)
	}
	account, err := guid.Parse(examples.HarborAccount)
	if err != nil {
		t.Fatal(err)
	}
	s.withStore(func(db *store.Store) error {
		ask := erase.Request{Account: &merchant.Account{ID: account}, Contact: "nobody@example.com", DryRun: true}
		n, err := db.Eraser.Guests(t.Context(), ask)
		if n != 0 {
			t.Errorf("%d links of a contact without gifts are kept", n)
		}
		return err
	})
	linkIn(t, readLetter(t, letter).text)
}

// TestMyGiftsAreLimited: three messages a day go to a contact, whatever its spelling, and a network asks 10 times a
// minute; what is not sent is answered like what is.
func TestMyGiftsAreLimited(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	s.sell(`{"value":25,"deliveryMethodID":1,"recipientContact":"ana@example.com"}`)
	s.sell(`{"value":25,"deliveryMethodID":1,"recipientContact":"leo@example.com"}`)
	receive(t, box.letters)
	receive(t, box.letters)
	b := s.browser()
	for n := range 9 {
		b.asks([]string{"ana@example.com", "Ana@EXAMPLE.com", `"ana"@example.com`}[n%3])
	}
	leo, form := 0, url.Values{"contact": {"leo@example.com"}}
	many := b.ask(harborMy, form, "Accept", "text/html")
	for ; many.status == http.StatusSeeOther && leo < 100; leo++ { // on a slow machine there may be room for more
		many = b.ask(harborMy, form, "Accept", "text/html")
	}
	if many.status != http.StatusTooManyRequests || many.header.Get("Retry-After") == "" || leo == 0 ||
		!strings.Contains(many.body, "Many links were asked for") {
		t.Errorf("after %d links of leo's there is %d %v %s", leo, many.status, many.header, many.body)
	}
	s.eventually(func() bool { return s.guestLinksLeft() == 0 })
	to := map[string]int{}
	for range len(box.letters) {
		letter := strings.ToLower(<-box.letters)
		for _, name := range []string{"ana", "leo"} {
			if strings.Contains(letter, "to: <"+name+"@") {
				to[name]++
			}
		}
	}
	if to["ana"] != guest.LinksADay || to["leo"] != min(leo, guest.LinksADay) {
		t.Errorf("of 9 links of ana's and %d of leo's, sent were %v", leo, to)
	}
}

// TestThievesOfMyGifts: a session is good in its own account only, a gift that went on to somebody else is gone, an
// older link ends with "everywhere", and so does every session; erasing the person ends all of it.
func TestThievesOfMyGifts(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	s.apply(examples.AsagaoTea())
	s.learned()
	mine, _ := s.giftsOfAna(box.letters)
	in := func() *browser {
		b := s.browser()
		b.asks("ana@example.com")
		b.want(http.StatusSeeOther, linkIn(t, readLetter(t, receive(t, box.letters)).text), url.Values{})
		if page := b.want(http.StatusOK, harborMy, nil).body; !strings.Contains(page, mine.VoucherID) {
			t.Fatalf("who came in sees %s", page)
		}
		return b
	}
	first, second := in(), in()
	at, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	thief := s.browser()
	for _, c := range first.Jar.Cookies(at) {
		for _, name := range []string{"boon_my_" + asagaoAccount, "boon"} {
			thief.Jar.SetCookies(at, []*http.Cookie{{Name: name, Value: c.Value, Path: "/"}})
		}
	}
	for _, path := range []string{"/my/" + asagaoAccount, harborMy} {
		if page := thief.ask(path, nil).body; strings.Contains(page, mine.VoucherID) {
			t.Errorf("a session shows its gifts at %s", path)
		}
	}
	thief.asks("ana@example.com") // the third of the day, that nobody used yet
	stolen := linkIn(t, readLetter(t, receive(t, box.letters)).text)
	thief.want(http.StatusNotFound, strings.Replace(stolen, examples.HarborAccount, asagaoAccount, 1), url.Values{})
	first.want(http.StatusSeeOther, harborMy+"/out", url.Values{"everywhere": {"yes"}})
	thief.want(http.StatusNotFound, stolen, url.Values{})
	if page := second.want(http.StatusOK, harborMy, nil).body; strings.Contains(page, mine.VoucherID) {
		t.Error("another session outlives \"sign out everywhere\"")
	}
	s.must("POST", "/api/integration/gifting/resend-gift", examples.HarborOfficeKey, `{"voucherID":"`+mine.VoucherID+
		`","recipientContact":"ben@example.com"}`, nil)
	ben := receive(t, box.letters)
	if more := receive(t, box.letters); !strings.Contains(more+ben, "ben@example.com") {
		t.Error("the gift did not go on")
	}
	s.become(mine, "DELIVERED")
	s.browser().asks("ana@example.com")
	s.eventually(func() bool { return s.guestLinksLeft() == 0 })
	if n := len(box.letters); n != 0 {
		t.Errorf("%d mails went to whom the gift does not belong any more", n)
	}
}

// TestMyGiftsByText: a number is read as the account reads it, the link comes as SMS, and there is no list of what a
// number bought.
func TestMyGiftsByText(t *testing.T) {
	t.Parallel()
	phones, gateway := openPhones(t)
	s := start(t, server.Config{SMS: gateway})
	g := s.sell(`{"value":25,"deliveryMethodID":2,"recipientContact":"4155550132"}`)
	receive(t, phones)
	s.become(g, "DELIVERED")
	b := s.browser()
	b.want(http.StatusBadRequest, harborMy, url.Values{"contact": {"ana@example.com"}}) // no mail can be sent
	b.asks("(415) 555-0132", "Accept-Language", "es")
	text := receive(t, phones)
	if !strings.HasPrefix(text.Get("Body"), "Tus regalos en Harbor Coffee (") || text.Get("To") != "+14155550132" {
		t.Errorf("the message to %s says %q", text.Get("To"), text.Get("Body"))
	}
	b.want(http.StatusSeeOther, linkIn(t, text.Get("Body")), url.Values{})
	list := b.want(http.StatusOK, harborMy, nil).body
	if !strings.Contains(list, g.VoucherID) || !strings.Contains(list, "•••32") ||
		strings.Contains(list, "list=bought") {
		t.Errorf("the list says %s", list)
	}
}

// TestMyGiftsByPages: 50 gifts are one page, with nothing older; the 51st begins another one, in either list. The links
// between pages, lists and languages stay in the list that they stand in. No gift is left out or shown twice.
func TestMyGiftsByPages(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	s.apply([]byte(strings.Replace(string(examples.HarborCoffee()), "    maxGiftValue: 500\n",
		"    maxGiftValue: 500\n    limits: {messagesPerContactPerDay: 100}\n", 1)))
	s.learned()
	const toCarla = `{"value":25,"deliveryMethodID":1,"recipientContact":"carla@example.com"}`
	for range guest.PageSize {
		s.sell(toCarla)
	}
	for range guest.PageSize {
		receive(t, box.letters)
	}
	carla := s.browser()
	carla.asks("carla@example.com")
	carla.want(http.StatusSeeOther, linkIn(t, readLetter(t, receive(t, box.letters)).text), url.Values{})
	gifts := func(page string) []string { return regexp.MustCompile(`<li>\n<h2.*`).FindAllString(page, -1) }
	link := func(page, name string) string {
		if found := regexp.MustCompile(`href="([^"]*)"[^>]*>` + name + `<`).FindStringSubmatch(page); found != nil {
			return html.UnescapeString(found[1])
		}
		return ""
	}
	lists := []string{harborMy + "?lang=en", harborMy + "?lang=en&list=bought"}
	for _, list := range lists {
		s.eventually(func() bool { return len(gifts(carla.want(http.StatusOK, list, nil).body)) == guest.PageSize })
		page := carla.want(http.StatusOK, list, nil).body
		if older, newest := link(page, "Older gifts"), link(page, "Newest gifts"); older != "" || newest != "" {
			t.Errorf("beside 50 gifts, %s leads to %q and %q", list, older, newest)
		}
	}
	s.become(s.sell(toCarla), "DELIVERED")
	for i, list := range lists {
		first := carla.want(http.StatusOK, list, nil).body
		older := link(first, "Older gifts")
		last := carla.want(http.StatusOK, older, nil).body
		if n, m := len(gifts(first)), len(gifts(last)); n != guest.PageSize || m != 1 {
			t.Fatalf("of 51 gifts, %s has %d, and then %d", list, n, m)
		}
		if i == 0 && strings.Contains(first, gifts(last)[0]) { // each has its id
			t.Errorf("%s shows a gift twice", list)
		}
		if newest := link(last, "Newest gifts"); newest != list || link(last, "Older gifts") != "" {
			t.Errorf("the last page of %s leads to %q and %q", list, newest, link(last, "Older gifts"))
		}
		german := link(last, "Deutsch")
		if page := carla.want(http.StatusOK, harborMy+german, nil).body; len(gifts(page)) != 1 ||
			link(page, "English") != strings.TrimPrefix(older, harborMy) || !strings.Contains(page, "Neueste Geschenke") {
			t.Errorf("the last page of %s is in German at %q, where it says %s", list, german, page)
		}
	}
	const oldest = "00000000-0000-7000-8000-000000000001"
	beyond := carla.want(http.StatusOK, lists[0]+"&before="+oldest, nil).body
	if !strings.Contains(beyond, "None on this page.") || link(beyond, "Newest gifts") != lists[0] {
		t.Errorf("behind the last page there is %s", beyond)
	}
}

// TestMyGiftsAreText: what people typed is text in both lists, set apart from the words around it.
func TestMyGiftsAreText(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	names := []string{"<script>alert(1)</script>", strings.Repeat("W", 200), "(عمر)", "a\u202eb"}
	for _, name := range names {
		g := s.sell(`{"value":25,"deliveryMethodID":1,"recipientContact":"carla@example.com","senderDescription":"` + name +
			`","recipientDescription":"` + name + `","message":"` + name + `"}`)
		receive(t, box.letters)
		s.become(g, "DELIVERED")
	}
	carla := s.browser()
	carla.asks("carla@example.com")
	carla.want(http.StatusSeeOther, linkIn(t, readLetter(t, receive(t, box.letters)).text), url.Values{})
	for _, list := range []string{harborMy, harborMy + "?list=bought"} {
		page := carla.want(http.StatusOK, list, nil).body
		for _, name := range names {
			apart := "<bdi>" + html.EscapeString(strings.ReplaceAll(name, "\u202e", "")) + "</bdi>"
			if !strings.Contains(page, apart) {
				t.Errorf("%s lacks %s: %s", list, apart, page)
			}
		}
		if strings.Contains(page, "<script") || strings.Contains(page, "\u202e") {
			t.Errorf("%s has code, or turns words around: %s", list, page)
		}
	}
}

// TestMyGiftsThatNobodyTakes: what a mail server refuses for good is given up, and what it says is in no log. Who could
// not be sent the gift has it in the list.
func TestMyGiftsThatNobodyTakes(t *testing.T) {
	t.Parallel()
	box, smtpServer := openServer(t, &refusing{&mailbox{make(chan string, 100)}, 550})
	s := start(t, server.Config{SMTP: smtpServer})
	g := s.sell(`{"value":25,"deliveryMethodID":1,"recipientContact":"ana@example.com"}`)
	s.become(g, "FAILED_DELIVERY")
	for len(box.letters) > 0 {
		<-box.letters
	}
	s.browser().asks("ana@example.com")
	receive(t, box.letters)
	s.eventually(func() bool { return strings.Contains(s.logs.String(), "a link to somebody's gifts was refused") })
	s.eventually(func() bool { return s.guestLinksLeft() == 0 })
	if strings.Contains(s.logs.String(), "ana@example.com") {
		t.Error("the log has an address")
	}
}
