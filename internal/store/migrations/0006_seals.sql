-- Serves programs from schema 1.
-- What is entered is sealed: a MAC over the entry and over the seal before it, so that a row that was changed, removed, inserted or moved
-- past this program is found.

-- The strand and the place in it (4 bytes each), and the MAC. NULL: written by a program from before this step.
ALTER TABLE entry ADD COLUMN seal BYTEA;

-- Every writer of an account's entries has a strand of its own. Its row is where the strand begins.
CREATE TABLE strand (
    account_id BYTEA  NOT NULL CHECK (length(account_id) = 16),
    number     BIGINT NOT NULL CHECK (number >= 1), -- without a gap
    began_at   BIGINT NOT NULL,
    ends       BYTEA  NOT NULL CHECK (length(ends) % 25 = 0), -- seals: how far other strands had come by then
    mac        BYTEA  NOT NULL CHECK (length(mac) = 17),
    PRIMARY KEY (account_id, number)
) {clustered};

-- Every change of the set-up, and how seals began.
CREATE TABLE setup_change (
    number  BIGINT NOT NULL PRIMARY KEY CHECK (number >= 1), -- without a gap
    kind    TEXT   NOT NULL CHECK (kind IN ('NEW', 'UPGRADED', 'ADOPTED', 'CHANGED')),
    version BIGINT NOT NULL, -- the set-up's, after it
    made_at BIGINT NOT NULL,
    made_by TEXT   NOT NULL, -- the operating system's user
    what    TEXT   NOT NULL, -- in words
    before  BYTEA  NOT NULL CHECK (length(before) = 32), -- hashes of the whole set-up
    after   BYTEA  NOT NULL CHECK (length(after) = 32),
    mac     BYTEA  NOT NULL CHECK (length(mac) = 17)
) {table};
