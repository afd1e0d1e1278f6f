-- The schema of PostgreSQL. Its tables are those of the other database, in the same order, with the types that this
-- one has.
--
-- Ids are 16 bytes. Times are microseconds since 1970, in UTC and by the application's clock; money is whole minor
-- units of its currency. NULL is "none" for ids and times; a text that is not there is ''.

-- The set-up: accounts and API keys. An account is one document, as it is always read whole.

-- Proves that the key file belongs to this database: a known text that is sealed with it.
CREATE TABLE key_check (
    one   BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    value BYTEA  NOT NULL
);

-- The set-up's version, raised by each change. Its row is also the lock on the set-up.
CREATE TABLE setup_version (
    one     BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    version BIGINT NOT NULL
);
INSERT INTO setup_version (one, version) VALUES (1, 0);

-- The log of the set-up: a row for each change, chained to the row before by its MAC.
CREATE TABLE setup_change (
    number  BIGINT NOT NULL PRIMARY KEY CHECK (number >= 1), -- without a gap
    version BIGINT NOT NULL, -- the set-up's, after the change
    made_at BIGINT NOT NULL,
    made_by TEXT   NOT NULL, -- the operating system's user
    what    TEXT   NOT NULL, -- in words; never a secret
    before  BYTEA  NOT NULL CHECK (length(before) = 32), -- a hash of the whole set-up
    after   BYTEA  NOT NULL CHECK (length(after) = 32),
    mac     BYTEA  NOT NULL CHECK (length(mac) = 17)
);

-- A merchant, with its locations, storefronts, promotions, designs and limits.
CREATE TABLE account (
    id      BYTEA  NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    config  TEXT   NOT NULL, -- JSON
    version BIGINT NOT NULL  -- the set-up's, when the account was last changed
);

-- The pictures of voucher designs, found by their SHA-256. They are never changed and never deleted: mails show them.
CREATE TABLE asset (
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    hash       BYTEA NOT NULL CHECK (length(hash) = 32),
    kind       TEXT  NOT NULL CHECK (kind IN ('png', 'jpeg')),
    bytes      BYTEA NOT NULL,
    PRIMARY KEY (account_id, hash)
);
CREATE INDEX asset_hash ON asset (hash);

-- API keys, of which only hashes are kept. A list of ids is its ids, one after the other.
CREATE TABLE api_key (
    id          BYTEA  NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    kind        TEXT   NOT NULL CHECK (kind IN ('account', 'system')),
    account_id  BYTEA  CHECK (length(account_id) = 16), -- NULL: a system key
    name        TEXT   NOT NULL,
    hint        TEXT   NOT NULL, -- the last characters, to tell keys apart
    hash        BYTEA  NOT NULL UNIQUE CHECK (length(hash) = 32),
    locations   BYTEA  NOT NULL CHECK (length(locations) % 16 = 0), -- where the key may be used; empty: everywhere
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT,
    revoked_at  BIGINT,
    permissions TEXT   NOT NULL, -- names with spaces between them, or 'all'
    limits      TEXT, -- daily limits beside those of the account, as JSON
    accounts    BYTEA  NOT NULL CHECK (length(accounts) % 16 = 0), -- for which a system key may send
    programs    BYTEA  NOT NULL CHECK (length(programs) % 16 = 0), -- likewise
    CHECK ((kind = 'account') = (account_id IS NOT NULL))
);

-- When each API key was last used. A service writes it every few minutes.
CREATE TABLE key_use (
    key_id  BYTEA  NOT NULL PRIMARY KEY CHECK (length(key_id) = 16),
    used_at BIGINT NOT NULL
);

-- Which locations, promotions, designs and storefronts gifts refer to: those may not be taken out of the set-up.
CREATE TABLE used_record (
    account_id BYTEA NOT NULL,
    record_id  BYTEA NOT NULL CHECK (length(record_id) = 16),
    PRIMARY KEY (account_id, record_id)
);

-- Gifts. What decisions are made on (voucher: narrow, changed by each redemption) is apart from what is shown (card:
-- wide, hardly ever changed).

CREATE TABLE voucher (
    account_id   BYTEA   NOT NULL CHECK (length(account_id) = 16),
    id           BYTEA   NOT NULL CHECK (length(id) = 16),
    order_id     BYTEA   NOT NULL CHECK (length(order_id) = 16),
    program_id   BYTEA   NOT NULL CHECK (length(program_id) = 16),
    location_id  BYTEA   CHECK (length(location_id) = 16), -- where alone it can be used
    item         BOOLEAN NOT NULL, -- good for an item, not for an amount
    promotional  BOOLEAN NOT NULL,
    promotion_id BYTEA   CHECK (length(promotion_id) = 16),
    currency     TEXT    NOT NULL,
    decimals     BIGINT  NOT NULL CHECK (decimals BETWEEN 0 AND 4),
    -- what was put into it: its value when it was made or activated, and what was loaded, less what was taken back
    loaded       BIGINT  NOT NULL CHECK (loaded >= 0),
    balance      BIGINT  NOT NULL CHECK (balance BETWEEN 0 AND loaded),
    -- 1 PENDING, 2 PURCHASE_FAILED, 3 DELIVERED, 4 FAILED_DELIVERY, 5 CLAIMED, 6 REDEEMED, 7 CANCELLED,
    -- 8 NOT_ACTIVATED
    status       BIGINT  NOT NULL CHECK (status BETWEEN 1 AND 8),
    seq          BIGINT  NOT NULL CHECK (seq >= 1), -- the number of its ledger entries
    last         BYTEA   NOT NULL CHECK (length(last) = 16), -- the id of the newest
    valid_from   BIGINT,
    valid_until  BIGINT,
    created_at   BIGINT  NOT NULL,
    made_by      TEXT    NOT NULL, -- the name of the system key that made it; '': a key of the account
    holds        TEXT, -- the open ones, as JSON; NULL: none
    held         BIGINT  NOT NULL DEFAULT 0 CHECK (held BETWEEN 0 AND balance), -- by all of them
    holds_end    BIGINT, -- when the first of them is over
    items_id     BYTEA   CHECK (length(items_id) = 16), -- NULL: good for everything
    fixed        BIGINT  NOT NULL CHECK (fixed >= 0), -- the worth that a card of a stock gets when it is activated; 0: any
    verification BYTEA, -- the verification code of a card of a stock, sealed for this gift; NULL: it has none
    wrong_codes  BIGINT  NOT NULL DEFAULT 0 CHECK (wrong_codes >= 0), -- wrong verification codes in a row
    blocked      TEXT    NOT NULL DEFAULT '', -- the reason code; '': it is not blocked
    extended     BIGINT, -- until when a promotional gift was made valid after all; NULL: valid_until stands
    replaced     BIGINT  NOT NULL DEFAULT 0, -- the number of the entry that gave it its code; 0: it is its first
    PRIMARY KEY (account_id, id),
    -- REDEEMED is the status of an empty gift; beside it, one that is cancelled or not activated may be empty.
    CONSTRAINT voucher_redeemed CHECK (status = 7 OR (status IN (6, 8)) = (balance = 0)),
    CONSTRAINT voucher_extended CHECK (extended IS NULL OR promotional AND extended > valid_until),
    CONSTRAINT voucher_holds CHECK ((holds IS NULL) = (held = 0) AND (holds_end IS NULL) = (held = 0))
);
-- No index but the primary key begins with the account: without statistics a planner takes two of them for equally
-- good, and then reads all rows of an account to find one.
CREATE INDEX voucher_order ON voucher (order_id, account_id);
CREATE INDEX voucher_holds_end ON voucher (holds_end) WHERE holds_end IS NOT NULL;

-- What restricted gifts are good for, as it was when they were made; gifts share a list.
CREATE TABLE item_list (
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    id         BYTEA NOT NULL CHECK (length(id) = 16), -- of the SHA-256 of items
    items      TEXT  NOT NULL, -- JSON
    PRIMARY KEY (account_id, id)
);

-- The terms of an order of several gifts, once.
CREATE TABLE order_terms (
    account_id        BYTEA NOT NULL CHECK (length(account_id) = 16),
    order_id          BYTEA NOT NULL CHECK (length(order_id) = 16),
    terms             TEXT  NOT NULL,
    promotional_terms TEXT  NOT NULL,
    PRIMARY KEY (account_id, order_id)
);

CREATE TABLE card (
    account_id           BYTEA   NOT NULL,
    voucher_id           BYTEA   NOT NULL,
    secrets              BYTEA   NOT NULL, -- code and token, sealed for this gift
    label                TEXT    NOT NULL,
    terms                TEXT    NOT NULL,
    promotional_terms    TEXT    NOT NULL,
    terms_of_order       BOOLEAN NOT NULL, -- both are in order_terms
    equivalent_value     BIGINT  NOT NULL CHECK (equivalent_value >= 0),
    sender               TEXT    NOT NULL,
    recipient            TEXT    NOT NULL,
    contact              TEXT    NOT NULL,
    message              TEXT    NOT NULL,
    method               BIGINT  NOT NULL CHECK (method BETWEEN 1 AND 3), -- e-mail, SMS, printed
    design_id            BYTEA   CHECK (length(design_id) = 16),
    scheduled            BOOLEAN NOT NULL,
    delivery_date        BIGINT,
    delivery_zone        TEXT    NOT NULL,
    delivered_at         BIGINT,
    delivered_by         BYTEA   CHECK (length(delivered_by) = 16), -- the job whose message was accepted last
    recipient_index      BIGINT  NOT NULL CHECK (recipient_index >= 0), -- in the order
    reference            TEXT    NOT NULL,
    first_name           TEXT    NOT NULL,
    last_name            TEXT    NOT NULL,
    email_address        TEXT    NOT NULL,
    storefront_id        BYTEA   CHECK (length(storefront_id) = 16),
    notes                TEXT    NOT NULL,
    related_order_id     TEXT    NOT NULL,
    related_order_number TEXT    NOT NULL,
    PRIMARY KEY (account_id, voucher_id),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
);
CREATE INDEX card_reference ON card (reference, account_id, voucher_id) WHERE reference <> '';

-- Keyed hashes of codes and tokens: what a gift is found by when its code is typed or its link is opened.
CREATE TABLE secret (
    hash       BYTEA NOT NULL PRIMARY KEY CHECK (length(hash) = 33), -- unique in the whole installation
    kind       TEXT  NOT NULL CHECK (kind IN ('code', 'token')),
    account_id BYTEA NOT NULL,
    voucher_id BYTEA NOT NULL,
    replaced   BIGINT NOT NULL DEFAULT 0, -- the number of the entry that took it away; 0: it leads to the gift
    UNIQUE (account_id, voucher_id, kind, replaced),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
);

-- What lists of gifts are filtered by, as keyed hashes: see search.go.
CREATE TABLE gift_search (
    account_id BYTEA NOT NULL,
    key        BYTEA NOT NULL CHECK (length(key) = 12),
    voucher_id BYTEA NOT NULL,
    PRIMARY KEY (account_id, key, voucher_id),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
);

-- How many gifts an account has, so that nothing counts millions.
CREATE TABLE tally (
    account_id BYTEA  NOT NULL PRIMARY KEY CHECK (length(account_id) = 16),
    vouchers   BIGINT NOT NULL CHECK (vouchers >= 0)
);

-- Hash chains: rows of entry that were changed, removed, inserted or moved past this program are found. There is a row
-- for each commit. Every writer has a chain of its own: one for each transaction that an instance has under way.
CREATE TABLE chain (
    writer  BYTEA  NOT NULL CHECK (length(writer) = 16), -- in the order of time
    n       BIGINT NOT NULL CHECK (n >= 0), -- of the last entry of the commit, among all of the writer; 0: the genesis
    content BYTEA  NOT NULL, -- a digest of each entry, 16 bytes; of the genesis: how far other chains had come
    mac     BYTEA  NOT NULL CHECK (length(mac) = 17), -- over this row and the mac of the row before it
    PRIMARY KEY (writer, n)
);
CREATE INDEX chain_genesis ON chain (writer) WHERE n = 0;

-- The ledger. Rows are only ever added, in the order of time, so that a group of redemptions fills a page instead of
-- changing one for each of them. Each names the entry of its gift before it.
CREATE TABLE entry (
    account_id  BYTEA  NOT NULL,
    id          BYTEA  NOT NULL CHECK (length(id) = 16),
    voucher_id  BYTEA  NOT NULL,
    seq         BIGINT NOT NULL, -- in the history of its gift, from 1
    previous    BYTEA  CHECK (length(previous) = 16),
    kind        TEXT   NOT NULL,
    delta       BIGINT NOT NULL,
    balance     BIGINT NOT NULL CHECK (balance >= 0), -- after the entry
    status      BIGINT NOT NULL CHECK (status BETWEEN 1 AND 8), -- after the entry, as in voucher
    made_at     BIGINT NOT NULL,
    key_id      BYTEA  CHECK (length(key_id) = 16),
    location_id BYTEA  CHECK (length(location_id) = 16),
    reverses    BYTEA  CHECK (length(reverses) = 16), -- the entry that it takes back
    hold_id     BYTEA  CHECK (length(hold_id) = 16), -- the hold that it captures of, or ends
    held        BIGINT NOT NULL DEFAULT 0, -- what it added to what is held
    held_until  BIGINT, -- of a hold; of an extension, the new end
    reference   TEXT   NOT NULL,
    reason      TEXT   NOT NULL,
    request_id  TEXT   NOT NULL,
    details     TEXT, -- what few kinds have, as JSON; NULL: nothing
    writer      BYTEA  NOT NULL CHECK (length(writer) = 16), -- whose hash chain the entry is in
    n           BIGINT NOT NULL CHECK (n >= 1), -- its number there
    PRIMARY KEY (account_id, id),
    CONSTRAINT entry_kind CHECK (CASE kind
        WHEN 'ISSUED' THEN delta = 0
        WHEN 'DELIVERED' THEN delta = 0
        WHEN 'FAILED_DELIVERY' THEN delta = 0
        WHEN 'REDEMPTION' THEN delta < 0
        WHEN 'REVERSAL' THEN delta > 0
        WHEN 'CANCELLATION' THEN delta = 0
        WHEN 'REINSTATEMENT' THEN delta = 0
        WHEN 'RESENT' THEN delta = 0
        WHEN 'RESCHEDULED' THEN delta = 0
        WHEN 'HOLD' THEN delta = 0 AND held > 0
        WHEN 'HOLD_RELEASED' THEN delta = 0 AND held < 0
        WHEN 'HOLD_EXPIRED' THEN delta = 0 AND held < 0
        WHEN 'ACTIVATION' THEN delta > 0
        WHEN 'ACTIVATION_REVERSAL' THEN delta < 0
        WHEN 'RELOAD' THEN delta > 0
        WHEN 'RELOAD_REVERSAL' THEN delta < 0
        WHEN 'ADJUSTMENT' THEN delta <> 0
        WHEN 'CASH_OUT' THEN delta < 0
        WHEN 'TRANSFER_OUT' THEN delta < 0
        WHEN 'TRANSFER_IN' THEN delta > 0
        WHEN 'BLOCKED' THEN delta = 0
        WHEN 'UNBLOCKED' THEN delta = 0
        WHEN 'WRONG_VERIFICATION_CODE' THEN delta = 0
        WHEN 'REPLACED' THEN delta = 0
        WHEN 'EXTENDED' THEN delta = 0
        ELSE FALSE END),
    CONSTRAINT entry_first CHECK (seq >= 1 AND (seq = 1) = (kind = 'ISSUED') AND (seq = 1) = (previous IS NULL)),
    CONSTRAINT entry_follows CHECK (previous < id),
    -- With IN, SQLite would make a table of these names for every row that it writes.
    CONSTRAINT entry_reversal CHECK (
        (kind = 'REVERSAL' OR kind = 'ACTIVATION_REVERSAL' OR kind = 'RELOAD_REVERSAL') = (reverses IS NOT NULL)),
    CONSTRAINT entry_redeemed CHECK (status = 7 OR (status IN (6, 8)) = (balance = 0)),
    CONSTRAINT entry_held CHECK (CASE
        WHEN held > 0 THEN kind = 'HOLD' AND hold_id IS NULL AND held_until IS NOT NULL AND held_until > made_at
        WHEN held < 0 THEN kind IN ('REDEMPTION', 'HOLD_RELEASED', 'HOLD_EXPIRED') AND hold_id IS NOT NULL
            AND held_until IS NULL
        WHEN kind = 'EXTENDED' THEN hold_id IS NULL AND held_until > made_at
        ELSE hold_id IS NULL AND held_until IS NULL END)
);
CREATE INDEX entry_reverses ON entry (reverses, account_id) WHERE reverses IS NOT NULL;
CREATE INDEX entry_hold ON entry (hold_id, account_id, id) WHERE hold_id IS NOT NULL;
-- A history is read backwards, from one entry to the one before. In a long one, reading can begin at every 64th.
CREATE INDEX entry_milestone ON entry (voucher_id, seq, account_id) WHERE seq % 64 = 0;
-- A reinstatement asks what the gift was before it was cancelled.
CREATE INDEX entry_cancellation ON entry (voucher_id, account_id, id) WHERE kind = 'CANCELLATION';

-- How much of each redemption, reload or activation was undone, and in how many parts. The guard on entries keeps it.
CREATE TABLE given_back (
    account_id    BYTEA  NOT NULL CHECK (length(account_id) = 16),
    redemption_id BYTEA  NOT NULL CHECK (length(redemption_id) = 16), -- its entry's
    amount        BIGINT NOT NULL CHECK (amount > 0),
    parts         BIGINT NOT NULL CHECK (parts > 0),
    PRIMARY KEY (account_id, redemption_id)
);

-- Each resend of a gift, and where the gift had gone before it.
CREATE TABLE resend (
    account_id BYTEA  NOT NULL,
    voucher_id BYTEA  NOT NULL,
    seq        BIGINT NOT NULL, -- of its entry in the history
    id         BYTEA  NOT NULL CHECK (length(id) = 16), -- its entry's, and its job's
    made_at    BIGINT NOT NULL,
    method     BIGINT NOT NULL CHECK (method BETWEEN 1 AND 3),
    contact    TEXT   NOT NULL,
    PRIMARY KEY (account_id, voucher_id, seq),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
);

-- Idempotency records: an Idempotency-Key has one effect, and one answer.
CREATE TABLE request (
    account_id  BYTEA   NOT NULL CHECK (length(account_id) = 16),
    key         TEXT    NOT NULL CHECK (key <> ''),
    operation   TEXT    NOT NULL,
    fingerprint BYTEA   NOT NULL CHECK (length(fingerprint) = 32),
    code        TEXT    NOT NULL, -- of the answer: OK, CREATED, or why it was refused; '' of a key that is spent
    answer      BYTEA   NOT NULL,
    sealed      BOOLEAN NOT NULL, -- whether the answer is
    entry_id    BYTEA   CHECK (length(entry_id) = 16),
    spent       BOOLEAN NOT NULL, -- reversed before the redemption itself arrived
    locations   BYTEA   NOT NULL CHECK (length(locations) % 16 = 0), -- that the answer tells of
    made_at     BIGINT  NOT NULL,
    size        BIGINT  NOT NULL, -- of an answer that is in the table answer; 0: it is here
    replays     BIGINT  NOT NULL DEFAULT 0, -- how often the answer was given again
    PRIMARY KEY (account_id, key, operation)
);
-- Records of calls that moved no value are deleted after a while.
CREATE INDEX request_forgettable ON request (account_id, made_at)
    WHERE operation IN ('send-gift', 'cancel-gift', 'reinstate-gift', 'resend-gift', 'reschedule-gift', 'create-stock', 'block-gift', 'unblock-gift', 'extend-gift', 'replace-gift');

-- Answers that are too long for a row of request: SQLite keeps those rows in the index that finds them, and a look-up
-- would read the whole of every long row that it passes.
CREATE TABLE answer (
    account_id BYTEA NOT NULL CHECK (length(account_id) = 16),
    key        TEXT  NOT NULL,
    operation  TEXT  NOT NULL,
    locations  BYTEA NOT NULL CHECK (length(locations) % 16 = 0), -- as in request, where there are none then
    body       BYTEA NOT NULL, -- compressed, and then sealed if the record says so
    PRIMARY KEY (account_id, key, operation),
    FOREIGN KEY (account_id, key, operation) REFERENCES request (account_id, key, operation) ON DELETE CASCADE
);

-- Up to when records were deleted. The instant moves on slowly, whatever the clock says.
CREATE TABLE forgotten (
    one    BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    before BIGINT NOT NULL,
    at     BIGINT NOT NULL -- when it last moved
);

-- Messages to be sent after the commit that wants them.
CREATE TABLE job (
    account_id   BYTEA  NOT NULL,
    id           BYTEA  NOT NULL CHECK (length(id) = 16),
    voucher_id   BYTEA  NOT NULL,
    -- '': brings the gift; BALANCE: tells what is left of it; REDIRECTED: tells that it went elsewhere
    kind         TEXT   NOT NULL CHECK (kind IN ('', 'BALANCE', 'REDIRECTED')),
    due          BIGINT NOT NULL,
    claimable_at BIGINT NOT NULL, -- when it is due, or when the lease of the worker that has it ends
    attempts     BIGINT NOT NULL CHECK (attempts >= 0),
    doubts       BIGINT NOT NULL CHECK (doubts >= 0), -- attempts that may have been accepted
    last_words   TEXT   NOT NULL, -- the gateway's
    method       BIGINT NOT NULL, -- where a REDIRECTED message goes; 0 and '': where the gift goes
    contact      TEXT   NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
);
CREATE INDEX job_claimable ON job (claimable_at);
CREATE INDEX job_voucher ON job (voucher_id, account_id);

-- Messages that a service without gateways keeps, for development.
CREATE TABLE outbox (
    id      BYTEA  NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    made_at BIGINT NOT NULL,
    message BYTEA  NOT NULL -- sealed for this id
);
CREATE INDEX outbox_newest ON outbox (made_at, id);

-- Links to the printed sheets of orders, by the hash of their token.
CREATE TABLE sheet (
    hash     BYTEA  NOT NULL PRIMARY KEY CHECK (length(hash) = 33),
    order_id BYTEA  NOT NULL CHECK (length(order_id) = 16), -- to revoke its links
    until    BIGINT NOT NULL,
    owner    BYTEA  NOT NULL -- account and order, sealed for this hash
);
CREATE INDEX sheet_order ON sheet (order_id);
CREATE INDEX sheet_until ON sheet (until);

-- Limits. A bucket is written as the instant at which it will be full again, and as the one at which it was last
-- taken from: a bucket that was taken from in the future was written by a clock that was ahead, and counts as full.

-- Wrong codes, for each key at each location.
CREATE TABLE till_bucket (
    account_id  BYTEA  NOT NULL,
    key_id      BYTEA  NOT NULL,
    location_id BYTEA  NOT NULL, -- zeros: no location
    full_at     BIGINT,
    taken_at    BIGINT,
    PRIMARY KEY (account_id, key_id, location_id)
);

-- Attempts without a valid key, for each client network.
CREATE TABLE anonymous_bucket (
    address_hash BYTEA  NOT NULL PRIMARY KEY CHECK (length(address_hash) = 33),
    full_at      BIGINT,
    taken_at     BIGINT
);
CREATE INDEX anonymous_full ON anonymous_bucket (full_at);

-- How many codes of a key were wrong within an hour; many raise an alarm.
CREATE TABLE key_miss (
    account_id BYTEA  NOT NULL,
    key_id     BYTEA  NOT NULL,
    since      BIGINT, -- of the first that is counted
    misses     BIGINT NOT NULL CHECK (misses >= 0),
    PRIMARY KEY (account_id, key_id)
);

-- What was done in a day, for daily limits.
CREATE TABLE day_count (
    account_id BYTEA  NOT NULL,
    -- a letter, and the id of an account or a key or the keyed hash of a contact: see counts.go
    what       BYTEA  NOT NULL,
    day        BIGINT NOT NULL, -- in the account's time zone, as 20261122
    amount     BIGINT NOT NULL CHECK (amount >= 0),
    gifts      BIGINT NOT NULL CHECK (gifts >= 0),
    messages   BIGINT NOT NULL CHECK (messages >= 0),
    texts      BIGINT NOT NULL CHECK (texts >= 0),
    kept       BIGINT NOT NULL CHECK (kept >= 0),
    PRIMARY KEY (account_id, what)
);
CREATE INDEX day_count_day ON day_count (day);

-- Guards: what can never be right is refused here, too.

-- Room on each page, so that a redemption changes its row in place and touches no index.
ALTER TABLE voucher SET (fillfactor = 80);
-- Bodies are compressed already.
ALTER TABLE answer ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_ARGV[0]; END $$;

CREATE TRIGGER setup_change_never_changes BEFORE UPDATE ON setup_change
FOR EACH ROW EXECUTE FUNCTION never('the log of the set-up is never changed');

-- Version 0 is the set-up of a new database, which makes room for a copy.
CREATE TRIGGER setup_change_never_deleted BEFORE DELETE ON setup_change
FOR EACH ROW WHEN (OLD.version > 0) EXECUTE FUNCTION never('the log of the set-up is never shortened');

CREATE TRIGGER voucher_terms_never_change
BEFORE UPDATE OF account_id, id, order_id, program_id, location_id, item, promotional, promotion_id, currency, decimals,
    valid_from, valid_until, created_at, made_by, items_id, fixed, verification ON voucher
FOR EACH ROW EXECUTE FUNCTION never('what a voucher was made as does not change');

CREATE TRIGGER voucher_never_deleted BEFORE DELETE ON voucher
FOR EACH ROW EXECUTE FUNCTION never('vouchers are never deleted');

CREATE TRIGGER item_list_never_changes BEFORE UPDATE ON item_list
FOR EACH ROW EXECUTE FUNCTION never('lists of items are never changed');

CREATE TRIGGER item_list_never_deleted BEFORE DELETE ON item_list
FOR EACH ROW EXECUTE FUNCTION never('lists of items are never deleted');

CREATE TRIGGER chain_never_changes BEFORE UPDATE ON chain
FOR EACH ROW EXECUTE FUNCTION never('rows of hash chains are never changed');

CREATE TRIGGER chain_never_deleted BEFORE DELETE ON chain
FOR EACH ROW EXECUTE FUNCTION never('rows of hash chains are never deleted');

CREATE TRIGGER entry_never_changes BEFORE UPDATE ON entry
FOR EACH ROW EXECUTE FUNCTION never('ledger entries are never changed');

CREATE TRIGGER entry_never_deleted BEFORE DELETE ON entry
FOR EACH ROW EXECUTE FUNCTION never('ledger entries are never deleted');

-- Once for all rows of a statement, of which it sees what all of them wrote.
CREATE FUNCTION entries_fit() RETURNS trigger LANGUAGE plpgsql AS $$
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
                  AND r.kind = CASE a.kind WHEN 'REVERSAL' THEN 'REDEMPTION' WHEN 'RELOAD_REVERSAL' THEN 'RELOAD'
                      ELSE 'ACTIVATION' END AND abs(r.delta) >= (SELECT g.amount FROM given_back AS g
                      WHERE g.account_id = a.account_id AND g.redemption_id = a.reverses))) THEN
            broken := 'a reversal takes back no more than there was';
        END IF;
    END IF;
    IF broken IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = broken;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER entries_fit AFTER INSERT ON entry REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION entries_fit();

CREATE FUNCTION reinstatement_fits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM entry AS p
            WHERE p.account_id = NEW.account_id AND p.id = NEW.previous AND p.status IN (2, 7)) THEN
        RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation',
            MESSAGE = 'only a gift that is out of use is reinstated';
    END IF;
    RETURN NULL;
END $$;
-- After the row, as the entry before it may be written by the same statement.
CREATE TRIGGER reinstatement_fits AFTER INSERT ON entry
FOR EACH ROW WHEN (NEW.kind = 'REINSTATEMENT') EXECUTE FUNCTION reinstatement_fits();

CREATE TRIGGER request_of_ledger_never_deleted BEFORE DELETE ON request
FOR EACH ROW WHEN (OLD.operation IN ('redeem-gift', 'reverse-redemption', 'hold-gift', 'capture-hold', 'release-hold',
    'reload-gift', 'reverse-reload', 'activate-gift', 'reverse-activation', 'cash-out-gift', 'transfer-balance'))
EXECUTE FUNCTION never('records of what moves or holds value are kept for ever');
