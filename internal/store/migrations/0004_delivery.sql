-- Serves programs from schema 1.

-- What a job's message says: '' brings the gift, 'BALANCE' tells what is left of it, 'REDIRECTED' that it went elsewhere.
ALTER TABLE job ADD COLUMN kind TEXT NOT NULL DEFAULT '' CHECK (kind IN ('', 'BALANCE', 'REDIRECTED'));

-- How many attempts ended without anyone knowing whether the message was accepted.
ALTER TABLE job ADD COLUMN doubts BIGINT NOT NULL DEFAULT 0 CHECK (doubts >= 0);

-- The job whose message was accepted last: only that one's late failure counts.
ALTER TABLE card ADD COLUMN delivered_by BYTEA CHECK (length(delivered_by) = 16);
