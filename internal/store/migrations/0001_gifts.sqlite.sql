CREATE TRIGGER entry_never_changes BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'ledger entries are never changed'); END;

CREATE TRIGGER entry_never_deleted BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'ledger entries are never deleted'); END;

CREATE TRIGGER entry_fits BEFORE INSERT ON entry
BEGIN
    SELECT RAISE(ABORT, 'a history begins with the whole value of its voucher') WHERE NEW.seq = 1 AND NOT EXISTS (SELECT 1 FROM voucher
        WHERE account_id = NEW.account_id AND id = NEW.voucher_id AND original = NEW.balance);
    SELECT RAISE(ABORT, 'an entry must continue the history of its voucher') WHERE NEW.seq > 1 AND NOT EXISTS (SELECT 1 FROM entry
        WHERE account_id = NEW.account_id AND id = NEW.previous
          AND voucher_id = NEW.voucher_id AND seq = NEW.seq - 1 AND balance + NEW.delta = NEW.balance);
    SELECT RAISE(ABORT, 'a reversal gives back no more than its redemption took') WHERE NEW.reverses IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM entry AS r
        WHERE r.account_id = NEW.account_id AND r.id = NEW.reverses AND r.voucher_id = NEW.voucher_id AND r.kind = 'REDEMPTION'
          AND -r.delta >= NEW.delta + (SELECT coalesce(sum(x.delta), 0) FROM entry AS x
              WHERE x.account_id = NEW.account_id AND x.reverses = NEW.reverses));
END;

CREATE TRIGGER voucher_terms_never_change
BEFORE UPDATE OF account_id, id, order_id, program_id, location_id, item, promotional, promotion_id, currency, decimals,
    original, valid_from, valid_until, created_at ON voucher
BEGIN SELECT RAISE(ABORT, 'only balance, status, seq and last of a voucher change'); END;

CREATE TRIGGER voucher_never_deleted BEFORE DELETE ON voucher
BEGIN SELECT RAISE(ABORT, 'vouchers are never deleted'); END;

CREATE TRIGGER request_of_ledger_never_deleted BEFORE DELETE ON request
WHEN OLD.operation IN ('redeem-gift', 'reverse-redemption')
BEGIN SELECT RAISE(ABORT, 'records of redemptions and reversals are kept for ever'); END;
