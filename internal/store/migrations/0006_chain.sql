-- Serves programs from schema 6.
-- What is entered is linked into hash chains: a row that was changed, removed, inserted or moved past this program is found.

-- A row for each commit. Every writer has a chain of its own: one for each transaction that an instance has under way.
CREATE TABLE chain (
    writer  BYTEA  NOT NULL CHECK (length(writer) = 16), -- in the order of time
    n       BIGINT NOT NULL CHECK (n >= 0), -- of the last entry of the commit, among all of the writer; 0: the genesis
    content BYTEA  NOT NULL, -- a digest of each entry, 16 bytes; of the genesis: how far other chains had come
    mac     BYTEA  NOT NULL CHECK (length(mac) = 17), -- over this row and the mac of the row before it
    PRIMARY KEY (writer, n)
) {clustered};
CREATE INDEX chain_genesis ON chain (writer) WHERE n = 0;

-- Every change of the set-up; the first says that there was nothing.
CREATE TABLE setup_change (
    number  BIGINT NOT NULL PRIMARY KEY CHECK (number >= 1), -- without a gap
    version BIGINT NOT NULL, -- the set-up's, after it
    made_at BIGINT NOT NULL,
    made_by TEXT   NOT NULL, -- the operating system's user
    what    TEXT   NOT NULL, -- in words
    before  BYTEA  NOT NULL CHECK (length(before) = 32), -- hashes of the whole set-up
    after   BYTEA  NOT NULL CHECK (length(after) = 32),
    mac     BYTEA  NOT NULL CHECK (length(mac) = 17) -- over this row and the mac of the row before it
) {table};
