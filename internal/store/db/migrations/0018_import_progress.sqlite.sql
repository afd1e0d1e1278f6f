-- Serves programs from schema 1.

-- Of an import that is being written by a service, another instance tells how far it is, and why it stopped.
ALTER TABLE gift_import ADD COLUMN planned INTEGER NOT NULL DEFAULT 0 CHECK (planned >= 0); -- gifts; 0: not known
ALTER TABLE gift_import ADD COLUMN stopped TEXT NOT NULL DEFAULT ''; -- a sentence; '': it goes on, or is over
