package record

import (
	"database/sql"

	"boon.example/internal/chain"
	"boon.example/internal/gift"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
)

// EntryFields are where the columns of an entry are read into, in the order of InsertEntry; its place in its hash chain
// comes after them.
func EntryFields(e *gift.Entry) []any {
	return []any{
		db.ScanID(&e.AccountID), db.ScanID(&e.ID), db.ScanID(&e.VoucherID), &e.Seq, db.ScanID(&e.Previous), &e.Kind, &e.Delta,
		&e.Balance, &e.Status, db.ScanTime(&e.At),
		db.ScanID(&e.Actor.KeyID), db.ScanID(&e.Actor.LocationID), db.ScanID(&e.Reverses), db.ScanID(&e.HoldID), &e.Held,
		db.ScanTime(&e.Until), &e.Reference, &e.Reason, &e.RequestID, scanDetails{e},
		scanHeldAfter{&e.HeldAfter}, &e.Actor.Address, &e.Actor.Till,
	}
}

// InsertEntry writes rows that EntryRow made.
var InsertEntry = &db.Query{What: "writing into entry",
	Each: `INSERT INTO entry (account_id, id, voucher_id, seq, previous, kind, delta, balance, status, made_at,
			key_id, location_id, reverses, hold_id, held, held_until, reference, reason, request_id, details,
			held_after, address, till, writer, n)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
			$22, $23, $24, $25)`,
	Postgres: `INSERT INTO entry (account_id, id, voucher_id, seq, previous, kind, delta, balance, status, made_at,
			key_id, location_id, reverses, hold_id, held, held_until, reference, reason, request_id, details,
			held_after, address, till, writer, n)
		SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[], $4::BIGINT[], $5::BYTEA[], $6::TEXT[],
			$7::BIGINT[], $8::BIGINT[], $9::BIGINT[], $10::BIGINT[], $11::BYTEA[], $12::BYTEA[], $13::BYTEA[],
			$14::BYTEA[], $15::BIGINT[], $16::BIGINT[], $17::TEXT[], $18::TEXT[], $19::TEXT[], $20::TEXT[],
			$21::BIGINT[], $22::TEXT[], $23::BOOLEAN[], $24::BYTEA[], $25::BIGINT[])`}

// EntryRow is an entry with its place in its hash chain, in the order of InsertEntry.
func EntryRow(e *gift.Entry, at chain.Place) []any {
	return []any{
		db.KeyOf(e.AccountID), db.KeyOf(e.ID), db.KeyOf(e.VoucherID), e.Seq, db.OrNull(e.Previous), string(e.Kind),
		int64(e.Delta), int64(e.Balance), int64(e.Status), db.Micros(e.At),
		db.OrNull(e.Actor.KeyID), db.OrNull(e.Actor.LocationID), db.OrNull(e.Reverses), db.OrNull(e.HoldID),
		int64(e.Held), db.Micros(e.Until), e.Reference, e.Reason, e.RequestID,
		DetailsText(e), heldAfter(e.HeldAfter), e.Actor.Address, e.Actor.Till, db.KeyOf(at.Writer), at.N,
	}
}

// heldAfter is what was held as a column has it: NULL where that was not noted.
func heldAfter(a money.Amount) any {
	if a == gift.HeldUnknown {
		return nil
	}
	return int64(a)
}

type scanHeldAfter struct{ to *money.Amount }

// Scan reads the column.
func (s scanHeldAfter) Scan(column any) error {
	var n sql.NullInt64
	err := n.Scan(column)
	if *s.to = money.Amount(n.Int64); !n.Valid {
		*s.to = gift.HeldUnknown
	}
	return err
}
