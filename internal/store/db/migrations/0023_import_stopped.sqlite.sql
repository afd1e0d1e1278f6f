-- Serves programs from schema 1.

-- Of an import that a service writes, another instance tells why nobody goes on with it.
ALTER TABLE gift_import ADD COLUMN stopped TEXT NOT NULL DEFAULT ''; -- a sentence; '': somebody does, or it is over
