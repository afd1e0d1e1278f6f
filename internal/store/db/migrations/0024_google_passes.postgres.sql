-- Serves programs from schema 1.

-- Gifts of which Google keeps an object, or is to. card says of which card it is, zeros: of none. Google knows of what
-- happened up to the position told, and is to know of what happened at changed.
CREATE TABLE google_object (
    account_id BYTEA   NOT NULL CHECK (length(account_id) = 16),
    voucher_id BYTEA   NOT NULL CHECK (length(voucher_id) = 16),
    card       BYTEA   NOT NULL CHECK (length(card) = 8),
    changed    BIGINT  NOT NULL,
    told       BIGINT  NOT NULL,
    PRIMARY KEY (account_id, voucher_id)
);
CREATE INDEX google_object_due ON google_object (account_id, changed) WHERE told < changed;
