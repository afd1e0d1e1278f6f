package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// What pgbench needs beside the tables of the service: a number for each gift, to draw one, and the current time as 16
// bytes that grow, as the service's ids do.
const pgbenchSetup = `
CREATE TABLE drawn (n bigint PRIMARY KEY, account_id bytea, id bytea);
INSERT INTO drawn SELECT row_number() OVER (), account_id, id FROM voucher;
ANALYZE drawn;
CREATE SEQUENCE n CACHE 1000;
CREATE FUNCTION new_id() RETURNS bytea LANGUAGE sql VOLATILE AS $$
SELECT decode(lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') ||
  substr(replace(gen_random_uuid()::text, '-', ''), 13), 'hex') $$`

// redemption is the SQL of one: the rows of the service's own tables, of the length of the service's. from is where the
// values come from.
func redemption(account, voucher, seq, previous, id, balance, from string) (entry, request string) {
	const micros = `(extract(epoch from clock_timestamp()) * 1000000)::bigint`
	entry = `INSERT INTO entry (account_id, id, voucher_id, seq, previous, kind, delta, balance, status, made_at, key_id, ` +
		`location_id, reverses, reference, reason, request_id, writer, n) ` +
		`SELECT ` + account + `, ` + id + `, ` + voucher + `, ` + seq + `, ` + previous + `, 'REDEMPTION', -1, ` + balance +
		`, 5, ` + micros +
		`, new_id(), new_id(), NULL, 'till 4, ticket 1187', '', encode(new_id(), 'hex'), decode(repeat('ff', 16), 'hex'), nextval('n')` + from
	request = `INSERT INTO request (account_id, key, operation, fingerprint, code, answer, sealed, entry_id, spent, ` +
		`locations, size, made_at) ` +
		`SELECT ` + account + `, encode(new_id(), 'hex'), 'redeem-gift', sha256('x'), 'OK', convert_to(repeat('x', 400), 'UTF8'), ` +
		`false, ` + id + `, false, new_id(), 0, ` +
		micros + from
	return entry, request
}

// oneTransaction does what a group of one does: lock and check, look for the key, change, enter, record.
func oneTransaction() string {
	entry, request := redemption(":account", ":voucher", ":seq", ":previous", ":entry", ":balance", "")
	return `\set n random(1, :gifts)
BEGIN;
SELECT v.account_id AS account, v.id AS voucher, v.balance - 1 AS balance, v.seq AS before, v.seq + 1 AS seq, ` +
		`v.last AS previous, new_id() AS entry ` +
		`FROM drawn AS d JOIN voucher AS v USING (account_id, id) ` +
		`WHERE d.n = :n AND v.balance > 0 FOR NO KEY UPDATE OF v \gset
SELECT r.answer FROM request AS r WHERE r.account_id = :account AND r.key = encode(:voucher, 'hex');
UPDATE voucher SET balance = :balance, status = 5, seq = :seq, last = :entry WHERE account_id = :account AND id = :voucher AND seq = :before;
` + entry + `;
` + request + `;
COMMIT;
`
}

// oneStatement does all of it at once, which no service can that has rules to ask.
func oneStatement() string {
	entry, request := redemption("v.account_id", "v.id", "v.seq", "v.previous", "v.last", "v.balance", " FROM v")
	return `\set n random(1, :gifts)
WITH o AS (SELECT v.account_id, v.id, v.last FROM drawn AS d JOIN voucher AS v USING (account_id, id) ` +
		`WHERE d.n = :n AND v.balance > 0 FOR NO KEY UPDATE OF v), v AS (` +
		`UPDATE voucher AS t SET balance = t.balance - 1, status = 5, seq = t.seq + 1, last = new_id() FROM o ` +
		`WHERE t.account_id = o.account_id AND t.id = o.id RETURNING t.account_id, t.id, t.seq, t.last, t.balance, o.last AS previous), e AS (` +
		entry + `) ` + request + `;
`
}

const pgbenchConnections = 16

// pgbench has PostgreSQL redeem by itself, in the database of the service, without a service and without HTTP.
func (h *trial) pgbench() error {
	if h.name != "postgres" {
		return nil
	}
	program, err := exec.LookPath("pgbench")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
		if len(found) == 0 {
			h.report.note("pgbench is not on this machine: left out.")
			return nil
		}
		program = found[len(found)-1]
	}
	settings, err := h.preparePgbench()
	if err != nil {
		return err
	}
	service, err := h.repeated(what{name: "redeem", target: h.target, next: h.target.Redeem(h.asked(h.gifts))}, 256)
	if err != nil {
		return err
	}
	told := ""
	for _, script := range []struct{ name, text string }{
		{"one transaction for each redemption", oneTransaction()},
		{"one statement for each, without rules,", oneStatement()},
	} {
		rates := make([]float64, h.options.repeat)
		for i := range rates {
			if rates[i], err = h.runPgbench(program, script.text); err != nil {
				return err
			}
		}
		rate := median(rates, func(f float64) float64 { return f })
		told += fmt.Sprintf("%s %s a second (the service makes %.2f times that); ", script.name, thousands(int(rate)),
			service/rate)
	}
	h.report.note("**pgbench** with the same SQL on %d connections (%s): %sthe service makes %s over HTTP.",
		pgbenchConnections, settings, told, thousands(int(service)))
	return nil
}

// repeated is the median rate of some measurements, twice as long as others.
func (h *trial) repeated(w what, connections int) (float64, error) {
	rates := make([]float64, h.options.repeat)
	for i := range rates {
		r, err := h.take(w, connections, 2*h.options.duration)
		if err != nil {
			return 0, err
		}
		rates[i] = r.rate
	}
	return median(rates, func(f float64) float64 { return f }), nil
}

// preparePgbench makes what its scripts need, and tells the settings that decide how durable a commit is, as the server
// has them.
func (h *trial) preparePgbench() (settings string, err error) {
	conn, err := pgx.Connect(h.ctx, h.place.database())
	if err != nil {
		return "", err
	}
	defer conn.Close(h.ctx)
	if _, err := conn.Exec(h.ctx, pgbenchSetup); err != nil {
		return "", err
	}
	err = conn.QueryRow(h.ctx, `SELECT 'PostgreSQL ' || current_setting('server_version') ||
		', fsync ' || current_setting('fsync') || ', synchronous_commit ' ||
		current_setting('synchronous_commit') || ', shared_buffers ' || current_setting('shared_buffers')`).Scan(&settings)
	return settings, err
}

var pgbenchRate = regexp.MustCompile(`tps = ([0-9.]+)`)

func (h *trial) runPgbench(program, script string) (float64, error) {
	file := filepath.Join(h.place.dir, "pgbench.sql")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		return 0, err
	}
	seconds := max(1, int(2*h.options.duration.Seconds()))
	c := exec.CommandContext(h.ctx, program, "--no-vacuum", "--protocol=prepared", fmt.Sprintf("--client=%d",
		pgbenchConnections), "--jobs=2",
		fmt.Sprintf("--time=%d", seconds), fmt.Sprintf("--define=gifts=%d", h.n), "--file="+file, h.place.database())
	out, err := c.CombinedOutput()
	m := pgbenchRate.FindSubmatch(out)
	if err != nil || m == nil {
		return 0, errors.Join(fmt.Errorf("pgbench: %s", out), err)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
