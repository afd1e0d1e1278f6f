package server_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/base/clientip"
	"boon.example/internal/boontest"
	"boon.example/internal/merchant"
	"boon.example/internal/post/mail"
	"boon.example/internal/post/sms"
	"boon.example/internal/server"
	"boon.example/internal/setup"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

func world(t *testing.T) (*mail.Server, *sms.Account) {
	t.Helper()
	smtp, err := mail.ParseServer("smtp://anna:s3cret@mail.example.com:587")
	if err != nil {
		t.Fatal(err)
	}
	twilio, err := sms.ParseAccount("twilio://AC1:s3cret@api.twilio.com?from=+14155550100")
	if err != nil {
		t.Fatal(err)
	}
	return smtp, twilio
}

// TestRefusesToStart: with gateways to the world, links must be such that a guest can open them; with the outbox, such
// that nobody can.
func TestRefusesToStart(t *testing.T) {
	t.Parallel()
	smtp, twilio := world(t)
	nearby, err := mail.ParseServer("smtp://127.0.0.1:2525?from=gifts@example.com")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		config server.Config
		says   string // "": it starts
	}{
		"SMTP without a public URL":  {server.Config{SMTP: smtp}, "--smtp"},
		"SMS without one":            {server.Config{SMS: twilio}, "--sms"},
		"SMTP and links to loopback": {server.Config{SMTP: smtp, PublicURL: "https://127.0.0.1"}, "127.0.0.1"},
		"to another loopback address": {server.Config{SMTP: smtp, PublicURL: "http://127.9.9.9:8080"},
			"127.9.9.9"},
		"to loopback, written as IPv6": {server.Config{SMTP: smtp, PublicURL: "http://[::ffff:127.0.0.1]:8080"},
			"--public-url"},
		"to localhost": {server.Config{SMTP: smtp, PublicURL: "http://LOCALHOST:8080"},
			"LOCALHOST"},
		"to a name of loopback": {server.Config{SMTP: smtp, PublicURL: "http://gifts.localhost."},
			"localhost"},
		"to every address":           {server.Config{SMS: twilio, PublicURL: "https://0.0.0.0:8080"}, "0.0.0.0"},
		"to every IPv6 address":      {server.Config{SMS: twilio, PublicURL: "https://[::]"}, "[::]"},
		"SMTP, listening everywhere": {server.Config{SMTP: smtp, Listen: ":0"}, "http://:0"},
		"SMTP with a public URL": {server.Config{SMTP: smtp,
			SMS: twilio, PublicURL: "https://gifts.example.com"}, ""},
		"SMTP on this machine": {server.Config{SMTP: nearby}, ""},
		"an outbox and links for others": {server.Config{Outbox: true, PublicURL: "https://gifts.example.com"},
			"--outbox-anyway"},
		"an outbox and no host":           {server.Config{Outbox: true, Listen: ":0"}, "--outbox-anyway"},
		"an outbox, listening everywhere": {server.Config{Outbox: true, Listen: "0.0.0.0:0"}, "--outbox-anyway"},
		"an outbox and links for others, anyway": {server.Config{Outbox: true,
			OutboxAnyway: true, PublicURL: "https://gifts.example.com"}, ""},
		"an outbox":                            {server.Config{Outbox: true}, ""},
		"an outbox and links for this machine": {server.Config{Outbox: true, PublicURL: "http://localhost:8080"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tt.config
			c.Data = filepath.Join(t.TempDir(), "data")
			if c.Listen == "" {
				c.Listen = "127.0.0.1:0"
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			started := false
			c.Ready = func(string) { started = true; stop() }
			err := server.Run(ctx, c)
			if started != (tt.says == "") || started && err != nil || !started && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("started: %v, %v; want it to say %q", started, err, tt.says)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Error("a password was told")
			}
			if !started {
				if _, also := server.Check(t.Context(), c); also == nil || also.Error() != err.Error() {
					t.Errorf("Check says %v, Run %v", also, err)
				}
			}
		})
	}
}

// TestStartsLoudly: the first lines of the log tell what is served, and what looks wrong.
func TestStartsLoudly(t *testing.T) {
	t.Parallel()
	s := &service{T: t, data: filepath.Join(t.TempDir(), "typo"), logs: &boontest.Log{}}
	s.run(server.Config{Version: "v1.2.3", PublicURL: "http://gifts.example.com"})
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	logs := s.logs.String()
	for _, want := range []string{
		`"msg":"starting","version":"v1.2.3","listen":"127.0.0.1:`, `"publicURL":"http://gifts.example.com"`,
		`"email":"none: gifts by e-mail are refused"`,
		`"store":"` + s.data + `/boon.db"`, `"accounts":"0"`,
		`"level":"WARN","msg":"new, empty store made: ` + s.data + `/boon.db"`,
		`"level":"WARN","msg":"there is no account, so that nobody can call`,
		`"level":"WARN","msg":"gift links begin with http://gifts.example.com, so that codes cross the network in the clear`,
	} {
		if !strings.Contains(logs, want) {
			t.Errorf("the log lacks %s:\n%s", want, logs)
		}
	}
	before := len(logs)
	s.apply(examples.HarborCoffee())
	trusted, err := clientip.ParseProxies("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	s.run(server.Config{PublicURL: "https://gifts.example.com", Proxies: trusted})
	if logs = s.logs.String()[before:]; strings.Contains(logs, "WARN") ||
		!strings.Contains(logs, `"accounts":"1: Harbor Coffee","locations":"2","keys":"`) {
		t.Errorf("a service where all is well says\n%s", logs)
	}
	s.beside(server.Config{})
	const other = "another boon serve uses the same data folder"
	if all := s.logs.String(); strings.Contains(logs, other) || !strings.Contains(all[before+len(logs):], other) {
		t.Errorf("the first and the second service on a folder say\n%s", all[before:])
	}
}

// TestANewStoreIsToldOfOnce: on either store, so that one that was made by mistake shows.
func TestANewStoreIsToldOfOnce(t *testing.T) {
	t.Parallel()
	s := &service{T: t, data: t.TempDir(), database: pgtest.Database(t), logs: &boontest.Log{}}
	for _, want := range []int{1, 1} {
		s.run(server.Config{})
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(s.logs.String(), "new, empty store made"); n != want {
			t.Errorf("it was told %d times, want %d:\n%s", n, want, s.logs.String())
		}
	}
}

// TestCheck: it says what a start would, and changes nothing.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	smtp, _ := world(t)
	c := server.Config{Data: s.data, Database: s.database,
		SMTP: smtp, PublicURL: "https://gifts.example.com", Listen: s.address,
		Proxies: clientip.Proxies{}, Version: "v1.2.3"}
	r, err := server.Check(t.Context(), c)
	if err != nil || len(r.Wrong) == 0 || !strings.Contains(r.Wrong[0], "--trusted-proxies") ||
		!slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "another boon serve") }) ||
		!slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, s.address+" is taken") }) ||
		!slices.Contains(r.Facts, server.Fact{Name: "email", Value: "mail.example.com"}) ||
		!slices.Contains(r.Facts, server.Fact{Name: "accounts", Value: "1: Harbor Coffee"}) {
		t.Errorf("beside a service: %+v, %v", r, err)
	}
	nowhere := filepath.Join(t.TempDir(), "typo")
	if r, err = server.Check(t.Context(), server.Config{Data: nowhere, Listen: "127.0.0.1:0"}); err != nil ||
		!slices.ContainsFunc(r.Wrong, func(w string) bool {
			return strings.Contains(w, nowhere) && strings.Contains(w, "would make a new, empty store")
		}) {
		t.Errorf("a folder that is not there: %+v, %v", r, err)
	}
	if found, _ := filepath.Glob(nowhere); found != nil {
		t.Error("the folder was made")
	}
	if _, err = server.Check(t.Context(), server.Config{Data: nowhere, Listen: s.address}); err == nil ||
		!strings.Contains(err.Error(), "another program listens") || !strings.Contains(err.Error(), "--listen") ||
		!strings.Contains(err.Error(), "If it is boon serve, name its settings with --config") {
		t.Errorf("an address that another program listens at: %v", err)
	}
}

// looksWrong reports whether something is wrong but that a database for tests is not safe from a power cut.
func looksWrong(r server.Report) bool {
	return slices.ContainsFunc(r.Wrong, func(text string) bool {
		return !strings.Contains(text, "fsync=off") && !strings.Contains(text, "full_page_writes=off")
	})
}

// TestCheckTellsWhatCannotBePrinted: texts of the set-up, and its language.
func TestCheckTellsWhatCannotBePrinted(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.apply([]byte(strings.NewReplacer("    language: en\n", "    language: ja\n", "name: Pier 39", "name: 朝顔").Replace(
		string(examples.HarborCoffee()))))
	r, err := server.Check(t.Context(), server.Config{Data: s.data, Database: s.database, Listen: "127.0.0.1:0"})
	for _, want := range []string{"account Harbor Coffee: location 朝顔 cannot be printed in whole: no font here has all " +
		"of " +
		"its characters", "account Harbor Coffee: no font here has language ja, so gifts are printed in English"} {
		if !slices.Contains(r.Notes, want) {
			t.Errorf("it is not noted that %s: %q", want, r.Notes)
		}
	}
	if err != nil || looksWrong(r) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestAccountsWithoutALanguageAreNoted: at the start and by Check, on a store that version 0.1.0 filled; that looks
// wrong to neither.
func TestAccountsWithoutALanguageAreNoted(t *testing.T) {
	t.Parallel()
	const note = "account Harbor Coffee has no language, so that its guests are written to in English"
	s := start(t, server.Config{})
	if strings.Contains(s.logs.String(), "has no language") {
		t.Errorf("it is noted of an account that has one:\n%s", s.logs)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.withStore(func(st *store.Store) error {
		return st.Configure(t.Context(), func(d *merchant.Directory, _ setup.Uses) (c setup.Changes, _ error) {
			for _, a := range d.Accounts {
				old := *a
				old.Language = ""
				c.Accounts = append(c.Accounts, &old)
			}
			return c, nil
		})
	})
	r, err := server.Check(t.Context(), server.Config{Data: s.data, Database: s.database, Listen: "127.0.0.1:0"})
	if err != nil || looksWrong(r) ||
		!slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, note) }) {
		t.Errorf("%+v, %v", r, err)
	}
	s.run(server.Config{})
	if !strings.Contains(s.logs.String(), `"level":"INFO","msg":"`+note) {
		t.Errorf("the log lacks the note:\n%s", s.logs)
	}
	status, body, err := s.call("GET", "/api/integration/gifting/gifts", examples.HarborWebShopKey, "")
	if err != nil || status != 200 {
		t.Errorf("%d %s %v", status, body, err)
	}
}

// TestRedirectsCarryThePagesHeaders: what the mux answers by itself has the headers of a page: the address in it may be
// a gift's.
func TestRedirectsCarryThePagesHeaders(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	token := strings.Repeat("a", 22)
	answer := func(method, target string) *http.Response {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte(method + " " + target + " HTTP/1.1\r\nHost: x\r\nConnection: " +
			"close\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp
	}
	page := answer("GET", "/g/"+token)
	for _, target := range []string{"GET //g/" + token, "GET /x/../g/" + token,
		"GET /g/./" + token, "GET /healthz", "POST /healthz", "GET /metrics"} {
		method, path, _ := strings.Cut(target, " ")
		resp := answer(method, path)
		for _, name := range []string{"Content-Security-Policy",
			"Cache-Control", "Referrer-Policy", "X-Robots-Tag", "X-Content-Type-Options",
			"Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Permissions-Policy"} {
			if got, want := resp.Header.Get(name), page.Header.Get(name); got != want || want == "" {
				t.Errorf("%s (%d): %s is %q, want %q", target, resp.StatusCode, name, got, want)
			}
		}
		if resp.Header.Get("X-Request-ID") == "" {
			t.Errorf("%s has no X-Request-ID", target)
		}
	}
	if resp := answer("GET", "//g/"+token); resp.StatusCode/100 != 3 {
		t.Errorf("//g/… is answered %d: nothing is redirected any more, and this test tests nothing", resp.StatusCode)
	}
}
