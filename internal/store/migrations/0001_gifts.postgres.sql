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
FOR EACH ROW EXECUTE FUNCTION never('only balance, status and seq of a voucher change');

CREATE TRIGGER voucher_never_deleted BEFORE DELETE ON voucher
FOR EACH ROW EXECUTE FUNCTION never('vouchers are never deleted');

CREATE TRIGGER request_of_ledger_never_deleted BEFORE DELETE ON request
FOR EACH ROW WHEN (OLD.operation IN ('redeem-gift', 'reverse-redemption'))
EXECUTE FUNCTION never('records of redemptions and reversals are kept for ever');

-- A trigger before a row sees the rows that the same statement wrote before it.
CREATE FUNCTION entry_fits() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE broken TEXT;
BEGIN
    IF NEW.seq = 1 THEN
        IF NOT EXISTS (SELECT 1 FROM voucher
            WHERE account_id = NEW.account_id AND id = NEW.voucher_id AND original = NEW.balance) THEN
            broken := 'a history begins with the whole value of its voucher';
        END IF;
    ELSIF NOT EXISTS (SELECT 1 FROM entry
        WHERE account_id = NEW.account_id AND voucher_id = NEW.voucher_id AND seq = NEW.seq - 1 AND balance + NEW.delta = NEW.balance) THEN
        broken := 'an entry must continue the history of its voucher';
    END IF;
    IF NEW.reverses IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entry AS r
        WHERE r.account_id = NEW.account_id AND r.id = NEW.reverses AND r.voucher_id = NEW.voucher_id AND r.kind = 'REDEMPTION'
          AND -r.delta >= NEW.delta + (SELECT coalesce(sum(x.delta), 0) FROM entry AS x
              WHERE x.account_id = NEW.account_id AND x.reverses = NEW.reverses)) THEN
        broken := 'a reversal gives back no more than its redemption took';
    END IF;
    IF broken IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = broken;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER entry_fits BEFORE INSERT ON entry FOR EACH ROW EXECUTE FUNCTION entry_fits();
