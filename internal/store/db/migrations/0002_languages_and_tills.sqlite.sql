-- Serves programs from schema 1.

-- In which language the recipient reads, as a BCP 47 tag; '': in that of the account.
ALTER TABLE card ADD COLUMN language TEXT NOT NULL DEFAULT '';

-- Whose key it is: 0 a program's, 1 a till's that waits for its device, 2 a till's that was paired with one.
ALTER TABLE api_key ADD COLUMN till INTEGER NOT NULL DEFAULT 0 CHECK (till BETWEEN 0 AND 2);

-- From where it may be used, as networks apart by spaces; '': from everywhere.
ALTER TABLE api_key ADD COLUMN networks TEXT NOT NULL DEFAULT '';

-- Whether it works for test accounts only; else for live ones only.
ALTER TABLE api_key ADD COLUMN test INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1));

-- How far the clock of a test account is ahead, in microseconds; where it was set to last; and under which key.
CREATE TABLE test_clock (
    account_id BLOB    PRIMARY KEY REFERENCES account (id),
    ahead      INTEGER NOT NULL DEFAULT 0 CHECK (ahead >= 0),
    target     INTEGER,
    key        TEXT NOT NULL DEFAULT ''
) STRICT;

-- A message of a test account, due by that account's clock. Who looks for those of live accounts steps over none.
ALTER TABLE job ADD COLUMN test INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1));
CREATE INDEX job_live ON job (claimable_at) WHERE NOT test;
CREATE INDEX job_test ON job (account_id, claimable_at) WHERE test;

-- What is held of the gift after the entry; NULL: an earlier program made it.
ALTER TABLE entry ADD COLUMN held_after INTEGER;

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
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('request', 'request_forgettable', '10000000 1000000 1'),
    ('job', 'job_live', '1000000 2'),
    ('job', 'job_test', '1000 100 2');
ANALYZE sqlite_schema; -- reads it

-- As before, but that a reversal takes back a cash-out, too.
DROP TRIGGER entry_fits;
CREATE TRIGGER entry_fits BEFORE INSERT ON entry
BEGIN
    SELECT RAISE(ABORT, 'a history begins with the whole value of its voucher')
        WHERE NEW.seq = 1 AND NOT EXISTS (SELECT 1 FROM voucher
            WHERE account_id = NEW.account_id AND id = NEW.voucher_id AND (loaded = NEW.balance OR seq > 1));
    SELECT RAISE(ABORT, 'an entry must continue the history of its voucher')
        WHERE NEW.seq > 1 AND NOT EXISTS (SELECT 1 FROM entry
            WHERE account_id = NEW.account_id AND id = NEW.previous AND voucher_id = NEW.voucher_id
              AND seq = NEW.seq - 1 AND balance + NEW.delta = NEW.balance);
    SELECT RAISE(ABORT, 'a hold gives up no more than it held')
        WHERE NEW.hold_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entry AS h
            WHERE h.account_id = NEW.account_id AND h.id = NEW.hold_id AND h.voucher_id = NEW.voucher_id
              AND h.kind = 'HOLD' AND h.held + NEW.held >= 0);
    INSERT INTO given_back (account_id, redemption_id, amount, parts)
        SELECT NEW.account_id, NEW.reverses, abs(NEW.delta), 1 WHERE NEW.reverses IS NOT NULL
        ON CONFLICT (account_id, redemption_id) DO UPDATE SET amount = amount + excluded.amount, parts = parts + 1;
    SELECT RAISE(ABORT, 'a reversal takes back no more than there was')
        WHERE NEW.reverses IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entry AS r
            WHERE r.account_id = NEW.account_id AND r.id = NEW.reverses AND r.voucher_id = NEW.voucher_id
              AND CASE NEW.kind WHEN 'REVERSAL' THEN r.kind = 'REDEMPTION' OR r.kind = 'CASH_OUT'
                  WHEN 'RELOAD_REVERSAL' THEN r.kind = 'RELOAD' ELSE r.kind = 'ACTIVATION' END AND abs(r.delta) >= (SELECT g.amount FROM given_back AS g
                  WHERE g.account_id = NEW.account_id AND g.redemption_id = NEW.reverses));
END;

-- The order of commits, for readers of events: a row for each commit and account that made entries, and for each event
-- that has no entry. Rows are kept for 90 days; the newest of an account stays.
CREATE TABLE event (
    position   INTEGER PRIMARY KEY, -- there is one writer: a later commit has a higher one
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    made_at    INTEGER NOT NULL,
    kinds      TEXT    NOT NULL, -- of the entries, each once, with spaces around; or the type of the event
    entries    BLOB    NOT NULL CHECK (length(entries) % 16 = 0), -- their ids in order
    body       TEXT    NOT NULL, -- of an event without an entry, as JSON; '': these are entries
    CHECK ((length(entries) = 0) = (body <> ''))
) STRICT;
CREATE UNIQUE INDEX event_account ON event (account_id, position);
CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('event', 'event_account', '10000000 1000000 1');
-- Where events of an account are sent.
CREATE TABLE webhook (
    account_id  BLOB    NOT NULL CHECK (length(account_id) = 16),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    url         TEXT    NOT NULL,
    types       TEXT    NOT NULL, -- with spaces between them; '': all
    description TEXT    NOT NULL,
    enabled     INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    why_off     TEXT    NOT NULL CHECK (why_off IN ('', 'GONE', 'FAILING') AND (why_off = '' OR enabled = 0)),
    created_at  INTEGER NOT NULL,
    changed_at  INTEGER NOT NULL,
    start       BLOB    NOT NULL CHECK (length(start) = 16), -- a place in the events
    secret      BLOB    NOT NULL, -- sealed
    old_secret  BLOB,
    old_until   INTEGER,
    replay      TEXT    NOT NULL, -- the newest one, as JSON; '': none
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

-- How far an endpoint has come, as JSON. Deliverers write it together, every second.
CREATE TABLE webhook_state (
    account_id BLOB NOT NULL CHECK (length(account_id) = 16),
    webhook_id BLOB NOT NULL CHECK (length(webhook_id) = 16),
    state      TEXT NOT NULL,
    PRIMARY KEY (account_id, webhook_id)
) STRICT, WITHOUT ROWID;

-- Which process delivers the events of an account.
CREATE TABLE webhook_lease (
    account_id BLOB    NOT NULL PRIMARY KEY CHECK (length(account_id) = 16),
    owner      BLOB    NOT NULL CHECK (length(owner) = 16),
    claimed_at INTEGER NOT NULL,
    until      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Calls of endpoints, for 30 days.
CREATE TABLE webhook_attempt (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    webhook_id BLOB    NOT NULL CHECK (length(webhook_id) = 16),
    id         BLOB    NOT NULL CHECK (length(id) = 16), -- which grows with time
    event_id   BLOB    NOT NULL CHECK (length(event_id) = 16),
    type       TEXT    NOT NULL,
    made_at    INTEGER NOT NULL,
    took       INTEGER NOT NULL,
    status     INTEGER NOT NULL, -- of HTTP; 0: there was no answer
    words      TEXT    NOT NULL,
    answer     BLOB    NOT NULL, -- sealed; empty: it said nothing
    PRIMARY KEY (account_id, webhook_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_attempt_old ON webhook_attempt (account_id, made_at);
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('webhook_attempt', 'webhook_attempt_old', '10000000 1000000 1');
ANALYZE sqlite_schema; -- reads it

-- The W3C traceparent of the request that asked for the message, where that is recorded; '': it is not.
ALTER TABLE job ADD COLUMN trace TEXT NOT NULL DEFAULT '';

-- The address of the client that caused the entry; '': it was not noted.
ALTER TABLE entry ADD COLUMN address TEXT NOT NULL DEFAULT '';

-- Whether a paired till made it. A till reads its own day, which lies among those of all others.
ALTER TABLE entry ADD COLUMN till INTEGER NOT NULL DEFAULT 0 CHECK (till IN (0, 1));
CREATE INDEX entry_of_till ON entry (account_id, key_id, id) WHERE till;

-- What was done to the set-up of an account, and which codes left: with the entries that keys caused, its audit trail.
CREATE TABLE trail (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    id         BLOB    NOT NULL CHECK (length(id) = 16), -- which grows with time
    made_at    INTEGER NOT NULL,
    action     TEXT    NOT NULL,
    key_id     BLOB    CHECK (length(key_id) = 16), -- NULL: somebody at the command line
    made_by    TEXT    NOT NULL, -- the operating system's user who was there; '': it was a key
    person     TEXT    NOT NULL,
    address    TEXT    NOT NULL,
    request_id TEXT    NOT NULL,
    what       TEXT    NOT NULL, -- in words; never a secret
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

-- The ends of its validity that gift.expiring and gift.expired told of; 0: none. What was over before there were events
-- is not told any more.
ALTER TABLE voucher ADD COLUMN expiring_told INTEGER NOT NULL DEFAULT 0;
ALTER TABLE voucher ADD COLUMN expired_told INTEGER NOT NULL DEFAULT 0;
UPDATE voucher SET expiring_told = coalesce(extended, valid_until), expired_told = coalesce(extended, valid_until)
    WHERE coalesce(extended, valid_until) <= (SELECT max(created_at) FROM voucher);
CREATE INDEX voucher_expiring ON voucher (account_id, coalesce(extended, valid_until))
    WHERE coalesce(extended, valid_until) <> expiring_told;
CREATE INDEX voucher_expired ON voucher (account_id, coalesce(extended, valid_until))
    WHERE coalesce(extended, valid_until) <> expired_told;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('entry', 'entry_of_till', '1000000 100000 1000 1'),
    ('voucher', 'voucher_expiring', '10000000 1000000 2'),
    ('voucher', 'voucher_expired', '10000000 1000000 2');
ANALYZE sqlite_schema; -- reads it
