-- Serves programs from schema 1.

-- Gifts of which Google keeps an object, or is to. card says of which card it is, zeros: of none. Google knows of what
-- happened up to the position told, and is to know of what happened at changed.
CREATE TABLE google_object (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    voucher_id BLOB    NOT NULL CHECK (length(voucher_id) = 16),
    card       BLOB    NOT NULL CHECK (length(card) = 8),
    changed    INTEGER NOT NULL,
    told       INTEGER NOT NULL,
    PRIMARY KEY (account_id, voucher_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX google_object_due ON google_object (account_id, changed) WHERE told < changed;
