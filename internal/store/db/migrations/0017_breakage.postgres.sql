-- Serves programs from schema 1.

-- What people booked as breakage for a month. Rows never change, and the log of the set-up says the same.
CREATE TABLE breakage (
    account_id BYTEA   NOT NULL CHECK (length(account_id) = 16),
    month      BIGINT  NOT NULL, -- as 202611
    program_id BYTEA   NOT NULL CHECK (length(program_id) = 16),
    currency   TEXT    NOT NULL,
    decimals   BIGINT  NOT NULL CHECK (decimals BETWEEN 0 AND 4),
    rate       BIGINT  NOT NULL CHECK (rate BETWEEN 1 AND 9999), -- in hundredths of a percent
    amount     BIGINT  NOT NULL CHECK (amount <> 0), -- below zero: taken back
    booked_at  BIGINT  NOT NULL,
    key_id     BYTEA   NOT NULL CHECK (length(key_id) = 16),
    PRIMARY KEY (account_id, month, program_id, currency)
);
