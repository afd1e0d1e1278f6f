-- Serves programs from schema 1.
-- When each API key was last used: services write it every few minutes, beside the calls.
CREATE TABLE key_use (
    key_id  BYTEA  NOT NULL PRIMARY KEY CHECK (length(key_id) = 16),
    used_at BIGINT NOT NULL
) {clustered};
