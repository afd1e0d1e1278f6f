-- Serves programs from schema 21. Earlier ones cannot open the codes of gifts that this one makes.
-- The terms of an order of several gifts, once; their cards have none then.
CREATE TABLE order_terms (
    account_id        BYTEA NOT NULL CHECK (length(account_id) = 16),
    order_id          BYTEA NOT NULL CHECK (length(order_id) = 16),
    terms             TEXT  NOT NULL,
    promotional_terms TEXT  NOT NULL,
    PRIMARY KEY (account_id, order_id)
) {table};

ALTER TABLE card ADD COLUMN terms_of_order BOOLEAN NOT NULL DEFAULT FALSE;
