-- Serves programs from schema 1.

-- What moved in a day that is closed gets the VAT of gifts, the place of sale in the cube MONTHS, and the cube IDLE. The
-- days are closed again from their entries. No release has written any.
DROP TABLE book_sum;
DELETE FROM book_day;
CREATE TABLE book_sum (
    account_id  BYTEA   NOT NULL CHECK (length(account_id) = 16),
    cube        TEXT    NOT NULL CHECK (cube IN ('PLACES', 'MONTHS', 'KEYS', 'STOCK', 'IDLE')),
    day         BIGINT  NOT NULL,
    line        TEXT    NOT NULL,
    program_id  BYTEA   NOT NULL CHECK (length(program_id) = 16),
    promotional BOOLEAN NOT NULL,
    item        BOOLEAN NOT NULL,
    currency    TEXT    NOT NULL,
    decimals    BIGINT  NOT NULL CHECK (decimals BETWEEN 0 AND 4),
    sold        BYTEA   NOT NULL CHECK (length(sold) = 16), -- zeros: online
    place       BYTEA   NOT NULL CHECK (length(place) = 16), -- zeros: none
    key_id      BYTEA   NOT NULL CHECK (length(key_id) = 16), -- zeros: none
    month       BIGINT  NOT NULL, -- as 202611; 0: none
    vat         TEXT    NOT NULL CHECK (vat IN ('', 'multiPurpose', 'singlePurpose')),
    vat_rate    TEXT    NOT NULL,
    entries     BIGINT  NOT NULL, -- in the cube IDLE: gifts
    pieces      BIGINT  NOT NULL,
    money       BIGINT  NOT NULL,
    PRIMARY KEY (account_id, cube, day, line, program_id, promotional, item, currency, decimals, sold, place, key_id,
        month, vat, vat_rate)
);
