package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"boon.example/internal/store/db"
	"boon.example/internal/store/tables"
)

// oneByOne has instances that start at once wait for each other.
const oneByOne = `SELECT pg_advisory_xact_lock(7304619)`

// given is a guard that cannot be kept where rows lie on several nodes.
type given struct{ table, guard, statement string }

// citusGivesUp takes away the guards that cannot be kept where rows lie on several nodes. The engine keeps what they
// keep, and boon verify looks for it.
var citusGivesUp = []given{
	constraint("secret", "secret_account_id_voucher_id_fkey"), // the gift lies elsewhere
	constraint("secret", "secret_account_id_voucher_id_kind_replaced_key"),
	constraint("job", "job_account_id_voucher_id_fkey"),
	trigger("entry", "entries_fit"), // it asks other tables, which Citus refuses on a shard
	trigger("entry", "reinstatement_fits"),
	trigger("entry", "entry_erased"),
	trigger("entry", "entries_are_events"),
	trigger("voucher", "voucher_import_used"), // for want of it, no import is undone there once it is finished
}

// secretsOfGifts finds the secrets of a gift, which a constraint did that is given up.
const secretsOfGifts = `CREATE INDEX IF NOT EXISTS secret_of_voucher ON secret (account_id, voucher_id)`

func constraint(table, name string) given {
	return given{table, name, `ALTER TABLE ` + table + ` DROP CONSTRAINT ` + name}
}

func trigger(table, name string) given {
	return given{table, name, `DROP TRIGGER ` + name + ` ON ` + table}
}

// guards are the guards that a table has.
const guards = `SELECT c.conname::text FROM pg_constraint AS c WHERE c.conrelid = to_regclass($1)
	UNION ALL SELECT g.tgname::text FROM pg_trigger AS g WHERE g.tgrelid = to_regclass($1)`

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
	return s.db.WriteInBackground(ctx, func(tx *sql.Tx) error { return spread(ctx, tx, inOrderOfPlaces(), tell) })
}

// placeNew puts tables in their places that a later step of the schema made in a database that is spread already. It
// does nothing to one that is not.
func placeNew(ctx context.Context, d *db.DB) error {
	if !d.Spread || d.KeepSchema {
		return nil
	}
	placed, err := placedTables(ctx, d.Readers)
	if err != nil || !placed["voucher"] || !slices.ContainsFunc(tables.All, func(t tables.Table) bool {
		return t.Place != tables.Place{} && !placed[t.Name]
	}) {
		return err
	}
	return d.WriteInBackground(ctx, func(tx *sql.Tx) error { return spread(ctx, tx, inOrderOfPlaces(), func(string) {}) })
}

// placedTables are the tables that Citus has placed.
func placedTables(ctx context.Context, q db.Querier) (placed map[string]bool, err error) {
	placed = map[string]bool{}
	const all = `SELECT p.logicalrelid::regclass::text FROM pg_dist_partition AS p 
		WHERE p.partmethod = 'h' OR p.repmodel = 't'`
	err = db.Each(ctx, q, all, nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		placed[name] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asking Citus which tables it has placed: %w", err)
	}
	return placed, nil
}

// spread takes away the guards that Citus cannot keep, and puts tables in their places. What was done before is not
// done again.
func spread(ctx context.Context, tx *sql.Tx, all []tables.Table, tell func(string)) error {
	run := func(statement string) error {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		return nil
	}
	for _, statement := range slices.Concat(db.SpreadSettings, []string{oneByOne}) {
		if err := run(statement); err != nil {
			return err
		}
	}
	placed, err := placedTables(ctx, tx)
	if err != nil {
		return err
	}
	if err := giveUp(ctx, tx, run, tell); err != nil {
		return err
	}
	for _, t := range all {
		if placed[t.Name] {
			continue
		}
		if err := place(ctx, tx, &t, tell); err != nil {
			return err
		}
	}
	return nil
}

func giveUp(ctx context.Context, tx *sql.Tx, run func(string) error, tell func(string)) error {
	for _, g := range citusGivesUp {
		has := false
		err := db.Each(ctx, tx, guards, []any{g.table}, func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			has = has || name == g.guard
			return err
		})
		if err != nil {
			return fmt.Errorf("looking for guards of %s: %w", g.table, err)
		}
		if !has {
			continue
		}
		if err := run(g.statement); err != nil {
			return err
		}
		tell(g.statement)
	}
	return run(secretsOfGifts)
}
