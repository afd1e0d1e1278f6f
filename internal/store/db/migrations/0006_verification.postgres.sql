-- Serves programs from schema 1.

-- What is known of a database that was restored before it was verified. No row: nothing is to be verified.
CREATE TABLE verification (
    one      BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    state    TEXT   NOT NULL CHECK (state IN ('pending', 'failed')),
    since    BIGINT NOT NULL, -- when it was restored, or found to be wrong
    problems BIGINT NOT NULL CHECK ((state = 'failed') = (problems > 0)),
    first    TEXT   NOT NULL  -- of them, for people
);
