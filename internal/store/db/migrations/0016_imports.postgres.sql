-- Serves programs from schema 1.

-- Gifts of other systems that are brought in together. The state of an import says whether its gifts are there for
-- anybody: only those of a finished one are.
CREATE TABLE gift_import (
    account_id BYTEA   NOT NULL CHECK (length(account_id) = 16),
    id         BYTEA   NOT NULL CHECK (length(id) = 16),
    state      TEXT    NOT NULL CHECK (state IN ('STAGED', 'FINISHED', 'UNDOING', 'UNDONE')),
    file       BYTEA   NOT NULL CHECK (length(file) = 32), -- the SHA-256 of what is read
    asked      TEXT    NOT NULL, -- how it is read, as JSON: the same file with the same wishes goes on
    as_of      BIGINT  NOT NULL, -- when its gifts begin in the books
    staged     BIGINT  NOT NULL DEFAULT 0 CHECK (staged >= 0), -- how many of its gifts are written
    used       BOOLEAN NOT NULL DEFAULT FALSE, -- something happened to a gift of it
    made_by    TEXT    NOT NULL, -- who began it
    started_at BIGINT  NOT NULL,
    flips      BIGINT  NOT NULL DEFAULT 0, -- how often its gifts appeared or disappeared
    told       TEXT    NOT NULL DEFAULT '', -- its certificate; '': it is not finished
    PRIMARY KEY (account_id, id)
);

-- The import that brought the gift; NULL: none did.
ALTER TABLE voucher ADD COLUMN import_id BYTEA;
ALTER TABLE voucher ADD CONSTRAINT voucher_import_id_check CHECK (length(import_id) = 16);
CREATE INDEX voucher_import ON voucher (import_id, account_id, id) WHERE import_id IS NOT NULL;

-- As before, and the import with it.
DROP TRIGGER voucher_terms_never_change ON voucher;
CREATE TRIGGER voucher_terms_never_change
BEFORE UPDATE OF account_id, id, order_id, program_id, location_id, item, promotional, promotion_id, currency, decimals,
    valid_from, valid_until, created_at, made_by, items_id, fixed, verification, import_id ON voucher
FOR EACH ROW EXECUTE FUNCTION never('what a voucher was made as does not change');

-- The first use of a gift of an import is noted there, so that the import is not undone under it. Who undoes it and who
-- uses it change the same row, one after the other.
CREATE FUNCTION voucher_import_used() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE found TEXT;
BEGIN
    UPDATE gift_import AS m SET used = TRUE
        WHERE m.account_id = NEW.account_id AND m.id = NEW.import_id AND NOT m.used RETURNING m.state INTO found;
    IF found <> 'FINISHED' THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = 'the import of the gift is not finished';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER voucher_import_used AFTER UPDATE OF seq ON voucher
FOR EACH ROW WHEN (OLD.import_id IS NOT NULL AND OLD.seq = 1) EXECUTE FUNCTION voucher_import_used();

CREATE TRIGGER gift_import_never_deleted BEFORE DELETE ON gift_import
FOR EACH ROW EXECUTE FUNCTION never('imports are never forgotten');
CREATE TRIGGER gift_import_used BEFORE UPDATE OF state ON gift_import
FOR EACH ROW WHEN (NEW.state <> 'FINISHED' AND OLD.used) EXECUTE FUNCTION never('gifts of the import were used');

-- A history may begin with IMPORTED, too. No row has to be read for that: what was right stays right.
ALTER TABLE entry DROP CONSTRAINT entry_kind;
ALTER TABLE entry
    ADD CONSTRAINT entry_kind CHECK (kind = ANY (CASE
        WHEN delta < 0 THEN '{REDEMPTION,ACTIVATION_REVERSAL,RELOAD_REVERSAL,ADJUSTMENT,CASH_OUT,TRANSFER_OUT}'::TEXT[]
        WHEN delta > 0 THEN '{REVERSAL,ACTIVATION,RELOAD,ADJUSTMENT,TRANSFER_IN}'::TEXT[]
        WHEN held > 0 THEN '{HOLD}'::TEXT[]
        WHEN held < 0 THEN '{HOLD_RELEASED,HOLD_EXPIRED}'::TEXT[]
        ELSE '{ISSUED,DELIVERED,FAILED_DELIVERY,CANCELLATION,REINSTATEMENT,RESENT,RESCHEDULED,BLOCKED,UNBLOCKED,WRONG_VERIFICATION_CODE,REPLACED,EXTENDED,IMPORTED}'::TEXT[]
        END)) NOT VALID;
ALTER TABLE entry DROP CONSTRAINT entry_first;
ALTER TABLE entry
    ADD CONSTRAINT entry_first CHECK (seq >= 1 AND (seq = 1) = (kind = 'ISSUED' OR kind = 'IMPORTED')
        AND (seq = 1) = (previous IS NULL)) NOT VALID;

-- As before, but that the gifts of an import are told of together, by an event of their own.
CREATE OR REPLACE FUNCTION entries_are_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The entries have given the transaction its number.
    INSERT INTO event (position, account_id, made_at, kinds, entries, body)
        SELECT nextval('event_position'), e.* FROM (
            SELECT a.account_id, min(a.made_at), ' ' || string_agg(DISTINCT a.kind, ' ') || ' ',
                string_agg(a.id, ''::BYTEA ORDER BY a.n), '' FROM added AS a WHERE a.kind <> 'IMPORTED'
                GROUP BY a.account_id) AS e;
    RETURN NULL;
END $$;
