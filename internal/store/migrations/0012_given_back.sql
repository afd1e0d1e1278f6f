-- Serves programs from schema 1.
-- How much of each redemption was given back, and in how many parts; kept by the guard on entries, so that nothing adds up all reversals of a
-- redemption for each of them.

CREATE TABLE given_back (
    account_id    BYTEA  NOT NULL CHECK (length(account_id) = 16),
    redemption_id BYTEA  NOT NULL CHECK (length(redemption_id) = 16), -- its entry's
    amount        BIGINT NOT NULL CHECK (amount > 0),
    parts         BIGINT NOT NULL CHECK (parts > 0),
    PRIMARY KEY (account_id, redemption_id)
) {clustered};
