-- Serves programs from schema 1.

-- The second numbers of cards of stocks, by which they are sold. They stand apart from the codes that cards pay with:
-- nothing that looks a code up comes here.
CREATE TABLE activation_code (
    account_id BYTEA NOT NULL,
    hash       BYTEA NOT NULL CHECK (length(hash) = 33), -- unique in the account
    voucher_id BYTEA NOT NULL,
    sealed     BYTEA NOT NULL, -- the number, sealed for this card
    PRIMARY KEY (account_id, hash),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
);
-- No other index begins with the account: while PostgreSQL knows nothing of the table, it would take that one for
-- look-ups by the number, and read all numbers of the account.
CREATE INDEX activation_code_voucher ON activation_code (voucher_id);

-- When it was last told that a card which is not sold yet was asked for by its code; 0: never.
ALTER TABLE card ADD COLUMN probed_at BIGINT NOT NULL DEFAULT 0;
