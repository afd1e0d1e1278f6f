-- Serves programs from schema 1.

-- What was done in a day: what names whose count it is and of what, a letter and the id of an account or a key, or a keyed hash of a contact.
CREATE TABLE day_count (
    account_id BYTEA  NOT NULL,
    what       BYTEA  NOT NULL,
    day        BIGINT NOT NULL, -- of the account's time zone, as 20261122
    amount     BIGINT NOT NULL CHECK (amount >= 0),
    gifts      BIGINT NOT NULL CHECK (gifts >= 0),
    messages   BIGINT NOT NULL CHECK (messages >= 0),
    texts      BIGINT NOT NULL CHECK (texts >= 0),
    kept       BIGINT NOT NULL CHECK (kept >= 0),
    PRIMARY KEY (account_id, what)
) {clustered};
CREATE INDEX day_count_day ON day_count (day);

-- The daily limits of a key beside its account's, as JSON. NULL: none.
ALTER TABLE api_key ADD COLUMN limits TEXT;
