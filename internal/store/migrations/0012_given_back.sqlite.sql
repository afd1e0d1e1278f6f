DROP TRIGGER entry_fits;
CREATE TRIGGER entry_fits BEFORE INSERT ON entry
BEGIN
    SELECT RAISE(ABORT, 'a history begins with the whole value of its voucher') WHERE NEW.seq = 1 AND NOT EXISTS (SELECT 1 FROM voucher
        WHERE account_id = NEW.account_id AND id = NEW.voucher_id AND original = NEW.balance);
    SELECT RAISE(ABORT, 'an entry must continue the history of its voucher') WHERE NEW.seq > 1 AND NOT EXISTS (SELECT 1 FROM entry
        WHERE account_id = NEW.account_id AND id = NEW.previous
          AND voucher_id = NEW.voucher_id AND seq = NEW.seq - 1 AND balance + NEW.delta = NEW.balance);
    INSERT INTO given_back (account_id, redemption_id, amount, parts)
        SELECT NEW.account_id, NEW.reverses, NEW.delta, 1 WHERE NEW.reverses IS NOT NULL
        ON CONFLICT (account_id, redemption_id) DO UPDATE SET amount = amount + excluded.amount, parts = parts + 1;
    SELECT RAISE(ABORT, 'a reversal gives back no more than its redemption took') WHERE NEW.reverses IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM entry AS r
        WHERE r.account_id = NEW.account_id AND r.id = NEW.reverses AND r.voucher_id = NEW.voucher_id AND r.kind = 'REDEMPTION'
          AND -r.delta >= (SELECT g.amount FROM given_back AS g WHERE g.account_id = NEW.account_id AND g.redemption_id = NEW.reverses));
END;

-- As in the steps before that gave figures for plans.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('given_back', 'given_back', '1000000 100000 1');
ANALYZE sqlite_schema;
