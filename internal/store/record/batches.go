package record

import (
	"cmp"
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
)

// ByRef finds the rows that refs name, account by account and in the order of their ids.
func ByRef(s *db.Query, refs []ledger.Ref, scan func(db.Scanner) error) []db.Batch {
	refs = slices.Clone(refs)
	slices.SortFunc(refs, CompareRefs)
	return ByAccount(slices.Compact(refs), func(r ledger.Ref) guid.ID { return r.AccountID },
		func(account guid.ID, of []ledger.Ref) db.Batch {
			w := db.Batch{Query: s, Account: account, Rows: make([][]any, len(of)), Scan: scan, Shared: true}
			for i := range of {
				w.Rows[i] = []any{db.KeyOf(of[i].ID)}
			}
			return w
		})
}

// DistinctKeys sorts keys and leaves out repeats.
func DistinctKeys(keys []ledger.RequestKey) []ledger.RequestKey {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, CompareKeys)
	return slices.Compact(keys)
}

// CompareKeys puts keys in the one order in which their rows are locked.
func CompareKeys(a, b ledger.RequestKey) int {
	return cmp.Or(slices.Compare(a.AccountID[:], b.AccountID[:]), cmp.Compare(a.Key, b.Key),
		cmp.Compare(a.Operation, b.Operation))
}

// CompareRefs puts vouchers, or other records, in the one order in which their rows are locked.
func CompareRefs(a, b ledger.Ref) int {
	return cmp.Or(slices.Compare(a.AccountID[:], b.AccountID[:]), slices.Compare(a.ID[:], b.ID[:]))
}

// ByAccount makes a batch of the items of each account; they come sorted by it.
func ByAccount[T any](sorted []T, account func(T) guid.ID, make func(guid.ID, []T) db.Batch) (batches []db.Batch) {
	for len(sorted) > 0 {
		of := account(sorted[0])
		n := 1
		for n < len(sorted) && account(sorted[n]) == of {
			n++
		}
		batches = append(batches, make(of, sorted[:n:n]))
		sorted = sorted[n:]
	}
	return batches
}

// RowsOf makes rows of items.
func RowsOf[T any](s *db.Query, items []T, row func(*T) []any) db.Batch {
	w := db.Batch{Query: s, Rows: make([][]any, len(items))}
	for i := range items {
		w.Rows[i] = row(&items[i])
	}
	return w
}

// RefOf names a voucher.
func RefOf(v *gift.Voucher) ledger.Ref { return ledger.Ref{AccountID: v.AccountID, ID: v.ID} }

// AddTally counts the gifts of an account that are there.
var AddTally = &db.Query{What: "writing into tally",
	Each: `INSERT INTO tally (account_id, vouchers)
		VALUES ($1, $2) ON CONFLICT (account_id) DO UPDATE SET vouchers = tally.vouchers + excluded.vouchers`,
	Postgres: `INSERT INTO tally (account_id, vouchers)
		SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[])
		ON CONFLICT (account_id) DO UPDATE SET vouchers = tally.vouchers + excluded.vouchers`}

// AgainGoogle has the objects of gifts be written once more at Google, as erase.AgainGoogle does for one. There is no
// statement for many: of a table with few rows, PostgreSQL would read all.
var AgainGoogle = &db.Query{What: "writing into google_object", Scoped: true,
	Each: `UPDATE google_object SET told = CASE WHEN told < 0 THEN told - 1 ELSE -1 END
		WHERE account_id = $1 AND voucher_id = $2`}

// DeleteSecrets takes away what the code and the token of a gift are found by.
var DeleteSecrets = &db.Query{What: "taking codes away", Scoped: true,
	Each: `DELETE FROM secret AS t WHERE t.account_id = $1 AND t.voucher_id = $2 AND t.replaced + 0 = 0`,
	Postgres: `DELETE FROM secret AS t USING (SELECT *
			FROM unnest($1::BYTEA[], $2::BYTEA[]) AS r (account_id, voucher_id) OFFSET 0) AS w
		WHERE t.account_id = w.account_id AND t.voucher_id = w.voucher_id AND t.replaced + 0 = 0`}
