-- Serves programs from schema 1.
-- How far idempotency records of calls that move no value were forgotten: those made before an instant, which moves on slowly.
CREATE TABLE forgotten (
    one    BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    before BIGINT NOT NULL,
    at     BIGINT NOT NULL -- when it last moved
) {table};
