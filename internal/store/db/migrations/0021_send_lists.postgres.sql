-- Serves programs from schema 1.

-- Lists of people who are sent gifts by staff. The document says how far a list has come; the content is what is to be
-- sent, as long as there is something. Both are sealed for the row. A list is worked on from due_at on, where it says
-- so, and deleted after until.
CREATE TABLE send_list (
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    id         BYTEA NOT NULL CHECK (length(id) = 16),
    made_at    BIGINT NOT NULL,
    due_at     BIGINT,
    until      BIGINT NOT NULL,
    document   BYTEA NOT NULL,
    content    BYTEA,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX send_list_due ON send_list (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX send_list_until ON send_list (until);
