-- Serves programs from schema 1.

-- When a bucket was last taken from. One that says so of the future was written by a clock that was ahead, and counts as full.
ALTER TABLE till_bucket ADD COLUMN taken_at BIGINT;
ALTER TABLE stranger_bucket ADD COLUMN taken_at BIGINT;

-- How many codes of a key were wrong within an hour: many are an event.
CREATE TABLE key_miss (
    account_id BYTEA  NOT NULL,
    key_id     BYTEA  NOT NULL,
    since      BIGINT, -- of the first that is counted
    misses     BIGINT NOT NULL CHECK (misses >= 0),
    PRIMARY KEY (account_id, key_id)
) {clustered};
