package record

import (
	"database/sql"

	"boon.example/internal/chain"
	"boon.example/internal/gift"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
)

// EntryColumns are those of an entry.
const EntryColumns = `e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status, e.made_at, e.key_id, ` +
	`e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference, e.reason, e.request_id, e.details, e.held_after, e.address, e.till`

// EntryFields are where EntryColumns are read into.
func EntryFields(e *gift.Entry) []any {
	return []any{
		db.ScanID(&e.AccountID), db.ScanID(&e.ID), db.ScanID(&e.VoucherID), &e.Seq, db.ScanID(&e.Previous), &e.Kind, &e.Delta,
		&e.Balance, &e.Status, db.ScanTime(&e.At),
		db.ScanID(&e.Actor.KeyID), db.ScanID(&e.Actor.LocationID), db.ScanID(&e.Reverses), db.ScanID(&e.HoldID), &e.Held,
		db.ScanTime(&e.Until), &e.Reference, &e.Reason, &e.RequestID, scanDetails{e},
		scanHeldAfter{&e.HeldAfter}, &e.Actor.Address, &e.Actor.Till,
	}
}

// PlacedColumns are EntryColumns and the entry's place in its hash chain.
const PlacedColumns = EntryColumns + `, e.writer, e.n`

// PlacedTypes are the types of PlacedColumns: see db.InsertRows.
const PlacedTypes = "BBBNBTNNNNBBBBNNTTTTNTFBN"

// InsertEntry writes rows that EntryRow made.
var InsertEntry = db.InsertRows("entry", PlacedColumns, PlacedTypes, "")

// EntryRow is an entry with its place in its hash chain, as PlacedColumns have it.
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
