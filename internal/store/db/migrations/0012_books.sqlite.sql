-- Serves programs from schema 1.

-- The days of accounts that are closed: what moved in them is summed up in book_sum. Days follow each other without a
-- gap.
CREATE TABLE book_day (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    day        INTEGER NOT NULL, -- as 20261122
    starts_at  INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL CHECK (ends_at > starts_at),
    closed_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, day)
) STRICT, WITHOUT ROWID;

-- What moved in a day that is closed. It follows from the entries, and boon verify works it out again.
CREATE TABLE book_sum (
    account_id  BLOB    NOT NULL CHECK (length(account_id) = 16),
    cube        TEXT    NOT NULL CHECK (cube IN ('PLACES', 'MONTHS', 'KEYS', 'STOCK')),
    day         INTEGER NOT NULL,
    line        TEXT    NOT NULL,
    program_id  BLOB    NOT NULL CHECK (length(program_id) = 16),
    promotional INTEGER NOT NULL,
    item        INTEGER NOT NULL,
    currency    TEXT    NOT NULL,
    decimals    INTEGER NOT NULL CHECK (decimals BETWEEN 0 AND 4),
    sold        BLOB    NOT NULL CHECK (length(sold) = 16), -- zeros: online
    place       BLOB    NOT NULL CHECK (length(place) = 16), -- zeros: none
    key_id      BLOB    NOT NULL CHECK (length(key_id) = 16), -- zeros: none
    month       INTEGER NOT NULL, -- as 202611; 0: none
    entries     INTEGER NOT NULL,
    pieces      INTEGER NOT NULL,
    money       INTEGER NOT NULL,
    PRIMARY KEY (account_id, cube, day, line, program_id, promotional, item, currency, decimals, sold, place, key_id,
        month)
) STRICT, WITHOUT ROWID;

-- The ends of gifts, as they were made and as they were put off, for the days in which value expires.
CREATE INDEX voucher_end ON voucher (valid_until, account_id) WHERE valid_until IS NOT NULL;
CREATE INDEX entry_extended ON entry (held_until, account_id) WHERE kind = 'EXTENDED';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('voucher', 'voucher_end', '1000000 20 10'),
    ('entry', 'entry_extended', '10000 2 2'),
    ('book_day', 'book_day', '100000 1000 1'),
    ('book_sum', 'book_sum', '10000000 1000000 300000 300 100 30 30 20 20 20 10 5 2 1');
ANALYZE sqlite_schema; -- reads it
