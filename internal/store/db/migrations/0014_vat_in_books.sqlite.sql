-- Serves programs from schema 1.

-- What moved in a day that is closed gets the VAT of gifts, the place of sale in the cube MONTHS, and the cube IDLE. The
-- days are closed again from their entries. No release has written any.
DROP TABLE book_sum;
DELETE FROM book_day;
CREATE TABLE book_sum (
    account_id  BLOB    NOT NULL CHECK (length(account_id) = 16),
    cube        TEXT    NOT NULL CHECK (cube IN ('PLACES', 'MONTHS', 'KEYS', 'STOCK', 'IDLE')),
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
    vat         TEXT    NOT NULL CHECK (vat IN ('', 'multiPurpose', 'singlePurpose')),
    vat_rate    TEXT    NOT NULL,
    entries     INTEGER NOT NULL, -- in the cube IDLE: gifts
    pieces      INTEGER NOT NULL,
    money       INTEGER NOT NULL,
    PRIMARY KEY (account_id, cube, day, line, program_id, promotional, item, currency, decimals, sold, place, key_id,
        month, vat, vat_rate)
) STRICT, WITHOUT ROWID;
DELETE FROM sqlite_stat1 WHERE tbl = 'book_sum';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('book_sum', 'book_sum', '10000000 1000000 300000 300 100 30 30 20 20 20 10 5 2 1 1 1');
ANALYZE sqlite_schema; -- reads it
