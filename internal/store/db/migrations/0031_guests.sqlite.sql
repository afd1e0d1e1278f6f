-- Serves programs from schema 1.

-- Links to "my gifts" that somebody asked for, by the hash of their token. due is when it is to be found out whether
-- the contact has gifts, and the link to be sent; NULL: it was sent. A link of a contact without gifts is deleted then.
-- until is how long it signs in; 0: it was used. contact is the keyed hash by which links of a day are counted. The
-- document is sealed for the row.
CREATE TABLE guest_link (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    hash       BLOB    NOT NULL,
    contact    BLOB    NOT NULL,
    made_at    INTEGER NOT NULL,
    due        INTEGER,
    until      INTEGER NOT NULL,
    document   BLOB    NOT NULL,
    PRIMARY KEY (account_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX guest_link_due ON guest_link (due) WHERE due IS NOT NULL;
CREATE INDEX guest_link_to ON guest_link (account_id, contact);
CREATE INDEX guest_link_old ON guest_link (made_at);

-- Sessions of guests by the hash of their token.
CREATE TABLE guest_session (
    account_id BLOB    NOT NULL CHECK (length(account_id) = 16),
    hash       BLOB    NOT NULL,
    contact    BLOB    NOT NULL,
    until      INTEGER NOT NULL,
    document   BLOB    NOT NULL,
    PRIMARY KEY (account_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX guest_session_of ON guest_session (account_id, contact);
CREATE INDEX guest_session_old ON guest_session (until);

-- Gifts that somebody paid for, by their e-mail address; the letters A to Z are small.
CREATE INDEX card_buyer ON card (account_id, lower(email_address), voucher_id) WHERE email_address <> '';
