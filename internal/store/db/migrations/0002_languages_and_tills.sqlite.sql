-- Serves programs from schema 1.

-- In which language the recipient reads, as a BCP 47 tag; '': in that of the account.
ALTER TABLE card ADD COLUMN language TEXT NOT NULL DEFAULT '';

-- Whose key it is: 0 a program's, 1 a till's that waits for its device, 2 a till's that was paired with one.
ALTER TABLE api_key ADD COLUMN till INTEGER NOT NULL DEFAULT 0 CHECK (till BETWEEN 0 AND 2);

-- With IN, SQLite would make a table of these names for every row that it writes.
DROP INDEX request_forgettable;
CREATE INDEX request_forgettable ON request (account_id, made_at) WHERE (operation = 'send-gift'
    OR operation = 'cancel-gift'
    OR operation = 'reinstate-gift'
    OR operation = 'resend-gift'
    OR operation = 'reschedule-gift'
    OR operation = 'create-stock'
    OR operation = 'block-gift'
    OR operation = 'unblock-gift'
    OR operation = 'extend-gift'
    OR operation = 'replace-gift');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('request', 'request_forgettable', '10000000 1000000 1');
ANALYZE sqlite_schema; -- reads it
