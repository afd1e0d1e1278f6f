package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// placement says where Citus puts a table.
type placement struct {
	table string
	by    string // the column that it is distributed by; "": see whole
	whole bool   // a reference table: a copy on every node; else it stays on the coordinator
}

// placements are all tables. What grows with the accounts is distributed by account, and the rows of an account are
// together.
var placements = []placement{
	{table: "voucher", by: "account_id"}, // the first: the others that have this column lie beside it
	{table: "item_list", by: "account_id"},
	{table: "card", by: "account_id"},
	{table: "entry", by: "account_id"},
	{table: "erasure", by: "account_id"},
	{table: "event", by: "account_id"},
	{table: "request", by: "account_id"},
	{table: "answer", by: "account_id"},
	{table: "order_terms", by: "account_id"},
	{table: "given_back", by: "account_id"},
	{table: "resend", by: "account_id"},
	{table: "gift_search", by: "account_id"},
	{table: "tally", by: "account_id"},
	{table: "used_record", by: "account_id"},
	{table: "till_bucket", by: "account_id"},
	{table: "till_shift", by: "account_id"},
	{table: "key_miss", by: "account_id"},
	{table: "day_count", by: "account_id"},
	{table: "webhook_state", by: "account_id"},
	{table: "trail", by: "account_id"},
	{table: "webhook_attempt", by: "account_id"},
	{table: "secret", by: "hash"}, // whoever shows a code does not know the account
	{table: "sheet", by: "hash"},
	{table: "chain", by: "writer"}, // a row is about entries of several accounts
	{table: "anonymous_bucket", by: "address_hash"},
	{table: "outbox", by: "id"},
	{table: "account", whole: true},
	{table: "api_key", whole: true},
	{table: "asset", whole: true}, // mails find pictures by their hash
	{table: "webhook", whole: true},
	{table: "setup_version", whole: true},
	{table: "forgotten", whole: true},
	{table: "verification", whole: true},
	{table: "setup_change", whole: true},
	{table: "key_check", whole: true},
	{table: "schema_version", whole: true},
	{table: "key_use"},       // a row for each key, written every few minutes
	{table: "webhook_lease"}, // those of all accounts are claimed together
	// jobs of all accounts are claimed together, with SKIP LOCKED, which Citus does not do over several nodes
	{table: "job"},
	{table: "test_clock"}, // read with them
}

// citusGivesUp are the guards that cannot be kept where rows lie on several nodes. The engine keeps what they keep,
// and boon verify looks for it.
var citusGivesUp = []string{
	`ALTER TABLE secret DROP CONSTRAINT secret_account_id_voucher_id_fkey`, // the gift lies elsewhere
	`ALTER TABLE secret DROP CONSTRAINT secret_account_id_voucher_id_kind_replaced_key`,
	`CREATE INDEX secret_of_voucher ON secret (account_id, voucher_id)`,
	`ALTER TABLE job DROP CONSTRAINT job_account_id_voucher_id_fkey`,
	`DROP TRIGGER entries_fit ON entry`, // it asks other tables, which Citus refuses on a shard
	`DROP TRIGGER reinstatement_fits ON entry`,
	`DROP TRIGGER entry_erased ON entry`,
	`DROP TRIGGER entries_are_events ON entry`,
}

// citusStatements are all that makes a database a distributed one, in order.
func citusStatements() []string {
	all := append([]string{
		`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
		`SET LOCAL citus.enable_unsafe_triggers = on`, // those that are left look at their own row only
	}, citusGivesUp...)
	for i, p := range placements {
		switch {
		case p.by != "" && i > 0 && p.by == placements[0].by:
			all = append(all, fmt.Sprintf(`SELECT create_distributed_table('%s', '%s', colocate_with => '%s')`, p.table, p.by,
				placements[0].table))
		case p.by != "":
			all = append(all, fmt.Sprintf(`SELECT create_distributed_table('%s', '%s', colocate_with => 'none')`, p.table, p.by))
		case p.whole:
			all = append(all, fmt.Sprintf(`SELECT create_reference_table('%s')`, p.table))
		}
	}
	return all
}

// Distribute spreads the tables over the nodes of a Citus cluster, in one transaction, and hands each statement to
// tell. Where that was done before, nothing is. It refuses a database without the extension.
func (s *Store) Distribute(ctx context.Context, tell func(statement string)) error {
	if s.db.File != "" {
		return errors.New("only a PostgreSQL database with the extension citus can be distributed; name it with --database")
	}
	var has int
	if err := s.db.Readers.QueryRowContext(ctx,
		`SELECT count(*) FROM pg_extension WHERE extname = 'citus'`).Scan(&has); err != nil {
		return fmt.Errorf("looking for citus: %w", err)
	}
	if has == 0 {
		return errors.New("the extension citus is not in this database; run CREATE EXTENSION citus in it on every node " +
			"first, " +
			"and leave --citus out where there is one node only")
	}
	if err := s.db.Readers.QueryRowContext(ctx,
		`SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = 'voucher'::regclass`).Scan(&has); err != nil {
		return fmt.Errorf("looking for citus: %w", err)
	}
	if has > 0 {
		return nil
	}
	return s.distribute(ctx, tell)
}

func (s *Store) distribute(ctx context.Context, tell func(string)) error {
	return s.db.WriteInBackground(ctx, func(tx *sql.Tx) error {
		for _, statement := range citusStatements() {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
			tell(statement)
		}
		return nil
	})
}
