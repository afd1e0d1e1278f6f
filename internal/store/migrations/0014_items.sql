-- Serves programs from schema 1.
-- What gifts are good for, as it was when they were made.

CREATE TABLE item_list (
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    id         BYTEA NOT NULL CHECK (length(id) = 16), -- of the SHA-256 of items
    items      TEXT  NOT NULL, -- JSON
    PRIMARY KEY (account_id, id)
) {table};

-- NULL: a purchase, or a gift that was made before this step.
ALTER TABLE voucher ADD COLUMN items_id BYTEA CHECK (length(items_id) = 16);
