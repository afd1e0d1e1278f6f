-- Serves programs from schema 1.

-- The second numbers of cards of stocks, by which they are sold. They stand apart from the codes that cards pay with:
-- nothing that looks a code up comes here.
CREATE TABLE activation_code (
    account_id BYTEA NOT NULL,
    hash       BYTEA NOT NULL CHECK (length(hash) = 33), -- unique in the account
    voucher_id BYTEA NOT NULL,
    sealed     BYTEA NOT NULL, -- the number, sealed for this card
    PRIMARY KEY (account_id, hash),
    UNIQUE (account_id, voucher_id),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
);

-- When it was last told that a card which is not sold yet was asked for by its code; 0: never.
ALTER TABLE card ADD COLUMN probed_at BIGINT NOT NULL DEFAULT 0;
