-- Serves programs from schema 1.

-- Until when, in seconds since 1970, sign-ins last that hold at a till. Those that end before it are over.
CREATE TABLE till_shift (
    account_id BYTEA  NOT NULL CHECK (length(account_id) = 16),
    key_id     BYTEA  NOT NULL CHECK (length(key_id) = 16),
    until      BIGINT  NOT NULL,
    PRIMARY KEY (account_id, key_id)
);
