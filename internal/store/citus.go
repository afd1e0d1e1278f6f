package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"boon.example/internal/store/tables"
)

// citusGivesUp takes away the guards that cannot be kept where rows lie on several nodes. The engine keeps what they
// keep, and boon verify looks for it.
var citusGivesUp = []string{
	`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
	`SET LOCAL citus.enable_unsafe_triggers = on`,                          // those that are left look at their own row only
	`ALTER TABLE secret DROP CONSTRAINT secret_account_id_voucher_id_fkey`, // the gift lies elsewhere
	`ALTER TABLE secret DROP CONSTRAINT secret_account_id_voucher_id_kind_replaced_key`,
	`CREATE INDEX secret_of_voucher ON secret (account_id, voucher_id)`,
	`ALTER TABLE job DROP CONSTRAINT job_account_id_voucher_id_fkey`,
	`DROP TRIGGER entries_fit ON entry`, // it asks other tables, which Citus refuses on a shard
	`DROP TRIGGER reinstatement_fits ON entry`,
	`DROP TRIGGER entry_erased ON entry`,
	`DROP TRIGGER entries_are_events ON entry`,
	`DROP TRIGGER voucher_import_used ON voucher`, // for want of it, no import is undone there once it is finished
}

// placing are the statements that put a table in its place; $1 is the table, $2 a column and $3 the table beside which
// the rows of an account lie.
const (
	placeByAccount = `SELECT create_distributed_table($1, $2, colocate_with => $3)`
	placeReference = `SELECT create_reference_table($1)`
)

// place puts a table in its place, and says so. The first of those that are distributed by account is voucher: the
// others lie beside it.
func place(ctx context.Context, tx *sql.Tx, t *tables.Table, tell func(string)) error {
	beside, said := "none", fmt.Sprintf("%s: distributed by %s", t.Name, t.Place.By)
	if t.Place.By == "account_id" && t.Name != "voucher" {
		beside = "voucher"
		said += ", beside voucher"
	}
	var err error
	switch {
	case t.Place.Reference:
		said = t.Name + ": a copy on every node"
		_, err = tx.ExecContext(ctx, placeReference, t.Name)
	case t.Place.By != "":
		_, err = tx.ExecContext(ctx, placeByAccount, t.Name, t.Place.By, beside)
	default:
		return nil // it stays on the coordinator
	}
	if err != nil {
		return fmt.Errorf("%s: %w", said, err)
	}
	tell(said)
	return nil
}

// inOrderOfPlaces are all tables: voucher first, beside which others lie, and then what is distributed, so that what a
// reference table holds keeps no other waiting.
func inOrderOfPlaces() []tables.Table {
	order := func(t *tables.Table) int {
		switch {
		case t.Name == "voucher":
			return 0
		case t.Place.By != "":
			return 1
		}
		return 2
	}
	all := slices.Clone(tables.All)
	slices.SortStableFunc(all, func(a, b tables.Table) int { return order(&a) - order(&b) })
	return all
}

// Distribute spreads the tables over the nodes of a Citus cluster, in one transaction, and tells each step to
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
		for _, statement := range citusGivesUp {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
			tell(statement)
		}
		for _, t := range inOrderOfPlaces() {
			if err := place(ctx, tx, &t, tell); err != nil {
				return err
			}
		}
		return nil
	})
}
