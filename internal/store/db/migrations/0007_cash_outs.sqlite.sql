-- Serves programs from schema 1.

-- Cash-outs: what was redeemed before one is not given back while it stands.
CREATE INDEX entry_cash_out ON entry (voucher_id, account_id) WHERE kind = 'CASH_OUT';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('entry', 'entry_cash_out', '100000 2 2');
ANALYZE sqlite_schema; -- reads it
