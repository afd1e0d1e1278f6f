package transfer

import (
	"fmt"
	"strings"

	"boon.example/internal/store/db"
	"boon.example/internal/store/hooks"
	"boon.example/internal/store/record"
	"boon.example/internal/store/setup"
)

// Table is what moving a store from one database to another needs to know of one of its tables.
type Table struct {
	Name    string
	Key     []string // the primary key, by which its rows are put in order; the first of columns
	Columns []string
	Types   string    // of the columns, as in inserting
	Insert  *db.Query // a row
	// What the destination is told before its rows come and after.
	Before, After db.Text
}

// Tables are all that an installation is, each after those that its rows refer to. Rows of a history come in the
// order in which they were made, so that the guards on histories let them pass. Two tables belong to a database
// itself and are not among them: schema_version and key_check.
var Tables = []Table{
	newTable("setup_version", 1, "one, version", "NN"),
	newTable("forgotten", 1, "one, before, at", "NNN"),
	newTable("verification", 1, "one, state, since, problems, first", "NTNNT"),
	newTable("account", 1, "id, config, version", "BTN"),
	newTable("asset", 2, "account_id, hash, kind, bytes", "BBTB"),
	newTable("api_key", 1, "id, kind, account_id, name, hint, hash, locations, created_at, expires_at, revoked_at, "+
		"permissions, limits, accounts, programs, till, networks, test", "BTBTTBBNNNTTBBNTF"),
	newTable("test_clock", 1, "account_id, ahead, target, key", "BNNT"),
	newTable("setup_change", 1, setup.ChangeColumns, "NNNTTBBB"),
	newTable("trail", 2, setup.TrailColumns, "BBNBTTTTTT"),
	newTable("used_record", 2, "account_id, record_id", "BB"),
	newTable("item_list", 2, "account_id, id, items", "BBT"),
	newTable("voucher", 2, record.VoucherColumns+", v.held, v.holds_end, v.expiring_told, v.expired_told",
		record.VoucherTypes+"NNNN"),
	newTable("order_terms", 2, "account_id, order_id, terms, promotional_terms", "BBTT"),
	newTable("card", 2, record.CardColumns+", c.delivered_by, c.terms_of_order", record.CardTypes+"BF"),
	newTable("secret", 1, record.SecretColumns, record.SecretTypes),
	newTable("gift_search", 3, "account_id, key, voucher_id", "BBB"),
	newTable("tally", 1, "account_id, vouchers", "BN"),
	newTable("chain", 2, record.ChainColumns, "BNBB"),
	newTable("entry", 2, record.PlacedColumns, record.PlacedTypes),
	newTable("erasure", 2, record.ErasureColumns, record.ErasureTypes),
	// The guards on entries have kept it already while these came.
	newTable("given_back", 2, "account_id, redemption_id, amount, parts", "BBNN").
		replacing(` ON CONFLICT (account_id, redemption_id) DO UPDATE SET amount = excluded.amount, parts = excluded.parts`),
	// Likewise, but at positions of its own, and those that come are in cursors.
	newTable("event", 2, "account_id, position, made_at, kinds, entries, body", "BNNTBT").
		around(db.Text{Postgres: `DELETE FROM event`}, db.Text{Postgres: `SELECT setval('event_position',
			(SELECT coalesce(max(position), 1) FROM event))`}),
	newTable("request", 3, record.RequestColumns+", r.replays", record.RequestTypes+"N"),
	newTable("answer", 3, "account_id, key, operation, locations, body", "BTTBB"),
	newTable("job", 2, "account_id, id, voucher_id, due, claimable_at, attempts, last_words, kind, doubts, method, "+
		"contact, test, trace", "BBBNNNTTNNTFT"),
	newTable("resend", 3, "account_id, voucher_id, seq, id, made_at, method, contact", "BBNBNNT"),
	newTable("sheet", 1, "hash, order_id, until, owner", "BBNB"),
	newTable("outbox", 1, "id, made_at, message, account_id, voucher_id", "BNBBB"),
	newTable("till_bucket", 3, "account_id, key_id, location_id, full_at, taken_at", "BBBNN"),
	newTable("till_shift", 2, "account_id, key_id, until", "BBN"),
	newTable("key_miss", 2, "account_id, key_id, since, misses", "BBNN"),
	newTable("day_count", 2, "account_id, what, day, amount, gifts, messages, texts, kept", "BBNNNNNN"),
	newTable("anonymous_bucket", 1, "address_hash, full_at, taken_at", "BNN"),
	newTable("key_use", 1, "key_id, used_at", "BN"),
	newTable("webhook", 2, setup.WebhookColumns, setup.WebhookTypes),
	newTable("webhook_state", 2, "account_id, webhook_id, state", "BBT"),
	newTable("webhook_lease", 1, "account_id, owner, claimed_at, until", "BBNN"),
	newTable("webhook_attempt", 3, hooks.AttemptColumns, hooks.AttemptTypes),
}

// newTable takes columns and types as inserting does; the first keys of them are the primary key.
func newTable(name string, keys int, columns, types string) Table {
	names := db.ColumnNames(columns)
	return Table{Name: name, Key: names[:keys], Columns: names, Types: types,
		Insert: db.InsertRows(name, columns, types, "")}
}

// replacing makes the table one whose rows may be there before they come.
func (t Table) replacing(rest string) Table {
	t.Insert = db.InsertRows(t.Name, strings.Join(t.Columns, ", "), t.Types, rest)
	return t
}

// around makes the table one whose destination is told something before its rows come and after.
func (t Table) around(before, after db.Text) Table {
	t.Before, t.After = before, after
	return t
}

// tableNames lists them all.
func tableNames() string {
	names := make([]string, len(Tables))
	for i, t := range Tables {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// SelectAll reads all rows in the order of the key.
func (t *Table) SelectAll() string {
	return fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", strings.Join(t.Columns, ", "), t.Name, strings.Join(t.Key, ", "))
}
