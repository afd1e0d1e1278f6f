package web

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/post/message"
)

// full is an outbox of n messages, the newest first, every third of them an SMS, and as many printed gifts.
func full(t *testing.T, n int) *fakeStore {
	t.Helper()
	s := &fakeStore{gifts: map[string]gift.Gift{}}
	for i := range n {
		m := message.Message{
			ID: guid.ID{1, byte(i >> 8), byte(i)}, Method: contact.Email, To: fmt.Sprintf("guest%d@example.com",
				i), FromName: "Harbor Coffee",
			Subject: fmt.Sprintf("A gift for you from Ben, #%d#", i), Text: fmt.Sprintf("#%d is the number",
				i), HTML: "<p>x</p>",
			At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(-time.Duration(i) * time.Minute),
		}
		if i%3 == 0 {
			m.Method, m.Subject, m.HTML = contact.SMS, "", ""
		}
		s.messages = append(s.messages, m)
		g := aGift(t)
		other, err := codes.ParseToken(fmt.Sprintf("%022d", i))
		if err != nil {
			t.Fatal(err)
		}
		g.ID, g.Card.Token, g.Card.Method, g.Card.Recipient = guid.ID{9, byte(i >> 8),
			byte(i)}, other, contact.Printed, fmt.Sprintf("Guest #%d#", i)
		s.gifts[other.Reveal()] = g
	}
	return s
}

var (
	itemLink  = regexp.MustCompile(`<p class="about"><a href="([^"]+)"`)
	olderLink = regexp.MustCompile(`<a href="([^"]+)" rel="next">`)
)

// walk follows the pages of a list and gives the addresses of its items, and how many pages there were.
func (s *fakeStore) walk(t *testing.T, path string) (items []string, pages int) {
	t.Helper()
	for path != "" {
		status, _, body := s.get(t, path)
		if pages++; status != http.StatusOK || pages > 100 {
			t.Fatalf("GET %s: %d on page %d", path, status, pages)
		}
		found := itemLink.FindAllStringSubmatch(body, -1)
		if len(found) > perPage {
			t.Errorf("%s has %d items", path, len(found))
		}
		for _, m := range found {
			items = append(items, m[1])
		}
		path = ""
		if next := olderLink.FindStringSubmatch(body); next != nil {
			path = html.UnescapeString(next[1])
		}
	}
	return items, pages
}

// TestOutboxPages: page after page, everything is listed exactly once, in order, and only what is asked for.
func TestOutboxPages(t *testing.T) {
	t.Parallel()
	const n = 130
	s := full(t, n)
	for query, want := range map[string]struct {
		items, pages int
		is           func(i int) bool
	}{
		"":                        {n, 6, func(int) bool { return true }},
		"?kind=sms":               {44, 2, func(i int) bool { return i%3 == 0 }},
		"?kind=email":             {86, 4, func(i int) bool { return i%3 != 0 }},
		"?kind=nonsense&before=x": {n, 6, func(int) bool { return true }},
		"?q=GUEST12%40example":    {1, 1, func(i int) bool { return i == 12 }},
		"?q=harbor+%235%23":       {1, 1, func(i int) bool { return i == 5 }},
		"?q=number+%237&kind=email": {8, 1, func(i int) bool {
			return i%3 != 0 &&
				strings.HasPrefix(fmt.Sprint(i), "7")
		}},
		"?q=nobody":                       {0, 1, nil},
		"?before=" + guid.ID{99}.String(): {n, 6, func(int) bool { return true }},
	} {
		got, pages := s.walk(t, "/outbox"+query)
		var all []string
		for i := range n {
			if want.is != nil && want.is(i) {
				all = append(all, "/outbox/"+s.messages[i].ID.String())
			}
		}
		if !slices.Equal(got, all) || len(all) != want.items || pages != want.pages {
			t.Errorf("%q: %d items on %d pages, want %d on %d", query, len(got), pages, want.items, want.pages)
		}
	}
	got, pages := s.walk(t, "/outbox?kind=print")
	if len(got) != n || pages != 6 || got[0] != fmt.Sprintf("/g/%022d", n-1) || got[n-1] != fmt.Sprintf("/g/%022d", 0) {
		t.Errorf("%d printed gifts on %d pages, first %v", len(got), pages, got[:1])
	}
	if got, _ := s.walk(t, "/outbox?kind=print&q=guest+%2317%23"); len(got) != 1 {
		t.Errorf("search finds %d printed gifts", len(got))
	}
	if _, _, body := s.get(t, "/outbox?kind=print"); !strings.Contains(body,
		`href="/g/`+strings.Repeat("0", 19)+`129/print.pdf">PDF</a>`) {
		t.Error("a printed gift has no link to its PDF")
	}
}

// TestOutboxSearchIsBounded: a search that finds nothing stops after a while, says so, and can be taken further.
func TestOutboxSearchIsBounded(t *testing.T) {
	t.Parallel()
	s := full(t, 0)
	for i := range scanned + 50 {
		s.messages = append(s.messages, message.Message{ID: guid.ID{1, byte(i >> 8), byte(i)}, Method: contact.SMS,
			To: "+14155550132"})
	}
	s.messages[scanned+40].To = "+14155550199"
	_, _, body := s.get(t, "/outbox?q=0199")
	if !strings.Contains(body, "Nothing found among the ones that were looked at.") {
		t.Error("the page does not tell that the search stopped")
	}
	if got, pages := s.walk(t, "/outbox?q=0199"); len(got) != 1 || pages != 2 {
		t.Errorf("%d found on %d pages", len(got), pages)
	}
}

// TestMessagePictures: what a mail carries as attachments is seen in the frame, within a sandbox that loads nothing.
func TestMessagePictures(t *testing.T) {
	t.Parallel()
	s := full(t, 2)
	m := &s.messages[1]
	m.HTML, m.QR = `<img src="cid:qr@gift"><img src="cid:logo@gift"><p>cid:logo@gift</p>`, []byte("q")
	m.Pictures = []message.Picture{{ContentID: "logo@gift", Kind: "image/jpeg", Bytes: []byte("l")}}
	_, header, body := s.get(t, "/outbox/"+m.ID.String()+"/html")
	want := fmt.Sprintf(`<img src="data:image/png;base64,%s"><img src="data:image/jpeg;base64,%s"><p>cid:logo@gift</p>`,
		base64.StdEncoding.EncodeToString([]byte("q")), base64.StdEncoding.EncodeToString([]byte("l")))
	if body != want {
		t.Errorf("the frame holds %s", body)
	}
	csp := header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "sandbox") ||
		strings.Contains(csp, "allow-scripts") || strings.Contains(csp, "allow-same-origin") {
		t.Errorf("policy %q", csp)
	}
	_, header, body = s.get(t, "/outbox/"+m.ID.String()+"/mail.eml")
	if header.Get("Content-Type") != "message/rfc822" || !strings.HasPrefix(header.Get("Content-Disposition"),
		"attachment") || !strings.HasPrefix(body, "Subject: ") {
		t.Errorf("source %v: %s", header, body)
	}
	if _, _, body = s.get(t, "/outbox/"+m.ID.String()); !strings.Contains(body, "Message-ID: &lt;"+m.ID.String()) {
		t.Error("the page does not show the headers")
	}
	if status, _, _ := s.get(t, "/outbox/"+s.messages[0].ID.String()+"/mail.eml"); status != http.StatusNotFound {
		t.Errorf("the source of an SMS: %d", status)
	}
}
