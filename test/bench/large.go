package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"boon.example/internal/command/load"
)

// largeSet is how many gifts are in use, of however many there are.
const largeSet = 50_000

// large measures a service over few gifts and one over many, in turn: both are asked for the same gifts. While one is
// measured, the other is stopped.
func (h *trial) large() (err error) {
	place, err := h.grown(h.options.large)
	if err != nil {
		return err
	}
	if err = place.start(h.name); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.stop()) }()
	service, err := place.serve()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.stop()) }()
	target, err := load.NewTarget("http://"+service.address, key)
	if err != nil {
		return err
	}
	sides := []side{{h.service, h.place, h.target}, {service, place, target}}
	asked := h.asked(h.gifts[:min(largeSet, len(h.gifts))])
	for _, s := range sides {
		warm := load.Plan{Target: s.target, Next: s.target.Validate(asked), Connections: 64, Duration: 20 * time.Second}
		if _, err := s.measure(h.ctx, sides, warm); err != nil {
			return err
		}
	}
	var slow error
	for _, call := range []string{"validate", "redeem", "redeem by the code"} {
		for _, connections := range h.options.connections {
			slow = errors.Join(slow, h.inTurn(sides, asked, call, connections))
		}
	}
	return slow
}

// side is one of the services that are measured in turn.
type side struct {
	service *child
	place   *place
	target  *load.Target
}

// inTurn measures a call of both sides in each round, and notes by how much the second one is slower.
func (h *trial) inTurn(sides []side, asked *load.Orders, call string, connections int) error {
	plan := load.Plan{Connections: connections, Duration: h.options.duration}
	var all [2][]reading
	for round := range h.options.repeat + 1 { // the first one warms up
		for i, s := range sides {
			plan.Target, plan.Next = s.target, s.target.Validate(asked)
			switch call {
			case "redeem":
				plan.Next = s.target.Redeem(asked)
			case "redeem by the code":
				plan.Next = s.target.RedeemByCode(asked)
			}
			r, err := s.measure(h.ctx, sides, plan)
			if err != nil {
				return fmt.Errorf("%s over %d connections: %w", call, connections, err)
			}
			if round > 0 {
				all[i] = append(all[i], r)
			}
		}
	}
	times, costs := make([]float64, h.options.repeat), make([]float64, h.options.repeat) // within the same round
	for n := range times {
		few, many := all[0][n], all[1][n]
		times[n] = few.rate / many.rate
		costs[n] = (many.cpu.service + many.cpu.database) / (few.cpu.service + few.cpu.database)
	}
	itself := func(f float64) float64 { return f }
	rate := func(r reading) float64 { return r.rate }
	slower := median(times, itself)
	h.report.note("**%s of %s gifts, among %s in place of %s**, over %d connections: %s calls a second in place of %s; "+
		"each takes %.2f times as long (%.2f to %.2f), and %.2f times the CPU (%.2f to %.2f).",
		call, thousands(len(asked.Gifts)),
		thousands(h.options.large), thousands(h.n), connections, thousands(int(median(all[1], rate))),
		thousands(int(median(all[0], rate))), slower, slices.Min(times), slices.Max(times), median(costs, itself),
		slices.Min(costs), slices.Max(costs))
	if most := h.options.slower; most > 0 && slower > most {
		return fmt.Errorf("%s: %s among %d gifts takes %.2f times as long, and %g are allowed", h.title(), call,
			h.options.large, slower, most)
	}
	return nil
}

// measure measures a side while the others are stopped: what they do at rest takes none of its time.
func (s side) measure(ctx context.Context, sides []side, plan load.Plan) (r reading, err error) {
	for _, other := range sides {
		if other.service != s.service {
			process := other.service.cmd.Process
			if err := process.Signal(syscall.SIGSTOP); err != nil {
				return r, err
			}
			defer func() { err = errors.Join(err, process.Signal(syscall.SIGCONT)) }()
		}
	}
	used := func() (c cpu) {
		c.service = ticks(s.service.cmd.Process.Pid).own
		if s.place.server != nil {
			c.database = family(s.place.server.PID())
		}
		return c
	}
	before := used()
	run, err := load.Start(ctx, plan)
	if err != nil {
		return r, err
	}
	run.Wait()
	done := run.Stats().OK.Count()
	r = reading{rate: float64(done) / run.Took().Seconds(), cpu: used().since(before, done)}
	return r, failure(run.Stats())
}

// grown is a stock with so many gifts, made from that of the trial. Its place is worked on itself: to copy it would
// take as long as to measure.
func (h *trial) grown(n int) (*place, error) {
	from, err := stocked(h.ctx, h.options, h.name, h.n)
	if err != nil {
		return nil, err
	}
	p := &place{dir: fmt.Sprintf("%s-grown-%d", from, n)}
	if _, err := os.Stat(p.dir); !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	progress("making %d gifts of %d in %s; they are kept there for the next time", n, h.n, p.dir)
	growing, err := copyOf(h.options, from)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(growing.dir)
	begun := time.Now()
	if err = growing.start(h.name); err == nil {
		err = errors.Join(growing.grow(h.ctx, (n-1)/h.n, h.gifts[0]), growing.stop())
	}
	if err != nil {
		return nil, err
	}
	progress("made them in %s", time.Since(begun).Round(time.Second))
	return p, os.Rename(growing.dir, p.dir)
}

// grow writes copies of each gift into the database past the service: over HTTP so many would take hours. Each copy is
// seven weeks older than the one before it. They are in no hash chain. One of the gifts tells how their ids begin.
func (p *place) grow(ctx context.Context, copies int, one load.Gift) (err error) {
	w := &grower{copies: copies, newest: int(binary.BigEndian.Uint16(one.ID[:]))}
	address := filepath.Join(p.data(), "boon.db")
	if w.driver = "sqlite"; p.server != nil {
		w.driver, address = "pgx", p.server.Admin
	}
	d, err := sql.Open(w.driver, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	d.SetMaxOpenConns(1)
	statements := []string{"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -2000000",
		"PRAGMA temp_store = MEMORY"}
	if w.driver == "pgx" { // the server's own guards and those of foreign keys
		statements = []string{"SET session_replication_role = replica", "SET synchronous_commit = off"}
	}
	var after []string
	if w.driver == "sqlite" {
		words, err := sqliteWords(ctx, d)
		if err != nil {
			return err
		}
		statements, after = append(statements, words.before[2:]...), append(words.after, "PRAGMA journal_mode = WAL")
	}
	for _, table := range grownTables {
		columns, err := w.columns(ctx, d, table.name)
		if err != nil {
			return err
		}
		statements = append(statements, w.copy(table.name, table.changed, columns)...)
	}
	statements = append(statements, fmt.Sprintf("UPDATE tally SET vouchers = vouchers * %d", copies+1))
	if w.driver == "pgx" {
		after = []string{"VACUUM ANALYZE"}
	}
	for _, s := range append(statements, after...) {
		if _, err := d.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%.200s: %w", s, err)
		}
	}
	return nil
}

// grownTables are the tables with rows of each gift, and what differs in each copy: an id or a time is that of an older
// gift, a hash is another one.
var grownTables = []struct {
	name    string
	changed map[string]change
}{
	{"voucher", map[string]change{"id": olderID, "order_id": olderID, "last": olderID, "created_at": olderTime}},
	{"card", map[string]change{"voucher_id": olderID}},
	{"secret", map[string]change{"voucher_id": olderID, "hash": otherHash}},
	{"gift_search", map[string]change{"voucher_id": olderID, "key": otherHash}},
	{"entry", map[string]change{"id": olderID, "voucher_id": olderID, "previous": olderID, "made_at": olderTime,
		"writer": noChain}},
	{"request", map[string]change{"key": otherKey, "entry_id": olderID, "made_at": olderTime}},
}

// change is how a column differs in a copy of a row.
type change int

const (
	olderID change = iota + 1
	olderTime
	otherHash
	otherKey
	noChain
)

// grower writes the statements that copy rows, in the words of a database.
type grower struct {
	driver string
	copies int
	newest int // the first two bytes of ids: they count steps of 2^32 milliseconds
}

func (w *grower) columns(ctx context.Context, d *sql.DB, table string) (all []string, err error) {
	query := `SELECT name FROM pragma_table_info($1)`
	if w.driver == "pgx" {
		query = `SELECT column_name FROM information_schema.columns WHERE table_name = $1 AND table_schema = 'public'`
	}
	rows, err := d.QueryContext(ctx, query, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		all = append(all, name)
	}
	return all, rows.Err()
}

// copy are the statements that add the copies of a table's rows, the oldest first.
func (w *grower) copy(table string, changed map[string]change, columns []string) []string {
	values := make([]string, len(columns))
	for i, c := range columns {
		values[i] = w.value(changed[c], "s."+c)
	}
	series := fmt.Sprintf("(WITH RECURSIVE g (k) AS (SELECT %d UNION ALL SELECT k - 1 FROM g WHERE k > 1) "+
		"SELECT k FROM g) AS g", w.copies)
	return []string{
		fmt.Sprintf("CREATE TEMP TABLE seed_%s AS SELECT * FROM %[1]s", table),
		fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s CROSS JOIN seed_%[1]s AS s", table, strings.Join(columns, ", "),
			strings.Join(values, ", "), series),
		"DROP TABLE seed_" + table,
	}
}

// value is a column of the copy g.k of a row.
func (w *grower) value(c change, column string) string {
	embedded := w.driver == "sqlite"
	switch {
	case c == olderTime:
		return fmt.Sprintf("%s - g.k * 4294967296000", column)
	case c == otherKey:
		return column + " || '-' || g.k"
	case c == noChain && embedded:
		return "zeroblob(16)"
	case c == noChain:
		return "decode(repeat('00', 16), 'hex')"
	case c == olderID && embedded:
		return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN unhex(printf('%%04x', %d - g.k) || substr(hex(%[1]s), 5)) END",
			column, w.newest)
	case c == olderID:
		return fmt.Sprintf("int2send((%d - g.k)::INT2) || substr(%s, 3)", w.newest, column)
	case c == otherHash && embedded:
		return fmt.Sprintf("unhex(hex(substr(%s, 1, 1)) || hex(randomblob(length(%[1]s) - 1)))", column)
	case c == otherHash:
		return fmt.Sprintf("substr(%s, 1, 1) || substr(sha256(%[1]s || int4send(g.k)), 1, length(%[1]s) - 1)", column)
	}
	return column
}
