CREATE OR REPLACE FUNCTION entries_fit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE broken TEXT;
BEGIN
    IF EXISTS (SELECT 1 FROM added AS a WHERE a.seq = 1 AND NOT EXISTS (SELECT 1 FROM voucher AS v
            WHERE v.account_id = a.account_id AND v.id = a.voucher_id AND v.original = a.balance)) THEN
        broken := 'a history begins with the whole value of its voucher';
    ELSIF EXISTS (SELECT 1 FROM added AS a WHERE a.seq > 1 AND NOT EXISTS (SELECT 1 FROM entry AS p
            WHERE p.account_id = a.account_id AND p.id = a.previous
              AND p.voucher_id = a.voucher_id AND p.seq = a.seq - 1 AND p.balance + a.delta = a.balance)) THEN
        broken := 'an entry must continue the history of its voucher';
    ELSIF EXISTS (SELECT 1 FROM added AS a WHERE a.reverses IS NOT NULL) THEN
        INSERT INTO given_back AS g (account_id, redemption_id, amount, parts)
            SELECT a.account_id, a.reverses, sum(a.delta), count(*) FROM added AS a WHERE a.reverses IS NOT NULL
                GROUP BY a.account_id, a.reverses ORDER BY a.account_id, a.reverses
            ON CONFLICT (account_id, redemption_id) DO UPDATE SET amount = g.amount + excluded.amount, parts = g.parts + excluded.parts;
        IF EXISTS (SELECT 1 FROM added AS a WHERE a.reverses IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entry AS r
                WHERE r.account_id = a.account_id AND r.id = a.reverses AND r.voucher_id = a.voucher_id AND r.kind = 'REDEMPTION'
                  AND -r.delta >= (SELECT g.amount FROM given_back AS g WHERE g.account_id = a.account_id AND g.redemption_id = a.reverses))) THEN
            broken := 'a reversal gives back no more than its redemption took';
        END IF;
    END IF;
    IF broken IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = broken;
    END IF;
    RETURN NULL;
END $$;
