-- Serves programs from schema 1.

-- What gifts are found by beside their ids. A key is a keyed hash of what it stands for: see search.go.
CREATE TABLE gift_search (
    account_id BYTEA NOT NULL,
    key        BYTEA NOT NULL CHECK (length(key) = 12),
    voucher_id BYTEA NOT NULL,
    PRIMARY KEY (account_id, key, voucher_id),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
) {clustered};

-- In the order of a list.
DROP INDEX card_reference;
CREATE INDEX card_reference ON card (reference, account_id, voucher_id) WHERE reference <> '';
