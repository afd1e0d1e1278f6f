-- Serves programs from schema 1.
-- Links to the printed sheets of orders, by the hash of their token.
CREATE TABLE sheet (
    hash     BYTEA  NOT NULL PRIMARY KEY CHECK (length(hash) = 33),
    order_id BYTEA  NOT NULL CHECK (length(order_id) = 16), -- to revoke its links
    until    BIGINT NOT NULL,
    owner    BYTEA  NOT NULL -- account and order, sealed for this hash
) {table};
CREATE INDEX sheet_order ON sheet (order_id);
CREATE INDEX sheet_until ON sheet (until);
