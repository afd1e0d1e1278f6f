-- Serves programs from schema 1.

-- Wrong verification codes: they stay counted when an activation is taken back, which asks how many there were since.
CREATE INDEX entry_wrong_code ON entry (voucher_id, account_id, seq) WHERE kind = 'WRONG_VERIFICATION_CODE';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('entry', 'entry_wrong_code', '100000 2 2 1');
ANALYZE sqlite_schema; -- reads it
