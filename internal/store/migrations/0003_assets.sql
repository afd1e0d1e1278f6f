-- Serves programs from schema 1.
-- The pictures of voucher designs, by the SHA-256 of their bytes. They are never changed and never taken out: mails show them.

CREATE TABLE asset (
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    hash       BYTEA NOT NULL CHECK (length(hash) = 32),
    kind       TEXT  NOT NULL CHECK (kind IN ('png', 'jpeg')),
    bytes      BYTEA NOT NULL,
    PRIMARY KEY (account_id, hash)
) {table};
CREATE INDEX asset_hash ON asset (hash);
