-- Serves programs from schema 1.

-- In which language the recipient reads, as a BCP 47 tag; '': in that of the account.
ALTER TABLE card ADD COLUMN language TEXT NOT NULL DEFAULT '';

-- Whose key it is: 0 a program's, 1 a till's that waits for its device, 2 a till's that was paired with one.
ALTER TABLE api_key ADD COLUMN till BIGINT NOT NULL DEFAULT 0;
ALTER TABLE api_key ADD CONSTRAINT api_key_till_check CHECK (till BETWEEN 0 AND 2);

-- From where it may be used, as networks apart by spaces; '': from everywhere.
ALTER TABLE api_key ADD COLUMN networks TEXT NOT NULL DEFAULT '';

-- What is held of the gift after the entry; NULL: an earlier program made it.
ALTER TABLE entry ADD COLUMN held_after BIGINT;

-- The same as before, said shorter: PostgreSQL reads the text of each check anew for each statement that writes, and for
-- a small group that was most of its work. The rows that are there have passed those before.
ALTER TABLE entry DROP CONSTRAINT entry_kind;
ALTER TABLE entry
    ADD CONSTRAINT entry_kind CHECK (kind = ANY (CASE
        WHEN delta < 0 THEN '{REDEMPTION,ACTIVATION_REVERSAL,RELOAD_REVERSAL,ADJUSTMENT,CASH_OUT,TRANSFER_OUT}'::TEXT[]
        WHEN delta > 0 THEN '{REVERSAL,ACTIVATION,RELOAD,ADJUSTMENT,TRANSFER_IN}'::TEXT[]
        WHEN held > 0 THEN '{HOLD}'::TEXT[]
        WHEN held < 0 THEN '{HOLD_RELEASED,HOLD_EXPIRED}'::TEXT[]
        ELSE '{ISSUED,DELIVERED,FAILED_DELIVERY,CANCELLATION,REINSTATEMENT,RESENT,RESCHEDULED,BLOCKED,UNBLOCKED,WRONG_VERIFICATION_CODE,REPLACED,EXTENDED}'::TEXT[]
        END)) NOT VALID;
ALTER TABLE entry DROP CONSTRAINT entry_held;
ALTER TABLE entry
    ADD CONSTRAINT entry_held CHECK ((held < 0) = (hold_id IS NOT NULL)
        AND CASE WHEN held_until IS NULL THEN held <= 0 ELSE (held > 0 OR kind = 'EXTENDED') AND held_until > made_at END
        AND (held = 0 OR delta = 0 OR held < 0 AND kind = 'REDEMPTION')) NOT VALID;

-- As before, but that a reversal takes back a cash-out, too.
CREATE OR REPLACE FUNCTION entries_fit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE broken TEXT;
BEGIN
    IF EXISTS (SELECT 1 FROM added AS a WHERE a.seq = 1 AND NOT EXISTS (SELECT 1 FROM voucher AS v
            WHERE v.account_id = a.account_id AND v.id = a.voucher_id AND (v.loaded = a.balance OR v.seq > 1))) THEN
        broken := 'a history begins with the whole value of its voucher';
    ELSIF EXISTS (SELECT 1 FROM added AS a WHERE a.seq > 1 AND NOT EXISTS (SELECT 1 FROM entry AS p
            WHERE p.account_id = a.account_id AND p.id = a.previous
              AND p.voucher_id = a.voucher_id AND p.seq = a.seq - 1 AND p.balance + a.delta = a.balance)) THEN
        broken := 'an entry must continue the history of its voucher';
    -- A value in place of NOT EXISTS keeps the planner from joining the whole table.
    ELSIF EXISTS (SELECT 1 FROM added AS a WHERE a.hold_id IS NOT NULL AND a.held + coalesce((SELECT h.held FROM entry AS h
            WHERE h.account_id = a.account_id AND h.id = a.hold_id AND h.voucher_id = a.voucher_id
              AND h.kind = 'HOLD'), 0) < 0) THEN
        broken := 'a hold gives up no more than it held';
    ELSIF EXISTS (SELECT 1 FROM added AS a WHERE a.reverses IS NOT NULL) THEN
        INSERT INTO given_back AS g (account_id, redemption_id, amount, parts)
            SELECT a.account_id, a.reverses, sum(abs(a.delta)), count(*) FROM added AS a WHERE a.reverses IS NOT NULL
                GROUP BY a.account_id, a.reverses ORDER BY a.account_id, a.reverses
            ON CONFLICT (account_id, redemption_id) DO UPDATE
                SET amount = g.amount + excluded.amount, parts = g.parts + excluded.parts;
        IF EXISTS (SELECT 1 FROM added AS a WHERE a.reverses IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entry AS r
                WHERE r.account_id = a.account_id AND r.id = a.reverses AND r.voucher_id = a.voucher_id
                  AND CASE a.kind WHEN 'REVERSAL' THEN r.kind IN ('REDEMPTION', 'CASH_OUT')
                      WHEN 'RELOAD_REVERSAL' THEN r.kind = 'RELOAD' ELSE r.kind = 'ACTIVATION' END AND abs(r.delta) >= (SELECT g.amount FROM given_back AS g
                      WHERE g.account_id = a.account_id AND g.redemption_id = a.reverses))) THEN
            broken := 'a reversal takes back no more than there was';
        END IF;
    END IF;
    IF broken IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = broken;
    END IF;
    RETURN NULL;
END $$;

-- The order of commits, for readers of events. A position is drawn while the gifts are locked, so that it grows with
-- the history of each, and after the transaction has its number, so that readers can tell from the numbers of open
-- transactions up to where no position will appear any more.
CREATE SEQUENCE event_position;
CREATE FUNCTION next_event_position() RETURNS BIGINT LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_current_xact_id(); RETURN nextval('event_position'); END $$;

-- A row for each commit and account that made entries, and for each event that has no entry. Rows are kept for 90
-- days; the newest of an account stays.
CREATE TABLE event (
    position   BIGINT NOT NULL DEFAULT next_event_position(),
    account_id BYTEA  NOT NULL CHECK (length(account_id) = 16),
    made_at    BIGINT NOT NULL,
    kinds      TEXT   NOT NULL, -- of the entries, each once, with spaces around; or the type of the event
    entries    BYTEA  NOT NULL CHECK (length(entries) % 16 = 0), -- their ids in order
    body       TEXT   NOT NULL, -- of an event without an entry, as JSON; '': these are entries
    PRIMARY KEY (account_id, position),
    CHECK ((length(entries) = 0) = (body <> ''))
);
CREATE INDEX event_in_order ON event (position, account_id);
CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
FOR EACH ROW EXECUTE FUNCTION never('events are never changed');

-- Of programs from schema 1, too, which know nothing of events.
CREATE FUNCTION entries_are_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The entries have given the transaction its number.
    INSERT INTO event (position, account_id, made_at, kinds, entries, body)
        SELECT nextval('event_position'), e.* FROM (
            SELECT a.account_id, min(a.made_at), ' ' || string_agg(DISTINCT a.kind, ' ') || ' ',
                string_agg(a.id, ''::BYTEA ORDER BY a.n), '' FROM added AS a GROUP BY a.account_id) AS e;
    RETURN NULL;
END $$;
CREATE TRIGGER entries_are_events AFTER INSERT ON entry REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION entries_are_events();

-- Whether it works for test accounts only; else for live ones only.
ALTER TABLE api_key ADD COLUMN test BOOLEAN NOT NULL DEFAULT FALSE;

-- How far the clock of a test account is ahead, in microseconds; where it was set to last; and under which key.
CREATE TABLE test_clock (
    account_id BYTEA  PRIMARY KEY REFERENCES account (id),
    ahead      BIGINT NOT NULL DEFAULT 0 CHECK (ahead >= 0),
    target     BIGINT,
    key        TEXT NOT NULL DEFAULT ''
);

-- A message of a test account, due by that account's clock. Who looks for those of live accounts steps over none.
ALTER TABLE job ADD COLUMN test BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX job_live ON job (claimable_at) WHERE NOT test;
CREATE INDEX job_test ON job (account_id, claimable_at) WHERE test;

-- Where events of an account are sent.
CREATE TABLE webhook (
    account_id  BYTEA   NOT NULL CHECK (length(account_id) = 16),
    id          BYTEA   NOT NULL CHECK (length(id) = 16),
    url         TEXT    NOT NULL,
    types       TEXT    NOT NULL, -- with spaces between them; '': all
    description TEXT    NOT NULL,
    enabled     BOOLEAN NOT NULL,
    why_off     TEXT    NOT NULL CHECK (why_off IN ('', 'GONE', 'FAILING') AND (why_off = '' OR NOT enabled)),
    created_at  BIGINT NOT NULL,
    changed_at  BIGINT NOT NULL,
    start       BYTEA   NOT NULL CHECK (length(start) = 16), -- a place in the events
    secret      BYTEA   NOT NULL, -- sealed
    old_secret  BYTEA,
    old_until   BIGINT,
    replay      TEXT    NOT NULL, -- the newest one, as JSON; '': none
    PRIMARY KEY (account_id, id)
);

-- How far an endpoint has come, as JSON. Deliverers write it together, every second.
CREATE TABLE webhook_state (
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    webhook_id BYTEA NOT NULL CHECK (length(webhook_id) = 16),
    state      TEXT NOT NULL,
    PRIMARY KEY (account_id, webhook_id)
);

-- Which process delivers the events of an account.
CREATE TABLE webhook_lease (
    account_id BYTEA   NOT NULL PRIMARY KEY CHECK (length(account_id) = 16),
    owner      BYTEA   NOT NULL CHECK (length(owner) = 16),
    claimed_at BIGINT NOT NULL,
    until      BIGINT NOT NULL
);

-- Calls of endpoints, for 30 days.
CREATE TABLE webhook_attempt (
    account_id BYTEA   NOT NULL CHECK (length(account_id) = 16),
    webhook_id BYTEA   NOT NULL CHECK (length(webhook_id) = 16),
    id         BYTEA   NOT NULL CHECK (length(id) = 16), -- which grows with time
    event_id   BYTEA   NOT NULL CHECK (length(event_id) = 16),
    type       TEXT    NOT NULL,
    made_at    BIGINT NOT NULL,
    took       BIGINT NOT NULL,
    status     BIGINT NOT NULL, -- of HTTP; 0: there was no answer
    words      TEXT    NOT NULL,
    answer     BYTEA   NOT NULL, -- sealed; empty: it said nothing
    PRIMARY KEY (account_id, webhook_id, id)
);
CREATE INDEX webhook_attempt_old ON webhook_attempt (account_id, made_at);

-- The W3C traceparent of the request that asked for the message, where that is recorded; '': it is not.
ALTER TABLE job ADD COLUMN trace TEXT NOT NULL DEFAULT '';

-- The address of the client that caused the entry; '': it was not noted.
ALTER TABLE entry ADD COLUMN address TEXT NOT NULL DEFAULT '';

-- Whether a paired till made it. A till reads its own day, which lies among those of all others.
ALTER TABLE entry ADD COLUMN till BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX entry_of_till ON entry (account_id, key_id, id) WHERE till;

-- What was done to the set-up of an account, and which codes left: with the entries that keys caused, its audit trail.
CREATE TABLE trail (
    account_id BYTEA   NOT NULL CHECK (length(account_id) = 16),
    id         BYTEA   NOT NULL CHECK (length(id) = 16), -- which grows with time
    made_at    BIGINT  NOT NULL,
    action     TEXT    NOT NULL,
    key_id     BYTEA   CHECK (length(key_id) = 16), -- NULL: somebody at the command line
    made_by    TEXT    NOT NULL, -- the operating system's user who was there; '': it was a key
    person     TEXT    NOT NULL,
    address    TEXT    NOT NULL,
    request_id TEXT    NOT NULL,
    what       TEXT    NOT NULL, -- in words; never a secret
    PRIMARY KEY (account_id, id)
);

-- The ends of its validity that gift.expiring and gift.expired told of; 0: none. What was over before there were events
-- is not told any more.
ALTER TABLE voucher ADD COLUMN expiring_told BIGINT NOT NULL DEFAULT 0;
ALTER TABLE voucher ADD COLUMN expired_told BIGINT NOT NULL DEFAULT 0;
UPDATE voucher SET expiring_told = coalesce(extended, valid_until), expired_told = coalesce(extended, valid_until)
    WHERE coalesce(extended, valid_until) <= (SELECT max(created_at) FROM voucher);
CREATE INDEX voucher_expiring ON voucher (account_id, coalesce(extended, valid_until))
    WHERE coalesce(extended, valid_until) <> expiring_told;
CREATE INDEX voucher_expired ON voucher (account_id, coalesce(extended, valid_until))
    WHERE coalesce(extended, valid_until) <> expired_told;
