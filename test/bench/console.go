package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"time"

	"boon.example/internal/face/console"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/guid"
	"boon.example/internal/setup"
	"boon.example/internal/staff"
	"boon.example/internal/store"
)

const (
	// consoleTimes is how often each page of the console is opened.
	consoleTimes = 20
	mostSumming  = 10 * time.Minute
	benchAccount = "0199a000-0000-7000-8000-000000000001"
)

// console measures how long the service takes over each page of the console that somebody looks at, and over what is
// typed into its search. With -pages, none may take longer, or have more than 100 KB. The stock may have been made in
// the day that is open: the pages are measured once the service has summed that day up, and a line tells how long that
// took.
func (h *trial) console() error {
	progress("%s: the console", h.title())
	v, order, err := h.staff()
	if err != nil {
		return err
	}
	took, err := v.untilSummedUp()
	if err != nil {
		return err
	}
	h.report.printf(&h.report.notes, "\nToday had figures %.1f s after the service was asked first.\n", took.Seconds())
	var failed []error
	rows := "Page of the console | KB | with style and scripts | p50 ms | longest ms\n---|--:|--:|--:|--:\n"
	for _, s := range v.consolePages(order) {
		row, err := v.measurePage(s)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
		}
		rows += row
	}
	h.report.printf(&h.report.notes, "\n%s\n", rows)
	return errors.Join(failed...)
}

// untilSummedUp waits until Today has figures: a service that has begun sums up the entries of the open day first.
func (v *reader) untilSummedUp() (time.Duration, error) {
	today := pageOfConsole{path: desk.Home(mustParse(benchAccount)) + "today"}
	for begun := time.Now(); ; time.Sleep(time.Second) {
		page, err := v.open(today)
		took := time.Since(begun)
		if err != nil || bytes.Contains(page, []byte(`id="in-USD"`)) {
			return took, err
		}
		if took > mostSumming {
			return took, errors.New("Today has no figures")
		}
	}
}

// staff is the browser of an owner, with the order of a stock of cards.
func (h *trial) staff() (*reader, string, error) {
	token, err := h.ownerSignsIn()
	if err != nil {
		return nil, "", err
	}
	at, err := url.Parse("http://" + h.service.address)
	if err != nil {
		return nil, "", err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, "", err
	}
	jar.SetCookies(at, []*http.Cookie{{Name: "boon", Value: token, Path: "/"}})
	v := &reader{trial: h, base: at.String(), http: &http.Client{Jar: jar}}
	r, err := http.NewRequestWithContext(h.ctx, http.MethodPost, v.base+"/api/integration/gifting/create-stock",
		strings.NewReader(`{"count":1000,"value":25}`))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := v.http.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	var made struct{ OrderID string }
	if err = json.NewDecoder(resp.Body).Decode(&made); err == nil && made.OrderID == "" {
		err = fmt.Errorf("making a stock: %s", resp.Status)
	}
	return v, made.OrderID, err
}

// ownerSignsIn makes a session of an owner of the account.
func (h *trial) ownerSignsIn() (token string, err error) {
	s, err := store.Open(h.ctx, store.Options{Dir: h.place.data(), Database: h.place.database()})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	file, err := setup.Parse("bench", []byte(setupFile))
	if err != nil {
		return "", err
	}
	if _, err := file.Apply(h.ctx, s, time.Now(), rand.Reader); err != nil {
		return "", err
	}
	account, err := guid.Parse(benchAccount)
	if err != nil {
		return "", err
	}
	d, err := s.Directory(h.ctx)
	if err != nil {
		return "", err
	}
	err = s.ChangeStaff(h.ctx, account, func(members []staff.Member) (c staff.Changes, err error) {
		now := time.Now()
		m, err := staff.Hire(d.Accounts[account], members, staff.Member{Email: "owner@example.com", Role: staff.Owner}, now)
		m.JoinedAt = m.InvitedAt
		begun := m.Begin("bench", "127.0.0.1", now)
		token = begun.Token
		return staff.Changes{Save: []staff.Member{m}, Begin: []staff.Begun{begun}}, err
	})
	return token, err
}

// typed is what is typed into the search of the console.
type typed struct{ name, text string }

// consolePages are the pages that somebody looks at, with what they are about filled in, and searches.
func (v *reader) consolePages(order string) (all []pageOfConsole) {
	home := desk.Home(mustParse(benchAccount))
	gift := v.gifts[len(v.gifts)/2].ID.String()
	fill := strings.NewReplacer("{voucher}", gift, "{order}", order, "{$}", "", "{record}", "new",
		"{section}", "promotions")
	for _, p := range console.Pages() {
		method, path, _ := strings.Cut(p.Pattern, " ")
		if method != http.MethodGet || p.Open || p.Outside || slices.Contains([]string{"/till", "/audit/file",
			"/confirm/provider"}, path) { // which leads to the till, asks for a period, and needs a provider
			continue
		}
		paths := []string{fill.Replace(path)}
		if strings.Contains(path, "{name}") {
			paths = nil
			for _, report := range []string{"liability", "roll-forward", "redemptions", "settlement", "ageing",
				"breakage?rate=5", "dormant?months=12"} {
				name, number, asked := strings.Cut(report, "?")
				at := strings.Replace(path, "{name}", name, 1)
				if asked {
					at += "?" + number
				}
				paths = append(paths, fill.Replace(at))
			}
		}
		for _, path := range paths {
			if !strings.Contains(path, "{") {
				all = append(all, pageOfConsole{name: "`" + path + "`", path: strings.TrimSuffix(home, "/") + path})
			}
		}
	}
	all = append(all, pageOfConsole{name: "its gifts that are cancelled", path: home + "gifts?status=CANCELLED"})
	for _, t := range []typed{{"code", fmt.Sprintf("%012d", v.gifts[0].Code)}, {"last four digits", "0042"},
		{"id", gift}, {"name", "bench"}, {"address", "nobody@example.com"}, {"sale", "bench-order"}} {
		all = append(all, pageOfConsole{name: "search by " + t.name, path: home + "search",
			form: url.Values{"q": {t.text}}})
	}
	return all
}

// mustParse reads an id of this program.
func mustParse(text string) guid.ID {
	id, err := guid.Parse(text)
	if err != nil {
		panic(err)
	}
	return id
}

// pageOfConsole is a page of the console, or what is sent to one.
type pageOfConsole struct {
	name, path string
	form       url.Values // nil: it is looked at
}

// open opens a page.
func (v *reader) open(s pageOfConsole) ([]byte, error) {
	method := http.MethodGet
	if s.form != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(v.ctx, method, v.base+s.path, strings.NewReader(s.form.Encode()))
	if err != nil {
		return nil, err
	}
	if s.form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := v.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	switch missing := resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusConflict; {
	case err != nil:
	case resp.Request.URL.Path != s.path && s.form == nil && bytes.Contains(page, []byte(`name="password"`)):
		err = errors.New("nobody is signed in")
	case resp.StatusCode >= http.StatusBadRequest && !missing:
		err = fmt.Errorf("%s: %.300s", resp.Status, page)
	}
	return page, err
}

// measurePage opens a page again and again.
func (v *reader) measurePage(s pageOfConsole) (row string, err error) {
	took := make([]time.Duration, 0, consoleTimes)
	var page []byte
	for range consoleTimes {
		begun := time.Now()
		if page, err = v.open(s); err != nil {
			return "", err
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	p50, longest := took[len(took)/2], took[len(took)-1]
	weight := len(page)
	if bytes.HasPrefix(page, []byte("<!doctype")) {
		if weight, err = v.weigh(page); err != nil {
			return "", err
		}
	}
	if most := v.options.pages; most > 0 && (p50 > most || weight > heaviest) {
		err = fmt.Errorf("it took %v and has %d bytes; %v and %d are allowed", p50, weight, most, heaviest)
	}
	return fmt.Sprintf("%s | %.1f | %.1f | %.1f | %.1f\n", s.name, float64(len(page))/1000, float64(weight)/1000, ms(p50),
		ms(longest)), err
}
