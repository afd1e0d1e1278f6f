-- Serves programs from schema 1.

-- An id tells the time at which it was drawn. When a clock was set back, ids go on from the later time, so that a record
-- can have an id that is later than the record. Look-ups by time search a range of ids. These indexes hold only the
-- records whose id is more than a minute late, and tell how far the range has to reach.
CREATE INDEX entry_ahead ON entry (account_id, made_at, id)
    WHERE id > unhex(printf('%012X', made_at / 1000 + 60000));
CREATE INDEX voucher_ahead ON voucher (account_id, created_at, id)
    WHERE id > unhex(printf('%012X', created_at / 1000 + 60000));
CREATE INDEX trail_ahead ON trail (account_id, made_at, id)
    WHERE id > unhex(printf('%012X', made_at / 1000 + 60000));
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('entry', 'entry_ahead', '100 10 1 1'),
    ('voucher', 'voucher_ahead', '100 10 1 1'), ('trail', 'trail_ahead', '100 10 1 1');
ANALYZE sqlite_schema; -- reads it
