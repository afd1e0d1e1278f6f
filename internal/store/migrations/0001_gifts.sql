-- Ids are 16 bytes, times microseconds since 1970 in UTC by the application's clock, money whole minor units.
-- NULL is "none" for ids and times; a text that is not there is ''.
-- Words in braces and the type names are replaced by the dialect's.

-- A known text sealed with the keys of this database, so that other keys are noticed at once.
CREATE TABLE key_check (
    one   BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    value BYTEA  NOT NULL
) {table};

-- The set-up. A document per account: it is always read whole.

CREATE TABLE setup_version (
    one     BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    version BIGINT NOT NULL
) {table};
INSERT INTO setup_version (one, version) VALUES (1, 0);

CREATE TABLE account (
    id      BYTEA  NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    config  TEXT   NOT NULL, -- JSON
    version BIGINT NOT NULL  -- the set-up's, when it was last changed
) {table};

CREATE TABLE api_key (
    id         BYTEA  NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    kind       TEXT   NOT NULL CHECK (kind IN ('account', 'system')),
    account_id BYTEA  CHECK (length(account_id) = 16),
    name       TEXT   NOT NULL,
    hint       TEXT   NOT NULL,
    hash       BYTEA  NOT NULL UNIQUE CHECK (length(hash) = 32),
    locations  BYTEA  NOT NULL CHECK (length(locations) % 16 = 0), -- their ids, one after the other; empty: all
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    CHECK ((kind = 'account') = (account_id IS NOT NULL))
) {table};

-- What of the set-up gifts and redemptions refer to. Nothing is ever taken out: gifts are never deleted.
CREATE TABLE used_record (
    account_id BYTEA NOT NULL,
    record_id  BYTEA NOT NULL CHECK (length(record_id) = 16),
    PRIMARY KEY (account_id, record_id)
) {clustered};

-- Gifts: what is decided upon (voucher, narrow and hot), what is shown (card, cold), and the way from a secret to its gift.

CREATE TABLE voucher (
    account_id  BYTEA   NOT NULL CHECK (length(account_id) = 16),
    id          BYTEA   NOT NULL CHECK (length(id) = 16),
    order_id    BYTEA   NOT NULL CHECK (length(order_id) = 16),
    program_id  BYTEA   NOT NULL CHECK (length(program_id) = 16),
    location_id BYTEA   CHECK (length(location_id) = 16),
    item        BOOLEAN NOT NULL,
    promotional BOOLEAN NOT NULL,
    promotion_id BYTEA  CHECK (length(promotion_id) = 16),
    currency    TEXT    NOT NULL,
    decimals    BIGINT  NOT NULL CHECK (decimals BETWEEN 0 AND 4),
    original    BIGINT  NOT NULL CHECK (original > 0),
    balance     BIGINT  NOT NULL CHECK (balance BETWEEN 0 AND original),
    status      BIGINT  NOT NULL CHECK (status BETWEEN 1 AND 7),
    seq         BIGINT  NOT NULL CHECK (seq >= 1), -- the number of its entries
    last        BYTEA   NOT NULL CHECK (length(last) = 16), -- the newest of them
    valid_from  BIGINT,
    valid_until BIGINT,
    created_at  BIGINT  NOT NULL,
    PRIMARY KEY (account_id, id),
    -- REDEEMED is the name of an empty gift; only a cancelled one may be empty beside it.
    CONSTRAINT voucher_redeemed CHECK (status = 7 OR (status = 6) = (balance = 0))
) {clustered};
-- Indexes beside a primary key do not begin with the account: before it has figures, a planner takes two of them for equally good,
-- and then reads all rows of an account to find one.
CREATE INDEX voucher_order ON voucher (order_id, account_id);

CREATE TABLE card (
    account_id       BYTEA   NOT NULL,
    voucher_id       BYTEA   NOT NULL,
    secrets          BYTEA   NOT NULL, -- code and token, sealed for this voucher
    label            TEXT    NOT NULL,
    terms            TEXT    NOT NULL,
    promotional_terms TEXT   NOT NULL,
    equivalent_value BIGINT  NOT NULL CHECK (equivalent_value >= 0),
    sender           TEXT    NOT NULL,
    recipient        TEXT    NOT NULL,
    contact          TEXT    NOT NULL,
    message          TEXT    NOT NULL,
    method           BIGINT  NOT NULL CHECK (method BETWEEN 1 AND 3),
    design_id        BYTEA   CHECK (length(design_id) = 16),
    scheduled        BOOLEAN NOT NULL,
    delivery_date    BIGINT,
    delivery_zone    TEXT    NOT NULL,
    delivered_at     BIGINT, -- the only column that changes
    recipient_index  BIGINT  NOT NULL CHECK (recipient_index >= 0),
    reference        TEXT    NOT NULL,
    first_name       TEXT    NOT NULL,
    last_name        TEXT    NOT NULL,
    email_address    TEXT    NOT NULL,
    storefront_id    BYTEA   CHECK (length(storefront_id) = 16),
    notes            TEXT    NOT NULL,
    related_order_id TEXT    NOT NULL,
    related_order_number TEXT NOT NULL,
    PRIMARY KEY (account_id, voucher_id),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
) {table};
CREATE INDEX card_reference ON card (reference, account_id) WHERE reference <> '';

CREATE TABLE secret (
    hash       BYTEA NOT NULL PRIMARY KEY CHECK (length(hash) = 33), -- unique in the whole system
    kind       TEXT  NOT NULL CHECK (kind IN ('code', 'token')),
    account_id BYTEA NOT NULL,
    voucher_id BYTEA NOT NULL,
    UNIQUE (account_id, voucher_id, kind),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
) {clustered};

-- How many gifts an account has, kept with every new one, so that nothing counts millions.
CREATE TABLE tally (
    account_id BYTEA  NOT NULL PRIMARY KEY CHECK (length(account_id) = 16),
    vouchers   BIGINT NOT NULL CHECK (vouchers >= 0)
) {table};

-- The ledger. Rows are only ever added, in the order of time, so that a group of redemptions fills a page instead of changing one for
-- each of them; each names the entry of its voucher before it.

CREATE TABLE entry (
    account_id  BYTEA  NOT NULL,
    id          BYTEA  NOT NULL CHECK (length(id) = 16),
    voucher_id  BYTEA  NOT NULL,
    seq         BIGINT NOT NULL,
    previous    BYTEA  CHECK (length(previous) = 16),
    kind        TEXT   NOT NULL,
    delta       BIGINT NOT NULL,
    balance     BIGINT NOT NULL CHECK (balance >= 0),
    status      BIGINT NOT NULL CHECK (status BETWEEN 1 AND 7),
    made_at     BIGINT NOT NULL,
    key_id      BYTEA  CHECK (length(key_id) = 16),
    location_id BYTEA  CHECK (length(location_id) = 16),
    reverses    BYTEA  CHECK (length(reverses) = 16),
    reference   TEXT   NOT NULL,
    reason      TEXT   NOT NULL,
    request_id  TEXT   NOT NULL,
    writer      BYTEA  NOT NULL CHECK (length(writer) = 16), -- whose hash chain the entry is in
    n           BIGINT NOT NULL CHECK (n >= 1), -- its number there
    PRIMARY KEY (account_id, id),
    CONSTRAINT entry_kind CHECK (CASE kind
        WHEN 'REDEMPTION' THEN delta < 0
        WHEN 'REVERSAL' THEN delta > 0
        WHEN 'ISSUED' THEN delta = 0
        WHEN 'DELIVERED' THEN delta = 0
        WHEN 'FAILED_DELIVERY' THEN delta = 0
        WHEN 'CANCELLATION' THEN delta = 0
        ELSE FALSE END),
    CONSTRAINT entry_first CHECK (seq >= 1 AND (seq = 1) = (kind = 'ISSUED') AND (seq = 1) = (previous IS NULL)),
    CONSTRAINT entry_follows CHECK (previous < id),
    CONSTRAINT entry_reversal CHECK ((kind = 'REVERSAL') = (reverses IS NOT NULL)),
    CONSTRAINT entry_redeemed CHECK (status = 7 OR (status = 6) = (balance = 0))
) {clustered};
CREATE INDEX entry_reverses ON entry (reverses, account_id) WHERE reverses IS NOT NULL;
-- A history is read backwards, from one entry to the one before; this is where one may begin in a long one.
CREATE INDEX entry_milestone ON entry (voucher_id, seq, account_id) WHERE seq % 64 = 0;

-- Idempotency records: one key, one effect.

CREATE TABLE request (
    account_id  BYTEA   NOT NULL CHECK (length(account_id) = 16),
    key         TEXT    NOT NULL CHECK (key <> ''),
    operation   TEXT    NOT NULL,
    fingerprint BYTEA   NOT NULL CHECK (length(fingerprint) = 32),
    status      BIGINT  NOT NULL,
    answer      BYTEA   NOT NULL,
    sealed      BOOLEAN NOT NULL, -- whether the answer is
    entry_id    BYTEA   CHECK (length(entry_id) = 16),
    spent       BOOLEAN NOT NULL,
    locations   BYTEA   NOT NULL CHECK (length(locations) % 16 = 0), -- that the answer tells of, one after the other
    made_at     BIGINT  NOT NULL,
    replays     BIGINT  NOT NULL DEFAULT 0, -- how often the answer was given again
    PRIMARY KEY (account_id, key, operation)
) {clustered};

-- Work after the commit.

CREATE TABLE job (
    account_id   BYTEA  NOT NULL,
    id           BYTEA  NOT NULL CHECK (length(id) = 16),
    voucher_id   BYTEA  NOT NULL,
    due          BIGINT NOT NULL,
    claimable_at BIGINT NOT NULL, -- when it is due, or when the lease of whoever claimed it ends
    attempts     BIGINT NOT NULL CHECK (attempts >= 0),
    last_words   TEXT   NOT NULL, -- the gateway's
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, voucher_id) REFERENCES voucher (account_id, id)
) {table};
CREATE INDEX job_claimable ON job (claimable_at);

CREATE TABLE outbox (
    id      BYTEA  NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    made_at BIGINT NOT NULL,
    message BYTEA  NOT NULL -- sealed for this id
) {table};
CREATE INDEX outbox_newest ON outbox (made_at, id);

-- Wrong codes. A bucket is the instant at which it will be full again.

CREATE TABLE till_bucket (
    account_id  BYTEA  NOT NULL,
    key_id      BYTEA  NOT NULL,
    location_id BYTEA  NOT NULL, -- zeros: no location
    full_at     BIGINT,
    PRIMARY KEY (account_id, key_id, location_id)
) {clustered};

CREATE TABLE stranger_bucket (
    address_hash BYTEA  NOT NULL PRIMARY KEY CHECK (length(address_hash) = 33),
    full_at      BIGINT
) {clustered};
CREATE INDEX stranger_full ON stranger_bucket (full_at);
