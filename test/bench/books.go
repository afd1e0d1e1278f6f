package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"boon.example/internal/command/load"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

// What the books are measured with.
const (
	booksAccount  = "0199b000-0000-7000-8000-000000000001"
	dayAccount    = "0199b000-0000-7000-8000-000000000002"
	booksKey      = "boon_live_books_0123456789abcdef0123456789abcdef"
	booksTill     = "boon_live_bookstill_0123456789abcdef0123456789abcdef"
	booksFront    = "0199b000-0000-7000-8000-000000000003"
	booksShops    = 20
	booksDays     = 365       // over which the gifts were sold
	dayEntries    = 1_000_000 // of the day whose closing is measured
	booksTills    = 20_000    // gifts that tills redeem meanwhile
	entriesOfGift = 4
	checkedDays   = 1         // of those that were summed up past the service
	booksWritten  = "written" // a file that says that all gifts of a kept store are there
	// Until a service has run for so long, each report reads the entries of the whole day that is open.
	booksReady = 75 * time.Second
)

// booksSetup is a merchant with many locations of four companies, and one whose only gifts are of one day.
func booksSetup() string {
	var b strings.Builder
	fmt.Fprintf(&b, `accounts:
  - id: %s
    name: Books
    currency: EUR
    timeZone: Europe/Berlin
    language: de
    limits: {giftsPerDay: 1000000000}
    books: {accounts: {liability: "1700", promotion: "4600", clearing: "1360", cash: "1000"}}
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}]
    storefronts: [{id: %s, name: Web}]
    keys: [{name: office, role: all, secret: %s},
      {name: till, role: all, secret: %s, locations: [0199b000-0000-7000-8000-000000000100]}]
    locations:
`, booksAccount, booksFront, booksKey, booksTill)
	for n := range booksShops {
		fmt.Fprintf(&b, "      - {id: 0199b000-0000-7000-8000-0000000001%02x, name: Shop %d, legalEntity: Company %d}\n", n,
			n+1, n%4+1)
	}
	fmt.Fprintf(&b, "  - {id: %s, name: Day, currency: EUR, timeZone: Europe/Berlin, language: de, storefronts: [], "+
		"subscriptions: [{program: 22222222-2222-2222-2222-222222222222}]}\n", dayAccount)
	return b.String()
}

// books measures reports over a tenth of -books gifts and over all of them, while tills redeem.
func (h *trial) books() error {
	var small map[string]time.Duration
	sizes := []int{h.options.books / 10, h.options.books}
	if h.options.keep {
		sizes = sizes[1:]
	}
	for _, n := range sizes {
		took, err := h.booksOf(n, small)
		if err != nil {
			return fmt.Errorf("%d gifts: %w", n, err)
		}
		small = took
	}
	return nil
}

// booksOf makes a store with so many gifts, closes its days, and makes every report; it notes how long that took,
// beside what it took over fewer.
func (h *trial) booksOf(n int, small map[string]time.Duration) (took map[string]time.Duration, err error) {
	day := small != nil || h.options.keep
	p, made, err := h.booksPlace(n)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, p.stop()); !h.options.keep {
			err = errors.Join(err, os.RemoveAll(p.dir))
		}
	}()
	if err := p.start(h.name); err != nil {
		return nil, err
	}
	if !made {
		if err := h.writeBooks(p, n, day); err != nil {
			return nil, err
		}
	}
	if err := h.closeBooks(p, n, day); err != nil || h.options.repeat == 0 {
		return nil, err
	}
	return h.reports(p, n, small)
}

// booksPlace is where a store with so many gifts is or will be. It is made where it is not kept from an earlier run.
func (h *trial) booksPlace(n int) (p *place, made bool, err error) {
	if !h.options.keep {
		p, err = newPlace(h.options.stock)
		return p, false, err
	}
	kind, err := kindOf()
	if err != nil {
		return nil, false, err
	}
	p = &place{dir: filepath.Join(h.options.stock, fmt.Sprintf("books-%s-%d-%s", h.name, n, kind))}
	_, err = os.Stat(filepath.Join(p.dir, booksWritten))
	switch {
	case err == nil:
		return p, true, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, false, err
	}
	return p, false, errors.Join(os.RemoveAll(p.dir), os.MkdirAll(p.dir, 0o755), os.Chmod(p.dir, 0o755))
}

// writeBooks writes so many gifts into a new store, and the day with many entries if it is asked for.
func (h *trial) writeBooks(p *place, n int, day bool) error {
	s, err := store.Open(h.ctx, store.Options{Dir: p.data(), Database: p.database()})
	if err != nil {
		return err
	}
	file, err := setup.Parse("books", []byte(booksSetup()))
	if err == nil {
		_, err = file.Apply(h.ctx, s, time.Now(), rand.Reader)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	progress("%s: %d gifts with %d entries", stores[h.name], n, entriesOfGift*n)
	if err := p.writeHistory(h.ctx, booksAccount, n, booksDays*24*time.Hour, booksDays*24*time.Hour, 0); err != nil {
		return err
	}
	if day {
		begun := 10*24*time.Hour + time.Duration(time.Now().UTC().Hour()-6)*time.Hour // in the day, ten days ago
		err := p.writeHistory(h.ctx, dayAccount, dayEntries/entriesOfGift, begun, time.Hour, begun-6*time.Hour)
		if err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(p.dir, booksWritten), nil, 0o644)
}

// writeHistory writes gifts into the database past the service: over HTTP so many would take hours. They were sold
// from an age on, evenly over a span; each was redeemed three times between then and another age.
func (p *place) writeHistory(ctx context.Context, account string, n int, from, span, until time.Duration) error {
	d, err := p.sql()
	if err != nil {
		return err
	}
	defer d.Close()
	words := postgresWords()
	if p.server == nil {
		if words, err = sqliteWords(ctx, d); err != nil {
			return err
		}
	}
	statements := slices.Concat(words.before, words.historyOf(account, n, from, span, until), words.after)
	for _, s := range statements {
		if _, err := d.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%.200s: %w", s, err)
		}
	}
	return nil
}

// sql is one connection to the database, past the service: on PostgreSQL that of the superuser, who alone may leave
// foreign keys unchecked.
func (p *place) sql() (*sql.DB, error) {
	driver, address := "sqlite", p.data()+"/boon.db"
	if p.server != nil {
		driver, address = "pgx", p.server.Admin
	}
	d, err := sql.Open(driver, address)
	if err == nil {
		d.SetMaxOpenConns(1)
	}
	return d, err
}

// words are how a database says what a history is written with.
type words struct {
	before, after []string // what guards entries one by one is off meanwhile
	yes, no       string
	blob          func(hex string) string
	id            func(at string, k int) string // of the time at, for the gift g.n
	series        func(n int) string            // the numbers g.n below n
	shop          func(by string) string
}

func postgresWords() *words {
	return &words{before: []string{"SET session_replication_role = replica", "SET synchronous_commit = off"},
		after: []string{"ANALYZE voucher, entry"}, yes: "true", no: "false",
		blob: func(hex string) string { return `'\x` + strings.ReplaceAll(hex, "-", "") + "'::BYTEA" },
		id: func(at string, k int) string {
			return fmt.Sprintf("decode(lpad(to_hex(%s), 12, '0') || '7%03x8' || lpad(to_hex(g.n), 15, '0'), 'hex')", at, k)
		},
		series: func(n int) string { return fmt.Sprintf("generate_series(0::BIGINT, %d) AS g (n)", n-1) },
		shop: func(by string) string {
			return fmt.Sprintf("decode('0199b0000000700080000000000001' || lpad(to_hex((%s) %% %d), 2, '0'), 'hex')", by,
				booksShops)
		},
	}
}

func sqliteWords(ctx context.Context, d *sql.DB) (*words, error) {
	w := &words{before: []string{"PRAGMA synchronous = OFF", "PRAGMA cache_size = -300000"}, yes: "1", no: "0",
		blob: func(hex string) string { return "unhex('" + strings.ReplaceAll(hex, "-", "") + "')" },
		id: func(at string, k int) string {
			return fmt.Sprintf("unhex(printf('%%012x7%%03x8%%015x', %s, %d, g.n))", at, k)
		},
		series: func(n int) string {
			return fmt.Sprintf("(WITH RECURSIVE g (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM g WHERE n < %d) "+
				"SELECT n FROM g) AS g", n-1)
		},
		shop: func(by string) string {
			return fmt.Sprintf("unhex(printf('0199b0000000700080000000000001%%02x', (%s) %% %d))", by, booksShops)
		},
	}
	rows, err := d.QueryContext(ctx, `SELECT name, sql FROM sqlite_master
		WHERE type = 'trigger' AND tbl_name = 'entry' AND sql LIKE '%BEFORE INSERT%'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, err
		}
		w.before, w.after = append(w.before, "DROP TRIGGER "+name), append(w.after, text)
	}
	return w, rows.Err()
}

// historyOf are the statements that write gifts and their entries, one for each entry of a gift, so that rows come in
// the order of their ids.
func (w *words) historyOf(account string, n int, from, span, until time.Duration) []string {
	now := time.Now()
	issued := fmt.Sprintf("(%d + g.n * %d / %d)", now.Add(-from).UnixMilli(), span.Milliseconds(), n)
	at := func(k int) string { // of the k-th entry
		return fmt.Sprintf("(%s + (%d - %s) * %d / 10)", issued, now.Add(-until).UnixMilli(), issued, 3*k)
	}
	all := []string{fmt.Sprintf(`INSERT INTO voucher (account_id, id, order_id, program_id, item, promotional, currency,
			decimals, loaded, balance, status, seq, last, created_at, made_by, fixed)
		SELECT %s, %s, %s, %s, %s, CASE WHEN g.n %% 10 = 0 THEN %s ELSE %s END, 'EUR', 2, 2500, 1000, 3, 4, %s, %s * 1000, '', 0
		FROM %s`, w.blob(account), w.id(issued, 0xfff), w.id(issued, 0xffe), w.blob("22222222222222222222222222222222"), w.no,
		w.yes, w.no, w.id(at(3), 3), issued, w.series(n))}
	for k := range entriesOfGift {
		kind, delta, place := "REDEMPTION", -500, w.shop(fmt.Sprintf("g.n * 7 + %d", k))
		previous := w.id(at(k-1), k-1)
		if k == 0 { // a fifth was sold online
			kind, delta, previous, place = "ISSUED", 0, "NULL", "CASE WHEN g.n % 5 > 0 THEN "+w.shop("g.n")+" END"
		}
		all = append(all, fmt.Sprintf(`INSERT INTO entry (account_id, id, voucher_id, seq, previous, kind, delta, balance,
				status, made_at, key_id, location_id, reference, reason, request_id, writer, n)
			SELECT %s, %s, %s, %d, %s, '%s', %d, %d, 3, %s * 1000, %s, %s, '', '', '', %s, g.n * %d + %d FROM %s`,
			w.blob(account), w.id(at(k), k), w.id(issued, 0xfff), k+1, previous, kind, delta, 2500-500*k, at(k),
			w.shop("g.n"), place, w.blob("0199b0000000700080000000000000ff"), entriesOfGift, k+1, w.series(n)))
	}
	return all
}

// closeBooks closes all days, and notes how long that took, and the one with many entries.
func (h *trial) closeBooks(p *place, n int, day bool) (err error) {
	s, err := store.Open(h.ctx, store.Options{Dir: p.data(), Database: p.database()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	d, err := s.Directory(h.ctx)
	if err != nil {
		return err
	}
	if h.options.keep {
		if err := p.sumUp(h.ctx, d.Accounts[mustParse(booksAccount)], n); err != nil {
			return fmt.Errorf("summing up: %w", err)
		}
		wrong := ""
		err := s.CheckDays(h.ctx, d.Accounts[mustParse(booksAccount)], checkedDays, func(problem string) { wrong = problem })
		if err != nil || wrong != "" {
			return errors.Join(err, errors.New(wrong))
		}
	}
	days, took := 0, time.Duration(0)
	longest := func(a *merchant.Account) (longest time.Duration, err error) {
		for {
			next, ok, err := s.NextDay(h.ctx, a)
			if err != nil || !ok || next.Until.After(time.Now()) {
				return longest, err
			}
			begun := time.Now()
			if _, err := s.CloseDay(h.ctx, a, next, begun); err != nil {
				return longest, err
			}
			days, took = days+1, took+time.Since(begun)
			if days%30 == 0 {
				progress("%s: %d days closed", stores[h.name], days)
			}
			longest = max(longest, time.Since(begun))
		}
	}
	for _, id := range []string{booksAccount, dayAccount} {
		account, err := guid.Parse(id)
		if err != nil {
			return err
		}
		at, err := longest(d.Accounts[account])
		switch {
		case err != nil:
			return err
		case at == 0: // all were closed before
		case id == booksAccount:
			h.report.note("**the books of %s gifts with %s entries**: %d days closed in %.0f s of background, the longest "+
				"in %.1f s.", thousands(n), thousands(entriesOfGift*n), days, took.Seconds(), at.Seconds())
		case day:
			h.report.note("**closing a day of %s entries**: %.1f s of background.", thousands(dayEntries), at.Seconds())
		}
	}
	return nil
}

// reportsAsked are the reports that are measured, of a year and of now.
func reportsAsked() map[string]string {
	now := time.Now().UTC()
	year, month := now.AddDate(-1, 0, 0).Format(time.DateOnly), now.AddDate(0, -1, 0).Format(time.DateOnly)
	yesterday := now.AddDate(0, 0, -2).Format(time.DateOnly)
	return map[string]string{
		"ageing":             "ageing",
		"breakage":           "breakage?rate=7.5",
		"dormant":            "dormant?months=6",
		"liability":          "liability?groupBy=program,organization,month",
		"liability, a past":  "liability?at=" + now.AddDate(0, -6, 0).Format("2006-01-02T15:04:05Z"),
		"roll-forward":       "roll-forward?from=" + year,
		"redemptions":        "redemptions?from=" + year + "&groupBy=organization,program",
		"redemptions by day": "redemptions?from=" + year + "&groupBy=day",
		"settlement":         "settlement?from=" + year,
		"journal of a month": "journal?from=" + month + "&to=" + yesterday,
	}
}

// reports makes each report some times while tills redeem, one report a second, and notes the medians. Between the
// rounds nobody asks for reports: the p99 of the tills of each round is held against that.
func (h *trial) reports(p *place, n int, small map[string]time.Duration) (took map[string]time.Duration, err error) {
	service, err := p.serve()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, service.stop()) }()
	var gifts []load.Gift
	err = newShop(service, booksKey, booksFront).stock(h.ctx, booksTills, func(made []load.Gift) {
		gifts = append(gifts, made...)
	})
	if err != nil {
		return nil, err
	}
	target, err := load.NewTarget("http://"+service.address, booksTill)
	if err != nil {
		return nil, err
	}
	progress("%s: the service sums up the day that is open", stores[h.name])
	time.Sleep(booksReady)
	asked := reportsAsked()
	tills := load.Plan{Target: target, Connections: 16, Duration: time.Duration(len(asked)) * time.Second, Rate: tillRate,
		Next: target.Redeem(&load.Orders{Gifts: gifts, Amount: "0.01", Sale: load.Sale("25", booksFront, "bench-sale")})}
	all := map[string][]time.Duration{}
	var idle, beside, times []float64
	var allIdle, allBeside load.Histogram // one round has only 20 calls that are slower than its p99
	for round := range h.options.repeat {
		without, err := h.during(nil, tills)
		if err != nil {
			return nil, err
		}
		traced := h.traced(service, "reports", round)
		with, err := h.besideReports(service, tills, asked, all)
		if err = errors.Join(err, traced()); err != nil {
			return nil, err
		}
		idle, beside = append(idle, ms(without.OK.Quantile(0.99))), append(beside, ms(with.OK.Quantile(0.99)))
		times = append(times, beside[len(beside)-1]/idle[len(idle)-1])
		allIdle.Merge(&without.OK)
		allBeside.Merge(&with.OK)
	}
	figure := func(f float64) float64 { return f }
	h.report.note("**tills beside reports of %s gifts**: p99 %.2f ms, without reports %.2f ms (medians of %d rounds); "+
		"%.2f times that without reports (median; %.2f to %.2f), and %.2f times over all rounds together.", thousands(n),
		median(beside, figure), median(idle, figure), h.options.repeat, median(times, figure), slices.Min(times),
		slices.Max(times), ms(allBeside.Quantile(0.99))/ms(allIdle.Quantile(0.99)))
	return h.noteReports(n, all, small), nil
}

// noteReports notes how long each report took, and gives the medians.
func (h *trial) noteReports(n int, all map[string][]time.Duration,
	small map[string]time.Duration) (took map[string]time.Duration) {
	took = map[string]time.Duration{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		took[name] = time.Duration(median(all[name], func(d time.Duration) float64 { return float64(d) }))
		compared := ""
		if small != nil {
			compared = fmt.Sprintf(", %.1f times that of a tenth", took[name].Seconds()/small[name].Seconds())
		}
		h.report.note("**%s of %s gifts with %s entries**: %.0f ms (%.0f to %.0f)%s.", name, thousands(n),
			thousands(entriesOfGift*n), ms(took[name]), ms(slices.Min(all[name])), ms(slices.Max(all[name])), compared)
	}
	return took
}

// besideReports makes each report once, one a second, while tills redeem, and adds how long each took.
func (h *trial) besideReports(service *child, tills load.Plan, asked map[string]string,
	took map[string][]time.Duration) (*load.Stats, error) {
	busy, err := load.Start(h.ctx, tills)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		begun := time.Now()
		if err := askReport(h.ctx, service, asked[name]); err != nil {
			busy.Wait()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		took[name] = append(took[name], time.Since(begun))
		time.Sleep(time.Until(begun.Add(time.Second)))
	}
	busy.Wait()
	return busy.Stats(), failure(busy.Stats())
}

// askReport asks for a report and reads it.
func askReport(ctx context.Context, service *child, path string) error {
	_, _, err := service.get(ctx, booksKey, "/api/integration/reports/"+path)
	return err
}
