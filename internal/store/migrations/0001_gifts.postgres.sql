-- Room on each page, so that a redemption changes its row in place and touches no index.
ALTER TABLE voucher SET (fillfactor = 80);

CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_ARGV[0]; END $$;

CREATE TRIGGER entry_never_changes BEFORE UPDATE ON entry
FOR EACH ROW EXECUTE FUNCTION never('ledger entries are never changed');

CREATE TRIGGER entry_never_deleted BEFORE DELETE ON entry
FOR EACH ROW EXECUTE FUNCTION never('ledger entries are never deleted');

CREATE TRIGGER voucher_terms_never_change
BEFORE UPDATE OF account_id, id, order_id, program_id, location_id, item, promotional, promotion_id, currency, decimals,
    original, valid_from, valid_until, created_at ON voucher
FOR EACH ROW EXECUTE FUNCTION never('only balance, status, seq and last of a voucher change');

CREATE TRIGGER voucher_never_deleted BEFORE DELETE ON voucher
FOR EACH ROW EXECUTE FUNCTION never('vouchers are never deleted');

CREATE TRIGGER request_of_ledger_never_deleted BEFORE DELETE ON request
FOR EACH ROW WHEN (OLD.operation IN ('redeem-gift', 'reverse-redemption'))
EXECUTE FUNCTION never('records of redemptions and reversals are kept for ever');

-- Once for all rows of a statement, of which it sees what all of them wrote.
CREATE FUNCTION entries_fit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE broken TEXT;
BEGIN
    IF EXISTS (SELECT 1 FROM added AS a WHERE a.seq = 1 AND NOT EXISTS (SELECT 1 FROM voucher AS v
            WHERE v.account_id = a.account_id AND v.id = a.voucher_id AND v.original = a.balance)) THEN
        broken := 'a history begins with the whole value of its voucher';
    ELSIF EXISTS (SELECT 1 FROM added AS a WHERE a.seq > 1 AND NOT EXISTS (SELECT 1 FROM entry AS p
            WHERE p.account_id = a.account_id AND p.id = a.previous
              AND p.voucher_id = a.voucher_id AND p.seq = a.seq - 1 AND p.balance + a.delta = a.balance)) THEN
        broken := 'an entry must continue the history of its voucher';
    ELSIF EXISTS (SELECT 1 FROM added AS a WHERE a.reverses IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entry AS r
            WHERE r.account_id = a.account_id AND r.id = a.reverses AND r.voucher_id = a.voucher_id AND r.kind = 'REDEMPTION'
              AND -r.delta >= (SELECT sum(x.delta) FROM entry AS x WHERE x.account_id = a.account_id AND x.reverses = a.reverses))) THEN
        broken := 'a reversal gives back no more than its redemption took';
    END IF;
    IF broken IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = broken;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER entries_fit AFTER INSERT ON entry REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION entries_fit();
