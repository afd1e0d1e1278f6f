-- Serves programs from schema 1.

-- Of an import that is being written, others tell how far it is.
ALTER TABLE gift_import ADD COLUMN planned BIGINT NOT NULL DEFAULT 0; -- gifts; 0: not known
ALTER TABLE gift_import ADD CONSTRAINT gift_import_planned_check CHECK (planned >= 0);
