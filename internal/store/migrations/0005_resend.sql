-- Serves programs from schema 1.

-- Every resend of a gift, and how the gift went before it: where it was sent must stay known.
CREATE TABLE resend (
    account_id BYTEA  NOT NULL,
    voucher_id BYTEA  NOT NULL,
    seq        BIGINT NOT NULL, -- of its entry in the history
    id         BYTEA  NOT NULL CHECK (length(id) = 16), -- its entry's, and its job's
    made_at    BIGINT NOT NULL,
    method     BIGINT NOT NULL CHECK (method BETWEEN 1 AND 3),
    contact    TEXT   NOT NULL,
    PRIMARY KEY (account_id, voucher_id, seq),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
) {clustered};

-- The jobs of a gift are taken back when it is sent again.
CREATE INDEX job_voucher ON job (voucher_id, account_id);

-- Records of the new calls are forgotten as those of the others that move no value.
DROP INDEX request_forgettable;
CREATE INDEX request_forgettable ON request (account_id, made_at)
    WHERE operation IN ('send-gift', 'cancel-gift', 'resend-gift', 'reschedule-gift');

ALTER TABLE entry DROP CONSTRAINT entry_kind;
