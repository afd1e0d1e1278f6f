-- Serves programs from schema 1.

-- Phones that have the pass of a gift. changed is the position of the newest event that changed the pass; over: their
-- card is not the gift's any more. The push token is sealed for the row.
CREATE TABLE pass_device (
    account_id BYTEA   NOT NULL CHECK (length(account_id) = 16),
    voucher_id BYTEA   NOT NULL CHECK (length(voucher_id) = 16),
    device     BYTEA   NOT NULL CHECK (length(device) = 32),
    card       BYTEA   NOT NULL CHECK (length(card) = 8),
    push       BYTEA   NOT NULL,
    changed    BIGINT  NOT NULL,
    over       BIGINT  NOT NULL CHECK (over IN (0, 1)),
    made_at    BIGINT  NOT NULL,
    PRIMARY KEY (account_id, voucher_id, device)
);
CREATE INDEX pass_device_has ON pass_device (device);

-- Which process tells the phones of an account, and up to which event it did.
CREATE TABLE pass_lease (
    account_id BYTEA   NOT NULL CHECK (length(account_id) = 16),
    owner      BYTEA   NOT NULL CHECK (length(owner) = 16),
    claimed_at BIGINT  NOT NULL,
    until      BIGINT  NOT NULL,
    PRIMARY KEY (account_id)
);
CREATE TABLE pass_place (
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    place      BYTEA NOT NULL CHECK (length(place) = 16),
    PRIMARY KEY (account_id)
);
