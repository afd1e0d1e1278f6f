-- Serves programs from schema 1.

-- The system key that made a gift, by its name; '': a key of the account.
ALTER TABLE voucher ADD COLUMN made_by TEXT NOT NULL DEFAULT '';

-- What a gift was before it was last taken out of use is what a reinstatement needs.
CREATE INDEX entry_cancellation ON entry (voucher_id, account_id, id) WHERE kind = 'CANCELLATION';

DROP INDEX request_forgettable;
CREATE INDEX request_forgettable ON request (account_id, made_at)
    WHERE operation IN ('send-gift', 'cancel-gift', 'reinstate-gift', 'resend-gift', 'reschedule-gift');

ALTER TABLE entry DROP CONSTRAINT entry_kind;
