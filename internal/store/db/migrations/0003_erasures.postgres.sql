-- Serves programs from schema 1.

-- What was taken out of entries: see chain.Erasure.
CREATE TABLE erasure (
    account_id BYTEA  NOT NULL CHECK (length(account_id) = 16),
    entry_id   BYTEA  NOT NULL CHECK (length(entry_id) = 16),
    before     BYTEA  NOT NULL CHECK (length(before) = 16),
    after      BYTEA  NOT NULL CHECK (length(after) = 16),
    made_at    BIGINT NOT NULL,
    mac        BYTEA  NOT NULL CHECK (length(mac) = 17),
    PRIMARY KEY (account_id, entry_id)
);
CREATE TRIGGER erasure_never_deleted BEFORE DELETE ON erasure
FOR EACH ROW EXECUTE FUNCTION never('erasures are never forgotten');

-- As before, but that words and customers can be taken out of an entry whose erasure says so.
DROP TRIGGER entry_never_changes ON entry;
CREATE TRIGGER entry_never_changes BEFORE UPDATE OF account_id, id, voucher_id, seq, previous, kind, delta, balance,
    status, made_at, key_id, location_id, reverses, hold_id, held, held_until, reference, request_id, writer, n,
    held_after, address, till ON entry
FOR EACH ROW EXECUTE FUNCTION never('ledger entries are never changed');
CREATE FUNCTION entry_erased() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM erasure AS x WHERE x.account_id = OLD.account_id AND x.entry_id = OLD.id) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = 'ledger entries are never changed';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER entry_erased BEFORE UPDATE OF reason, details ON entry FOR EACH ROW EXECUTE FUNCTION entry_erased();

-- The customers of reloads and activations, for those whose gifts ended long ago.
CREATE INDEX entry_customer ON entry (voucher_id, account_id, id) WHERE kind IN ('RELOAD', 'ACTIVATION');

-- Transfers, for purchases that fail after one.
CREATE INDEX entry_transfer ON entry (voucher_id, account_id) WHERE kind IN ('TRANSFER_OUT', 'TRANSFER_IN');

-- The gift that a message is about, by which it is found and erased; '': the program before wrote it.
ALTER TABLE outbox ADD COLUMN account_id BYTEA NOT NULL DEFAULT '';
ALTER TABLE outbox ADD CONSTRAINT outbox_account_id_check CHECK (length(account_id) IN (0, 16));
ALTER TABLE outbox ADD COLUMN voucher_id BYTEA NOT NULL DEFAULT '';
ALTER TABLE outbox ADD CONSTRAINT outbox_voucher_id_check CHECK (length(voucher_id) IN (0, 16));
CREATE INDEX outbox_gift ON outbox (account_id, voucher_id);
