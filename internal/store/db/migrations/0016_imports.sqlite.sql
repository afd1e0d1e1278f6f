-- Serves programs from schema 1.

-- Gifts of other systems that are brought in together. The state of an import says whether its gifts are there for
-- anybody: only those of a finished one are.
CREATE TABLE gift_import (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    state      TEXT    NOT NULL CHECK (state IN ('STAGED', 'FINISHED', 'UNDOING', 'UNDONE')),
    file       BLOB    NOT NULL CHECK (length(file) = 32), -- the SHA-256 of what is read
    asked      TEXT    NOT NULL, -- how it is read, as JSON: the same file with the same wishes goes on
    as_of      INTEGER NOT NULL, -- when its gifts begin in the books
    staged     INTEGER NOT NULL DEFAULT 0 CHECK (staged >= 0), -- how many of its gifts are written
    used       INTEGER NOT NULL DEFAULT 0 CHECK (used IN (0, 1)), -- something happened to a gift of it
    made_by    TEXT    NOT NULL, -- who began it
    started_at INTEGER NOT NULL,
    flips      INTEGER NOT NULL DEFAULT 0, -- how often its gifts appeared or disappeared
    told       TEXT    NOT NULL DEFAULT '', -- its certificate; '': it is not finished
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

-- The import that brought the gift; NULL: none did.
ALTER TABLE voucher ADD COLUMN import_id BLOB CHECK (length(import_id) = 16);
CREATE INDEX voucher_import ON voucher (import_id, account_id, id) WHERE import_id IS NOT NULL;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('gift_import', 'gift_import', '1000 10 1'),
    ('voucher', 'voucher_import', '1000000 100000 100000 1');

-- As before, and the import with it.
DROP TRIGGER voucher_terms_never_change;
CREATE TRIGGER voucher_terms_never_change
BEFORE UPDATE OF account_id, id, order_id, program_id, location_id, item, promotional, promotion_id, currency, decimals,
    valid_from, valid_until, created_at, made_by, items_id, fixed, verification, import_id ON voucher
BEGIN SELECT RAISE(ABORT, 'what a voucher was made as does not change'); END;

-- The first use of a gift of an import is noted there, so that the import is not undone under it.
CREATE TRIGGER voucher_import_used AFTER UPDATE OF seq ON voucher WHEN OLD.import_id IS NOT NULL AND OLD.seq = 1
BEGIN
    UPDATE gift_import SET used = 1 WHERE account_id = NEW.account_id AND id = NEW.import_id AND used = 0;
    SELECT RAISE(ABORT, 'the import of the gift is not finished') WHERE NOT EXISTS (SELECT 1 FROM gift_import
        WHERE account_id = NEW.account_id AND id = NEW.import_id AND state = 'FINISHED');
END;

CREATE TRIGGER gift_import_never_deleted BEFORE DELETE ON gift_import
BEGIN SELECT RAISE(ABORT, 'imports are never forgotten'); END;
CREATE TRIGGER gift_import_used BEFORE UPDATE OF state ON gift_import WHEN NEW.state <> 'FINISHED' AND OLD.used = 1
BEGIN SELECT RAISE(ABORT, 'gifts of the import were used'); END;

-- A history may begin with IMPORTED, too. No row has to be read for that: what was right stays right. SQLite changes a
-- check of a table only by its text: see "Making Other Kinds Of Table Schema Changes" in lang_altertable.html.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'WHEN ''EXTENDED'' THEN delta = 0', 'WHEN ''EXTENDED'' THEN delta = 0' || char(10) || '        WHEN ''IMPORTED'' THEN delta = 0'),
    '(seq = 1) = (kind = ''ISSUED'')', '(seq = 1) = (kind = ''ISSUED'' OR kind = ''IMPORTED'')')
    WHERE type = 'table' AND name = 'entry';
PRAGMA writable_schema = RESET;
ANALYZE sqlite_schema; -- reads it
