package server_test

import (
	"database/sql"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"boon.example/examples"
	"boon.example/internal/face/api"
	"boon.example/internal/racetest"
	"boon.example/internal/server"
	"boon.example/internal/store/pgtest"
)

// TestLooksChangeNothing opens every address that there is, as people, tills, link previews and scanners do, with GET
// and HEAD, follows every link, and compares all rows of all tables before and after, but for the count of calls
// without a key by address and the time at which a key was last used. A redemption in the end shows that the comparison
// would notice.
func TestLooksChangeNothing(t *testing.T) {
	const rounds = `boon_job_seconds_count{`
	racetest.SkipShort(t, "it looks at every page, one after the other")
	t.Parallel()
	pgtest.Once(t)
	s := start(t, server.Config{Outbox: true})
	printed := s.sell(`{"value":25,"deliveryMethodID":3,"recipientDescription":"Ana"}`)
	mailed := s.sell(`{"value":25,"deliveryMethodID":1,"recipientDescription":"Ana","recipientContact":"ana@example.com"}`)
	later := s.sell(`{"value":25,"deliveryMethodID":1,"recipientDescription":"Ana","recipientContact":"ana@example.com",
		"hasScheduledDelivery":true,"deliveryDate":"` + time.Now().Add(48*time.Hour).UTC().Format(time.RFC3339) + `"}`)
	s.become(mailed, "DELIVERED")
	if status, answer, err := s.callOnce("POST", redeemPath,
		examples.HarborTillKey, "look-1", `{"voucherID":"`+printed.VoucherID+`","amount":1}`); status != 200 {
		t.Fatalf("%d %s %v", status, answer, err)
	}
	s.eventually(func() bool { // each job begins with the service, and what it writes is none of the looks
		_, metrics, err := s.call("GET", "/metrics", "", "")
		return err == nil && strings.Contains(string(metrics), rounds) &&
			!regexp.MustCompile(rounds+`[^}]*} 0\b`).Match(metrics)
	})
	before := s.rows()
	addresses := []string{"/", "/nothing", "/outbox", "/docs",
		"/docs/errors", "/openapi.json", "/healthz", "/readyz", "/metrics", "/g/" + strings.Repeat("a", 22),
		"/api/integration/requests/look-1", giftPath + "?limit=2&status=DELIVERED"}
	for _, g := range []soldGift{printed, mailed, later} {
		addresses = append(addresses, "/g/"+g.VoucherPublicToken,
			"/g/"+g.VoucherPublicToken+"/print.pdf", giftPath+g.VoucherID, giftPath+g.VoucherID+"/history")
	}
	for _, r := range api.Routes() {
		addresses = append(addresses, strings.NewReplacer("{voucherID}",
			printed.VoucherID, "{key}", "look-1").Replace(r.Pattern))
	}
	if n := s.follow(addresses); n < len(addresses)+10 {
		t.Errorf("only %d addresses were opened", n)
	}
	changed := func() (all []string) {
		for table, rows := range s.rows() {
			if table != "anonymous_bucket" && table != "key_use" && !slices.Equal(rows, before[table]) {
				all = append(all, fmt.Sprintf("%s: %d rows before, %d after\n%s\n%s", table, len(before[table]), len(rows),
					strings.Join(before[table], "\n"), strings.Join(rows, "\n")))
			}
		}
		return all
	}
	if all := changed(); len(all) > 0 {
		t.Errorf("looking has changed\n%s", strings.Join(all, "\n"))
	}
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+printed.VoucherID+`","amount":1}`, nil)
	if len(changed()) == 0 {
		t.Error("not even a redemption is noticed")
	}
}

var links = regexp.MustCompile(`(?:href|src|action)="([^"#]+)`)

// follow opens addresses and what they link to here, with and without a key, and tells how many there were.
func (s *service) follow(addresses []string) int {
	seen := map[string]bool{}
	for len(addresses) > 0 {
		address := addresses[0]
		addresses = addresses[1:]
		if seen[address] {
			continue
		}
		seen[address] = true
		for _, key := range []string{"", examples.HarborWebShopKey, examples.HarborTillKey} {
			for _, agent := range []string{"Mozilla/5.0", "WhatsApp/2.23", "facebookexternalhit/1.1"} {
				s.look(http.MethodHead, address, key, agent)
				page := s.look(http.MethodGet, address, key, agent)
				for _, m := range links.FindAllStringSubmatch(page, -1) {
					to, err := url.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
					if err != nil {
						continue
					}
					base, _ := url.Parse(s.url + address)
					if to = base.ResolveReference(to); "http://"+to.Host == s.url {
						addresses = append(addresses, to.RequestURI())
					}
				}
			}
		}
	}
	return len(seen)
}

func (s *service) look(method, address, key, agent string) (page string) {
	req, err := http.NewRequest(method, s.url+address, nil)
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("User-Agent", agent)
	if key != "" {
		req.Header.Set("Authorization", key)
	}
	resp, err := client.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 500 {
		s.Fatalf("%s %s: %d %v", method, address, resp.StatusCode, err)
	}
	return string(body)
}

// rows are all rows of all tables, as text.
func (s *service) rows() map[string][]string {
	s.Helper()
	driver, source, tables, row := "sqlite", filepath.Join(s.data,
		"boon.db"), `SELECT name FROM sqlite_schema WHERE type = 'table'`, ""
	if s.database != "" {
		driver, source, tables, row = "pgx", s.database, `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND `+
			`relnamespace = 'public'::regnamespace`, "::text"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	all := map[string][]string{}
	for _, table := range s.column(db, tables) {
		all[table] = nil
	}
	for table := range maps.Keys(all) {
		what := "t" + row
		if row == "" {
			what = "json_array(" + strings.Join(s.column(db, `SELECT 'quote(t.' || name || ')' FROM `+
				`pragma_table_info('`+table+`')`), ", ") + ")"
		}
		all[table] = s.column(db, `SELECT `+what+` FROM `+table+` AS t ORDER BY 1`)
	}
	return all
}

func (s *service) column(db *sql.DB, text string) (all []string) {
	s.Helper()
	rows, err := db.QueryContext(s.Context(), text)
	if err != nil {
		s.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			s.Fatal(err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		s.Fatal(err)
	}
	return all
}
