-- Serves programs from schema 1.

-- Wrong verification codes: they stay counted when an activation is taken back, which asks how many there were since.
CREATE INDEX entry_wrong_code ON entry (voucher_id, account_id, seq) WHERE kind = 'WRONG_VERIFICATION_CODE';
