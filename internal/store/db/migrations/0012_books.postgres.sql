-- Serves programs from schema 1.

-- The days of accounts that are closed: what moved in them is summed up in book_sum. Days follow each other without a
-- gap.
CREATE TABLE book_day (
    account_id BYTEA   NOT NULL CHECK (length(account_id) = 16),
    day        BIGINT  NOT NULL, -- as 20261122
    starts_at  BIGINT  NOT NULL,
    ends_at    BIGINT  NOT NULL CHECK (ends_at > starts_at),
    closed_at  BIGINT  NOT NULL,
    PRIMARY KEY (account_id, day)
);

-- What moved in a day that is closed. It follows from the entries, and boon verify works it out again.
CREATE TABLE book_sum (
    account_id  BYTEA   NOT NULL CHECK (length(account_id) = 16),
    cube        TEXT    NOT NULL CHECK (cube IN ('PLACES', 'MONTHS', 'KEYS', 'STOCK')),
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
    entries     BIGINT  NOT NULL,
    pieces      BIGINT  NOT NULL,
    money       BIGINT  NOT NULL,
    PRIMARY KEY (account_id, cube, day, line, program_id, promotional, item, currency, decimals, sold, place, key_id,
        month)
);

-- The ends of gifts, as they were made and as they were put off, for the days in which value expires.
CREATE INDEX voucher_end ON voucher (valid_until, account_id) WHERE valid_until IS NOT NULL;
CREATE INDEX entry_extended ON entry (held_until, account_id) WHERE kind = 'EXTENDED';
