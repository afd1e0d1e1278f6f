-- Serves programs from schema 1.

-- Cash-outs: what was redeemed before one is not given back while it stands.
CREATE INDEX entry_cash_out ON entry (voucher_id, account_id) WHERE kind = 'CASH_OUT';
