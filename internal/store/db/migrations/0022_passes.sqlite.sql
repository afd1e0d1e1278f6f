-- Serves programs from schema 1.

-- Phones that have the pass of a gift. changed is the position of the newest event that changed the pass; over: their
-- card is not the gift's any more. The push token is sealed for the row.
CREATE TABLE pass_device (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    voucher_id BLOB    NOT NULL CHECK (length(voucher_id) = 16),
    device     BLOB    NOT NULL CHECK (length(device) = 32),
    card       BLOB    NOT NULL CHECK (length(card) = 8),
    push       BLOB    NOT NULL,
    changed    INTEGER NOT NULL,
    over       INTEGER NOT NULL CHECK (over IN (0, 1)),
    made_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, voucher_id, device)
) STRICT, WITHOUT ROWID;
CREATE INDEX pass_device_has ON pass_device (device);

-- Which process tells the phones of an account, and up to which event it did.
CREATE TABLE pass_lease (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    owner      BLOB    NOT NULL CHECK (length(owner) = 16),
    claimed_at INTEGER NOT NULL,
    until      INTEGER NOT NULL,
    PRIMARY KEY (account_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE pass_place (
    account_id BLOB NOT NULL CHECK (length(account_id) = 16),
    place      BLOB NOT NULL CHECK (length(place) = 16),
    PRIMARY KEY (account_id)
) STRICT, WITHOUT ROWID;
