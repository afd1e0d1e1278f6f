package store

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// The statements of a group that sends gifts again, or at another time.
var (
	selectDeliveries = &db.Query{What: "reading deliveries", Scoped: true,
		SQLite: `SELECT c.account_id, c.voucher_id, c.method, c.contact, c.scheduled, c.delivery_date,
				c.delivery_zone, c.delivered_at, c.attachment
			FROM json_each($2) AS w CROSS JOIN card AS c
			WHERE c.account_id = $1 AND c.voucher_id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT c.account_id, c.voucher_id, c.method, c.contact, c.scheduled, c.delivery_date,
					c.delivery_zone, c.delivered_at, c.attachment
				FROM card AS c
				WHERE c.account_id = w.account_id AND c.voucher_id = w.key OFFSET 0) AS found`,
		Citus: `SELECT c.account_id, c.voucher_id, c.method, c.contact, c.scheduled, c.delivery_date,
				c.delivery_zone, c.delivered_at, c.attachment
			FROM card AS c
			WHERE c.account_id = $1 AND c.voucher_id = ANY($2::BYTEA[])`}
	selectJobs = &db.Query{What: "reading jobs", Scoped: true,
		SQLite: `SELECT j.account_id, j.voucher_id, j.id, j.due, j.claimable_at, j.attempts, j.doubts
			FROM json_each($2) AS w CROSS JOIN job AS j
			WHERE j.account_id = $1 AND j.kind = '' AND j.voucher_id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT j.account_id, j.voucher_id, j.id, j.due, j.claimable_at, j.attempts, j.doubts
				FROM job AS j
				WHERE j.account_id = w.account_id AND j.kind = ''
					AND j.voucher_id = w.key FOR NO KEY UPDATE OFFSET 0) AS found`,
		Citus: `SELECT j.account_id, j.voucher_id, j.id, j.due, j.claimable_at, j.attempts, j.doubts
			FROM job AS j
			WHERE j.account_id = $1 AND j.kind = '' AND j.voucher_id = ANY($2::BYTEA[])
			ORDER BY j.voucher_id FOR NO KEY UPDATE`}
	selectResends = &db.Query{What: "reading resends", Scoped: true,
		SQLite: `SELECT r.account_id, r.voucher_id, r.seq, r.id, r.made_at, r.method, r.contact
			FROM json_each($2) AS w CROSS JOIN resend AS r
			WHERE r.account_id = $1 AND r.voucher_id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT r.account_id, r.voucher_id, r.seq, r.id, r.made_at, r.method, r.contact
				FROM resend AS r
				WHERE r.account_id = w.account_id AND r.voucher_id = w.key OFFSET 0) AS found`,
		Citus: `SELECT r.account_id, r.voucher_id, r.seq, r.id, r.made_at, r.method, r.contact
			FROM resend AS r
			WHERE r.account_id = $1 AND r.voucher_id = ANY($2::BYTEA[])`}

	insertResend = &db.Query{What: "writing into resend",
		Each: `INSERT INTO resend (account_id, voucher_id, seq, id, made_at, method, contact)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		Postgres: `INSERT INTO resend (account_id, voucher_id, seq, id, made_at, method, contact)
			SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BIGINT[], $4::BYTEA[], $5::BIGINT[],
				$6::BIGINT[], $7::TEXT[])`}
	updateDelivery = &db.Query{What: "redirecting gifts", Scoped: true, Exact: true,
		Each: `UPDATE card AS t SET method = $2, contact = $3, scheduled = $4, delivery_date = $5,
				delivery_zone = $6, attachment = $7
			WHERE t.account_id = $1 AND t.voucher_id = $8`,
		Postgres: `WITH hit AS (
				UPDATE card AS t SET method = w.method, contact = w.contact, scheduled = w.scheduled,
					delivery_date = w.delivery_date, delivery_zone = w.delivery_zone, attachment = w.attachment
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::TEXT[], $4::BOOLEAN[], $5::BIGINT[],
					$6::TEXT[], $7::TEXT[], $8::BYTEA[])
					AS r (account_id, method, contact, scheduled, delivery_date, delivery_zone, attachment,
						voucher_id) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.voucher_id = w.voucher_id RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BIGINT[]))::INT FROM hit`}
	updateJob = &db.Query{What: "rescheduling jobs", Scoped: true, Exact: true,
		Each: `UPDATE job AS t SET due = $2, claimable_at = $3, attempts = $4, last_words = ''
			WHERE t.account_id = $1 AND t.id = $5`,
		Postgres: `WITH hit AS (
				UPDATE job AS t SET due = w.due, claimable_at = w.claimable_at, attempts = w.attempts,
					last_words = ''
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BYTEA[])
					AS r (account_id, due, claimable_at, attempts, id) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.id = w.id RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BIGINT[]))::INT FROM hit`}
)

// wantDeliveries wants to know how gifts are delivered, and locks their open jobs, so that no worker can claim them.
func (g *group) wantDeliveries(wanted []ledger.Ref) []db.Batch {
	deliveries := record.ByRef(selectDeliveries, wanted, func(from db.Scanner) error {
		var ref ledger.Ref
		var w gift.Delivery
		err := from.Scan(db.ScanID(&ref.AccountID), db.ScanID(&ref.ID), &w.Method, &w.Contact, &w.Scheduled,
			db.ScanTime(&w.DeliveryDate), &w.DeliveryZone,
			db.ScanTime(&w.DeliveredAt), &w.Attachment)
		g.state.Deliveries[ref] = &ledger.Delivery{Delivery: w}
		return err
	})
	return append(deliveries, record.ByRef(selectJobs, wanted, func(from db.Scanner) error {
		var j ledger.Job
		var claimable time.Time
		err := from.Scan(db.ScanID(&j.AccountID), db.ScanID(&j.VoucherID), db.ScanID(&j.ID), db.ScanTime(&j.Due),
			db.ScanTime(&claimable), &j.Attempts, &j.Doubts)
		if !claimable.Equal(j.Due) {
			j.Lease = claimable
		}
		if p := g.state.Deliveries[ledger.Ref{AccountID: j.AccountID, ID: j.VoucherID}]; p != nil {
			p.Jobs = append(p.Jobs, j)
		}
		return err
	})...)
}

// wantResends wants to know when gifts were sent again, and where they went before.
func (g *group) wantResends(wanted []ledger.Ref) []db.Batch {
	return record.ByRef(selectResends, wanted, func(from db.Scanner) error {
		var r ledger.Resent
		err := from.Scan(db.ScanID(&r.AccountID), db.ScanID(&r.VoucherID), &r.Seq, db.ScanID(&r.ID), db.ScanTime(&r.At),
			&r.Method, &r.Contact)
		ref := ledger.Ref{AccountID: r.AccountID, ID: r.VoucherID}
		all := append(g.state.Resends[ref], r)
		slices.SortFunc(all, func(a, b ledger.Resent) int { return cmp.Compare(a.Seq, b.Seq) })
		g.state.Resends[ref] = all
		return err
	})
}

// saveResends writes which gifts were sent again, and how they are delivered now.
func saveResends(c *ledger.Changes) []db.Batch {
	newest := map[ledger.Ref]int{} // a gift that was changed twice is written once
	for i, w := range c.DeliveryChanges {
		newest[ledger.Ref{AccountID: w.AccountID, ID: w.VoucherID}] = i
	}
	var deliveries []ledger.DeliveryChange
	for i, w := range c.DeliveryChanges {
		if newest[ledger.Ref{AccountID: w.AccountID, ID: w.VoucherID}] == i {
			deliveries = append(deliveries, w)
		}
	}
	slices.SortFunc(deliveries, func(a, b ledger.DeliveryChange) int {
		return record.CompareRefs(ledger.Ref{AccountID: a.AccountID, ID: a.VoucherID}, ledger.Ref{AccountID: b.AccountID,
			ID: b.VoucherID})
	})
	batches := record.ByAccount(deliveries, func(w ledger.DeliveryChange) guid.ID { return w.AccountID },
		func(account guid.ID, of []ledger.DeliveryChange) db.Batch {
			w := record.RowsOf(updateDelivery, of, func(r *ledger.DeliveryChange) []any {
				return []any{int64(r.Delivery.Method), r.Delivery.Contact, r.Delivery.Scheduled, db.Micros(r.Delivery.DeliveryDate),
					r.Delivery.DeliveryZone, string(r.Delivery.Attachment), db.KeyOf(r.VoucherID)}
			})
			w.Account = account
			return w
		})
	return append(batches, record.RowsOf(insertResend, c.Resends, func(r *ledger.Resent) []any {
		return []any{db.KeyOf(r.AccountID), db.KeyOf(r.VoucherID), r.Seq, db.KeyOf(r.ID), db.Micros(r.At), int64(r.Method),
			r.Contact}
	}))
}

// A sum keeps the planner from looking for all secrets that are not replaced, which are nearly all.
var (
	markSecrets = &db.Query{What: "marking codes as replaced", Scoped: true, Exact: true,
		Each: `UPDATE secret AS t SET replaced = $2 WHERE t.account_id = $1 AND t.voucher_id = $3 AND t.kind = $4 AND t.replaced + 0 = 0`,
		Postgres: `WITH hit AS (
				UPDATE secret AS t SET replaced = w.replaced
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BYTEA[], $4::TEXT[])
					AS r (account_id, replaced, voucher_id, kind) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.voucher_id = w.voucher_id AND t.kind = w.kind
					AND t.replaced + 0 = 0 RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BIGINT[]))::INT FROM hit`}
	updateSecrets = &db.Query{What: "replacing codes", Scoped: true, Exact: true,
		Each: `UPDATE card AS t SET secrets = $2 WHERE t.account_id = $1 AND t.voucher_id = $3`,
		Postgres: `WITH hit AS (
				UPDATE card AS t SET secrets = w.secrets
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[])
					AS r (account_id, secrets, voucher_id) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.voucher_id = w.voucher_id RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BYTEA[]))::INT FROM hit`}
)

// saveRekeyed gives gifts other secrets. The hashes of those before are gone, so that nobody finds the gift by them; of
// a card that was replaced they are marked, so that it is known as such.
func (g *group) saveRekeyed(rekeyed []ledger.Rekeyed) (batches []db.Batch) {
	byGift := map[ledger.Ref][]ledger.Rekeyed{}
	for _, r := range rekeyed {
		ref := ledger.Ref{AccountID: r.AccountID, ID: r.VoucherID}
		byGift[ref] = append(byGift[ref], r)
	}
	refs := slices.SortedFunc(maps.Keys(byGift), record.CompareRefs)
	added := db.Batch{Query: record.InsertSecret}
	var gone, replaced []ledger.Ref
	for _, ref := range refs {
		all := byGift[ref]
		if all[0].Replaced > 0 {
			replaced = append(replaced, ref)
		} else {
			gone = append(gone, ref)
		}
		for n, r := range all {
			taken := 0 // by a later change in this group
			if n+1 < len(all) {
				if taken = all[n+1].Replaced; taken == 0 {
					continue
				}
			}
			code, token := record.SecretRows(g.db.Keys, ref.AccountID, ref.ID, r.Code, r.Token, taken)
			added.Rows = append(added.Rows, code, token)
		}
	}
	account := func(r ledger.Ref) guid.ID { return r.AccountID }
	batches = append(record.ByRef(record.DeleteSecrets, gone, nil),
		record.ByAccount(replaced, account, func(account guid.ID, of []ledger.Ref) db.Batch {
			w := db.Batch{Query: markSecrets, Account: account}
			for _, ref := range of {
				for _, kind := range []string{record.CodeSecret, record.TokenSecret} {
					w.Rows = append(w.Rows, []any{byGift[ref][0].Replaced, db.KeyOf(ref.ID), kind})
				}
			}
			return w
		})...)
	batches = append(batches, record.ByAccount(refs, account, func(account guid.ID, of []ledger.Ref) db.Batch {
		w := record.RowsOf(updateSecrets, of, func(r *ledger.Ref) []any {
			s := byGift[*r][len(byGift[*r])-1]
			return []any{record.SealSecrets(g.db.Keys, r.AccountID, r.ID, s.Code, s.Token), db.KeyOf(r.ID)}
		})
		w.Account = account
		return w
	})...)
	return append(batches, added)
}

// saveRescheduled writes the new times of jobs, of each the one that was decided last.
func saveRescheduled(jobs []ledger.Job) []db.Batch {
	newest := map[ledger.Ref]*ledger.Job{}
	for i := range jobs {
		newest[ledger.Ref{AccountID: jobs[i].AccountID, ID: jobs[i].ID}] = &jobs[i]
	}
	return record.ByAccount(slices.SortedFunc(maps.Keys(newest), record.CompareRefs),
		func(r ledger.Ref) guid.ID { return r.AccountID }, func(account guid.ID, of []ledger.Ref) db.Batch {
			w := record.RowsOf(updateJob, of, func(r *ledger.Ref) []any {
				due := newest[*r].Due.UnixMicro()
				return []any{due, due, newest[*r].Attempts, db.KeyOf(r.ID)}
			})
			w.Account = account
			return w
		})
}
