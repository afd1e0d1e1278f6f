-- Serves programs from schema 1.

-- For how many days of 24 hours tills take the gift after the end of its validity, as the promotion said when it was made.
ALTER TABLE voucher ADD COLUMN grace BIGINT NOT NULL DEFAULT 0;
ALTER TABLE voucher ADD CONSTRAINT voucher_grace_days CHECK (grace BETWEEN 0 AND 90) NOT VALID;
CREATE INDEX voucher_grace ON voucher (account_id, (valid_until + grace * 86400000000)) WHERE grace > 0;

-- As before, and the grace with it.
DROP TRIGGER voucher_terms_never_change ON voucher;
CREATE TRIGGER voucher_terms_never_change
BEFORE UPDATE OF account_id, id, order_id, program_id, location_id, item, promotional, promotion_id, currency, decimals,
    valid_from, valid_until, created_at, made_by, items_id, fixed, verification, import_id, grace ON voucher
FOR EACH ROW EXECUTE FUNCTION never('what a voucher was made as does not change');
