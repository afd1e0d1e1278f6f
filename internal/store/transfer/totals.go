package transfer

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// Totals are the figures of one account by which two databases are compared. Sums are in minor units and whole items.
type Totals struct {
	Vouchers, Funded, Balance int64
	Entries, Delta            int64
	Requests, Jobs            int64
}

type totalsByAccount = map[guid.ID]Totals

// totalQueries read the totals of all accounts, one table each, into those members.
func totalQueries(t *Totals) map[string][]any {
	return map[string][]any{
		`SELECT account_id, count(*), CAST(sum(loaded) AS BIGINT), CAST(sum(balance) AS BIGINT) FROM voucher GROUP BY account_id`: {
			&t.Vouchers, &t.Funded, &t.Balance},
		`SELECT account_id, count(*), CAST(sum(delta) AS BIGINT) FROM entry GROUP BY account_id`: {&t.Entries, &t.Delta},
		`SELECT account_id, count(*) FROM request GROUP BY account_id`:                           {&t.Requests},
		`SELECT account_id, count(*) FROM job GROUP BY account_id`:                               {&t.Jobs},
	}
}

// readTotals adds up what each account has, from the rows themselves.
func readTotals(ctx context.Context, q db.Querier) (totalsByAccount, error) {
	all := totalsByAccount{}
	var row Totals
	for query, members := range totalQueries(&row) {
		err := db.Each(ctx, q, query, nil, func(rows *sql.Rows) error {
			var account guid.ID
			row = Totals{}
			if err := rows.Scan(append([]any{db.ScanID(&account)}, members...)...); err != nil {
				return err
			}
			all[account] = all[account].Plus(row)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("adding up the accounts: %w", err)
		}
	}
	return all, nil
}

// Plus adds up.
func (t Totals) Plus(u Totals) Totals {
	return Totals{t.Vouchers + u.Vouchers, t.Funded + u.Funded, t.Balance + u.Balance, t.Entries + u.Entries,
		t.Delta + u.Delta,
		t.Requests + u.Requests, t.Jobs + u.Jobs}
}

// AccountTotals is one account in two databases.
type AccountTotals struct {
	Account  guid.ID
	From, To Totals
}

// sideBySide lists every account that either side has, in the order of their ids.
func sideBySide(from, to totalsByAccount) []AccountTotals {
	ids := maps.Clone(from)
	maps.Copy(ids, to)
	var all []AccountTotals
	for _, account := range slices.SortedFunc(maps.Keys(ids), func(a, b guid.ID) int {
		return slices.Compare(a[:],
			b[:])
	}) {
		all = append(all, AccountTotals{account, from[account], to[account]})
	}
	return all
}
