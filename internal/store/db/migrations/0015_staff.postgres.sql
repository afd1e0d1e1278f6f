-- Serves programs from schema 1.

-- Who may come in to the console of an account. The document is sealed for the row.
CREATE TABLE staff_member (
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    id         BYTEA NOT NULL CHECK (length(id) = 16),
    document   BYTEA NOT NULL,
    PRIMARY KEY (account_id, id)
);

-- Invitations to the console by the hash of their token; good once, until an instant. That of the account of zeros is
-- for whoever makes the first account of an installation. Whose it is stands sealed in the document too.
CREATE TABLE staff_invitation (
    hash       BYTEA NOT NULL,
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    staff_id   BYTEA NOT NULL CHECK (length(staff_id) = 16),
    until      BIGINT NOT NULL,
    document   BYTEA NOT NULL,
    PRIMARY KEY (hash)
);
CREATE INDEX staff_invitation_of ON staff_invitation (account_id, staff_id);

-- Sessions in the console by the hash of their token.
CREATE TABLE staff_session (
    hash       BYTEA NOT NULL,
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    staff_id   BYTEA NOT NULL CHECK (length(staff_id) = 16),
    seen_at    BIGINT NOT NULL,
    until      BIGINT NOT NULL,
    document   BYTEA NOT NULL,
    PRIMARY KEY (hash)
);
CREATE INDEX staff_session_of ON staff_session (account_id, staff_id);
