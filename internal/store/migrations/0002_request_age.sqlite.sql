-- Without figures, SQLite believes that an account has ten rows, and for a reversal or a few redemptions read the whole history
-- of the account instead of an index. These are those of a large installation: rows of the table, then how many share the first
-- column of the index, the first two, and so on. They are never counted anew, so that plans never change while serving.
ANALYZE;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('voucher', 'voucher', '10000000 1000000 1'),
    ('voucher', 'voucher_order', '10000000 4 4 1'),
    ('card', 'sqlite_autoindex_card_1', '10000000 1000000 1'),
    ('card', 'card_reference', '10000000 4 4'),
    ('secret', 'secret', '20000000 1'),
    ('secret', 'sqlite_autoindex_secret_2', '20000000 2000000 2 1'),
    ('entry', 'entry', '40000000 4000000 1'),
    ('entry', 'entry_milestone', '100000 4 1 1'),
    ('entry', 'entry_reverses', '1000000 1 1'),
    ('request', 'request', '40000000 4000000 2 1'),
    ('request', 'request_forgettable', '10000000 1000000 1');
ANALYZE sqlite_schema; -- reads them
