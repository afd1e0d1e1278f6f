-- Serves programs from schema 1.

-- In which language the recipient reads, as a BCP 47 tag; '': in that of the account.
ALTER TABLE card ADD COLUMN language TEXT NOT NULL DEFAULT '';

-- Whose key it is: 0 a program's, 1 a till's that waits for its device, 2 a till's that was paired with one.
ALTER TABLE api_key ADD COLUMN till BIGINT NOT NULL DEFAULT 0 CHECK (till BETWEEN 0 AND 2);
