package store

import (
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/feed"
	"boon.example/internal/store/record"
)

// The statements of a group. db.Query says which text a database takes, and why keys are looked up one by one. Three
// forms come again and again:
//
//   - FROM json_each($2) AS w CROSS JOIN t … unhex(w.value): SQLite finds a row for each key of a list. It makes a
//     CROSS JOIN in the order in which it is written, and so begins with the list and not with the table.
//   - unnest(…) AS w CROSS JOIN LATERAL (… OFFSET 0): the same on PostgreSQL. OFFSET 0 keeps the planner from taking
//     the inner query apart. Without it, a plan that was made while the table was small reads a whole account for one
//     gift.
//   - SELECT 1 / (count(*) = cardinality($2))::INT FROM hit: an UPDATE that must hit every row. Its answer is not
//     waited for, as the COMMIT follows in the same message. So the statement itself has to fail, and takes the
//     COMMIT with it: where a row was missed, it divides by zero. On SQLite, and on Citus, db.Batch counts the rows
//     (Exact).
//
// Where only Each is given, the statement is for what happens rarely, or for a few rows.
var (
	selectVouchers = &db.Query{What: "reading vouchers", Scoped: true,
		SQLite: `SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional,
				v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last,
				v.valid_from, v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification,
				v.wrong_codes, v.blocked, v.extended, v.replaced,
				(SELECT i.items
					FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items,
				NULLIF(v.buyer_notices || ' ' || v.grace || ' ' || v.buyer_language || ' ' || v.customer, '0 0  ') AS rare
			FROM json_each($2) AS w CROSS JOIN voucher AS v
			WHERE v.account_id = $1 AND v.id = unhex(w.value) AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional,
					v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last,
					v.valid_from, v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification,
					v.wrong_codes, v.blocked, v.extended, v.replaced,
					(SELECT i.items
						FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items,
				NULLIF(v.buyer_notices || ' ' || v.grace || ' ' || v.buyer_language || ' ' || v.customer, '0 0  ') AS rare
				FROM voucher AS v
				WHERE v.account_id = w.account_id AND v.id = w.key AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
					WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))
				FOR NO KEY UPDATE OFFSET 0) AS found`,
		Citus: `SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional,
				v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last,
				v.valid_from, v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification,
				v.wrong_codes, v.blocked, v.extended, v.replaced,
				(SELECT i.items FROM item_list AS i WHERE i.account_id = $1 AND i.id = v.items_id) AS items,
				NULLIF(v.buyer_notices || ' ' || v.grace || ' ' || v.buyer_language || ' ' || v.customer, '0 0  ') AS rare
			FROM voucher AS v
			WHERE v.account_id = $1 AND v.id = ANY($2::BYTEA[]) AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = $1 AND m.id = v.import_id AND m.state = 'FINISHED'))`}
	// lockVouchers is for Citus, which locks no row of a query with a sub-select. It locks them in their order.
	lockVouchers = &db.Query{What: "locking vouchers", Scoped: true,
		Citus: `SELECT v.id
			FROM voucher AS v
			WHERE v.account_id = $1 AND v.id = ANY($2::BYTEA[]) ORDER BY v.id FOR NO KEY UPDATE`}
	selectRequests = &db.Query{What: "reading requests", Scoped: true,
		SQLite: `SELECT r.account_id, r.key, r.operation, r.fingerprint, r.code, r.answer, r.sealed, r.entry_id,
				r.spent, r.locations, r.made_at, r.size
			FROM json_each($2) AS w CROSS JOIN request AS r
			WHERE r.account_id = $1 AND r.key = CAST(unhex(w.value) AS TEXT)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::TEXT[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT r.account_id, r.key, r.operation, r.fingerprint, r.code, r.answer, r.sealed, r.entry_id,
					r.spent, r.locations, r.made_at, r.size
				FROM request AS r
				WHERE r.account_id = w.account_id AND r.key = w.key OFFSET 0) AS found`,
		Citus: `SELECT r.account_id, r.key, r.operation, r.fingerprint, r.code, r.answer, r.sealed, r.entry_id,
				r.spent, r.locations, r.made_at, r.size
			FROM request AS r
			WHERE r.account_id = $1 AND r.key = ANY($2::TEXT[])`}
	selectUndoable = &db.Query{What: "reading what can be undone", Scoped: true,
		SQLite: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
				e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
				e.reason, e.request_id, e.details, e.held_after, e.address, e.till
			FROM json_each($2) AS w CROSS JOIN entry AS e
			WHERE e.account_id = $1 AND e.id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance,
					e.status, e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until,
					e.reference, e.reason, e.request_id, e.details, e.held_after, e.address, e.till
				FROM entry AS e
				WHERE e.account_id = w.account_id AND e.id = w.key OFFSET 0) AS found`,
		Citus: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
				e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
				e.reason, e.request_id, e.details, e.held_after, e.address, e.till
			FROM entry AS e
			WHERE e.account_id = $1 AND e.id = ANY($2::BYTEA[])`}
	selectReversed = &db.Query{What: "reading reversals", Scoped: true,
		SQLite: `SELECT g.redemption_id, g.amount, g.parts
			FROM json_each($2) AS w CROSS JOIN given_back AS g
			WHERE g.account_id = $1 AND g.redemption_id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT g.redemption_id, g.amount, g.parts
				FROM given_back AS g
				WHERE g.account_id = w.account_id AND g.redemption_id = w.key OFFSET 0) AS found`,
		Citus: `SELECT g.redemption_id, g.amount, g.parts
			FROM given_back AS g
			WHERE g.account_id = $1 AND g.redemption_id = ANY($2::BYTEA[])`}
	selectCashOuts = &db.Query{What: "reading cash-outs", Scoped: true,
		Each: `SELECT e.account_id, e.voucher_id, e.id, e.seq FROM entry AS e
		WHERE e.account_id = $1 AND e.voucher_id = $2 AND e.kind = 'CASH_OUT' AND (SELECT g.parts FROM given_back AS g
			WHERE g.account_id = $1 AND g.redemption_id = e.id) IS NULL`}
	selectMissed = &db.Query{What: "reading wrong verification codes", Scoped: true,
		Each: `SELECT count(*) FROM entry AS e
			WHERE e.account_id = $1 AND e.voucher_id = $2 AND e.kind = 'WRONG_VERIFICATION_CODE' AND e.seq > $3`}
	selectDeliveredBy = &db.Query{What: "reading delivered by", Scoped: true,
		SQLite: `SELECT c.account_id, c.voucher_id, c.delivered_by
			FROM json_each($2) AS w CROSS JOIN card AS c
			WHERE c.account_id = $1 AND c.voucher_id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT c.account_id, c.voucher_id, c.delivered_by
				FROM card AS c
				WHERE c.account_id = w.account_id AND c.voucher_id = w.key OFFSET 0) AS found`,
		Citus: `SELECT c.account_id, c.voucher_id, c.delivered_by
			FROM card AS c
			WHERE c.account_id = $1 AND c.voucher_id = ANY($2::BYTEA[])`}
	selectCancelled = &db.Query{What: "reading cancellations", Scoped: true,
		Each: `SELECT e.account_id, e.voucher_id,
			(SELECT p.status FROM entry AS p WHERE p.account_id = e.account_id AND p.id = e.previous)
		FROM entry AS e WHERE e.account_id = $1 AND e.voucher_id = $2 AND e.kind = 'CANCELLATION' ORDER BY e.id DESC LIMIT 1`}
	selectTransferred = &db.Query{What: "reading transfers", Scoped: true,
		Each: `SELECT e.account_id, e.voucher_id FROM entry AS e
		WHERE e.account_id = $1 AND e.voucher_id = $2 AND e.kind IN ('TRANSFER_OUT', 'TRANSFER_IN') LIMIT 1`}
	selectCodes = &db.Query{What: "reading codes",
		Each:   `SELECT s.hash FROM secret AS s WHERE s.hash = $1`,
		SQLite: `SELECT s.hash FROM json_each($1) AS w CROSS JOIN secret AS s WHERE s.hash = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[]) AS w (key) CROSS JOIN LATERAL (
				SELECT s.hash
				FROM secret AS s
				WHERE s.hash = w.key OFFSET 0) AS found`}

	selectNumbers = &db.Query{What: "reading activation codes", Scoped: true,
		SQLite: `SELECT t.hash FROM json_each($2) AS w CROSS JOIN activation_code AS t
			WHERE t.account_id = $1 AND t.hash = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT t.hash FROM activation_code AS t
				WHERE t.account_id = w.account_id AND t.hash = w.key OFFSET 0) AS found`,
		Citus: `SELECT t.hash FROM activation_code AS t WHERE t.account_id = $1 AND t.hash = ANY($2::BYTEA[])`}

	// updateBalance writes what redemptions change, updateHolds what holds do, and updateVoucher all that can change: a
	// column that is written has SQLite write its indexes, though it stays the same.
	updateBalance = &db.Query{What: "writing balances", Scoped: true, Exact: true,
		Each: `UPDATE voucher AS t SET balance = $2, status = $3, seq = $4, last = $5
			WHERE t.account_id = $1 AND t.id = $6 AND t.seq = $7`,
		Postgres: `WITH hit AS (
				UPDATE voucher AS t SET balance = w.balance, status = w.status, seq = w.seq, last = w.last
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BYTEA[],
					$6::BYTEA[], $7::BIGINT[])
					AS r (account_id, balance, status, seq, last, id, was_seq) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.id = w.id AND t.seq = w.was_seq RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BIGINT[]))::INT FROM hit`}
	updateHolds = &db.Query{What: "writing holds", Scoped: true, Exact: true,
		Each: `UPDATE voucher AS t SET balance = $2, status = $3, seq = $4, last = $5, held = $6, holds_end = $7,
				holds = $8
			WHERE t.account_id = $1 AND t.id = $9 AND t.seq = $10`,
		Postgres: `WITH hit AS (
				UPDATE voucher AS t SET balance = w.balance, status = w.status, seq = w.seq, last = w.last,
					held = w.held, holds_end = w.holds_end, holds = w.holds
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BYTEA[],
					$6::BIGINT[], $7::BIGINT[], $8::TEXT[], $9::BYTEA[], $10::BIGINT[])
					AS r (account_id, balance, status, seq, last, held, holds_end, holds, id,
						was_seq) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.id = w.id AND t.seq = w.was_seq RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BIGINT[]))::INT FROM hit`}
	updateVoucher = &db.Query{What: "writing vouchers", Scoped: true, Exact: true,
		Each: `UPDATE voucher AS t SET balance = $2, status = $3, seq = $4, last = $5, held = $6, holds_end = $7,
				holds = $8, loaded = $9, wrong_codes = $10, blocked = $11, extended = $12, replaced = $13,
				customer = $14
			WHERE t.account_id = $1 AND t.id = $15 AND t.seq = $16`,
		Postgres: `WITH hit AS (
				UPDATE voucher AS t SET balance = w.balance, status = w.status, seq = w.seq, last = w.last,
					held = w.held, holds_end = w.holds_end, holds = w.holds, loaded = w.loaded,
					wrong_codes = w.wrong_codes, blocked = w.blocked, extended = w.extended,
					replaced = w.replaced, customer = w.customer
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BYTEA[],
					$6::BIGINT[], $7::BIGINT[], $8::TEXT[], $9::BIGINT[], $10::BIGINT[], $11::TEXT[],
					$12::BIGINT[], $13::BIGINT[], $14::TEXT[], $15::BYTEA[], $16::BIGINT[])
					AS r (account_id, balance, status, seq, last, held, holds_end, holds, loaded, wrong_codes,
						blocked, extended, replaced, customer, id, was_seq) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.id = w.id AND t.seq = w.was_seq RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BIGINT[]))::INT FROM hit`}
	updateReplays = &db.Query{What: "noting replays", Scoped: true, Exact: true,
		Each: `UPDATE request AS t SET replays = t.replays + 1 WHERE t.account_id = $1 AND t.key = $2 AND t.operation = $3`,
		Postgres: `WITH hit AS (
				UPDATE request AS t SET replays = t.replays + 1
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::TEXT[], $3::TEXT[])
					AS r (account_id, key, operation) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.key = w.key AND t.operation = w.operation RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::TEXT[]))::INT FROM hit`}
	updateCard = &db.Query{What: "noting deliveries", Scoped: true, Exact: true,
		Each: `UPDATE card AS t SET delivered_at = $2, delivered_by = $3
			WHERE t.account_id = $1 AND t.voucher_id = $4`,
		Postgres: `WITH hit AS (
				UPDATE card AS t SET delivered_at = w.delivered_at, delivered_by = w.delivered_by
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::BYTEA[], $4::BYTEA[])
					AS r (account_id, delivered_at, delivered_by, voucher_id) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.voucher_id = w.voucher_id RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::BIGINT[]))::INT FROM hit`}
	updateSold = &db.Query{What: "noting purchases", Scoped: true, Exact: true,
		Each: `UPDATE card AS t SET reference = $2, first_name = $3, last_name = $4, email_address = $5,
				storefront_id = $6, delivered_at = $7
			WHERE t.account_id = $1 AND t.voucher_id = $8`,
		Postgres: `WITH hit AS (
				UPDATE card AS t SET reference = w.reference, first_name = w.first_name,
					last_name = w.last_name, email_address = w.email_address, storefront_id = w.storefront_id,
					delivered_at = w.delivered_at
				FROM (SELECT * FROM unnest($1::BYTEA[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[],
					$6::BYTEA[], $7::BIGINT[], $8::BYTEA[])
					AS r (account_id, reference, first_name, last_name, email_address, storefront_id,
						delivered_at, voucher_id) OFFSET 0) AS w
				WHERE t.account_id = w.account_id AND t.voucher_id = w.voucher_id RETURNING 1
			) SELECT 1 / (count(*) = cardinality($2::TEXT[]))::INT FROM hit`}
	deleteJobs = &db.Query{What: "finishing jobs", Scoped: true,
		Each: `DELETE FROM job AS t WHERE t.account_id = $1 AND t.id = $2`,
		Postgres: `DELETE FROM job AS t USING (SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[]) AS r (account_id, id) OFFSET 0) AS w
			WHERE t.account_id = w.account_id AND t.id = w.id`}
	// insertGivenBack is for a database whose guards cannot do it.
	insertGivenBack = &db.Query{What: "writing into given_back",
		Each: `INSERT INTO given_back (account_id, redemption_id, amount, parts)
			VALUES ($1, $2, $3, $4)
			ON CONFLICT (account_id, redemption_id) DO UPDATE SET amount = given_back.amount + excluded.amount,
				parts = given_back.parts + excluded.parts`,
		Postgres: `INSERT INTO given_back (account_id, redemption_id, amount, parts)
			SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BIGINT[], $4::BIGINT[])
			ON CONFLICT (account_id, redemption_id) DO UPDATE SET amount = given_back.amount + excluded.amount,
				parts = given_back.parts + excluded.parts`}
	// lockSetup keeps the set-up from being changed; it keeps no other group waiting.
	lockSetup = &db.Query{What: "locking the set-up",
		Each:     `SELECT s.version FROM setup_version AS s WHERE s.one = $1`,
		Postgres: `SELECT s.version FROM setup_version AS s WHERE s.one = ANY($1::BIGINT[]) FOR SHARE`,
		Citus:    `SELECT s.version FROM setup_version AS s WHERE s.one = ANY($1::BIGINT[]) FOR SHARE`}
	selectAccountVersions = &db.Query{What: "reading when accounts were changed",
		Each:   `SELECT a.version FROM account AS a WHERE a.id = $1`,
		SQLite: `SELECT a.version FROM json_each($1) AS w CROSS JOIN account AS a WHERE a.id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[]) AS w (key) CROSS JOIN LATERAL (
				SELECT a.version
				FROM account AS a
				WHERE a.id = w.key OFFSET 0) AS found`}
	insertUsed = &db.Query{What: "writing into used_record",
		Each: `INSERT INTO used_record (account_id, record_id)
			VALUES ($1, $2) ON CONFLICT (account_id, record_id) DO NOTHING`,
		Postgres: `INSERT INTO used_record (account_id, record_id)
			SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[]) ON CONFLICT (account_id, record_id) DO NOTHING`}
)

var groupQueries = []*db.Query{lockSetup, selectAccountVersions, selectVouchers, selectRequests, selectUndoable,
	selectReversed, selectCashOuts, selectMissed, selectDeliveredBy, selectCancelled, selectTransferred, selectCodes,
	selectNumbers, updateVoucher, updateHolds, updateBalance, selectHoldEnds,
	record.SelectHolds, updateReplays, updateCard, updateSold, deleteJobs, selectDeliveries, selectJobs,
	selectResends, insertResend, updateDelivery, updateJob, record.AddTally, insertGivenBack, insertUsed, feed.Insert,
	record.InsertTerms, record.InsertItems, record.InsertVoucher, record.InsertCard, record.InsertSecret,
	record.InsertActivation, record.InsertSearch, record.InsertEntry, record.InsertRequest, record.InsertAnswer,
	record.SelectPlaces,
	insertJob, selectClocks, selectWriters, selectHead, insertChain, insertSheet, selectCounts, lockCounts,
	insertCounts, addCounts, record.DeleteSecrets, record.AgainGoogle, markSecrets, updateSecrets, addStaged}

// addStaged notes how far an import has come: see package imported.
var addStaged = &db.Query{What: "noting what an import has written", Exact: true,
	Each: `UPDATE gift_import SET staged = staged + $4
		WHERE account_id = $1 AND id = $2 AND staged = $3 AND state = 'STAGED'`,
	Postgres: `WITH hit AS (
			UPDATE gift_import AS t SET staged = t.staged + w.more
			FROM (SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BIGINT[], $4::BIGINT[])
				AS r (account_id, id, was, more) OFFSET 0) AS w
			WHERE t.account_id = w.account_id AND t.id = w.id AND t.staged = w.was AND t.state = 'STAGED' RETURNING 1
		) SELECT 1 / (count(*) = cardinality($2::BYTEA[]))::INT FROM hit`}

func stagedBatch(s *ledger.Staged) db.Batch {
	return db.Batch{Query: addStaged, Rows: [][]any{{db.KeyOf(s.AccountID), db.KeyOf(s.ImportID), s.Before, s.Count}}}
}
