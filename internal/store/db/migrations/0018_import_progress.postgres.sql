-- Serves programs from schema 1.

-- Of an import that is being written, others tell how far it is.
ALTER TABLE gift_import ADD COLUMN planned BIGINT NOT NULL DEFAULT 0 CHECK (planned >= 0); -- gifts; 0: not known
