-- Serves programs from schema 1.
-- Answers that are too long for the rows of request. On SQLite those rows lie in the index that finds them, and a look-up reads the whole of
-- every long row that it passes on its way to another key.

CREATE TABLE answer (
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    key        TEXT  NOT NULL,
    operation  TEXT  NOT NULL,
    locations  BYTEA NOT NULL CHECK (length(locations) % 16 = 0), -- as in request, where there are none then
    body       BYTEA NOT NULL, -- compressed, and then sealed if the record says so
    PRIMARY KEY (account_id, key, operation),
    FOREIGN KEY (account_id, key, operation) REFERENCES request (account_id, key, operation) ON DELETE CASCADE
) {table};

-- How many bytes an answer in the table answer has before it is compressed; 0: the answer is here.
ALTER TABLE request ADD COLUMN size BIGINT NOT NULL DEFAULT 0;
