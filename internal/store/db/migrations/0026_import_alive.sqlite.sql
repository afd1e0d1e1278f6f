-- Serves programs from schema 1.

-- When whoever writes the gifts of an import, or takes it back, said last that they are at it; in microseconds; 0: never.
ALTER TABLE gift_import ADD COLUMN alive_at INTEGER NOT NULL DEFAULT 0;
