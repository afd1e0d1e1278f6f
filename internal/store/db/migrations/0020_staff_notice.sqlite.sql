-- Serves programs from schema 1.

-- Mails that are still to be sent to members of the staff: each tells of a sign-in on a new device. A row is written
-- with the session, and deleted when a mail server took the mail. The document is sealed for the row.
CREATE TABLE staff_notice (
    id       BLOB NOT NULL CHECK (length(id) = 16),
    due      INTEGER NOT NULL, -- when it is tried next, or when the lease of whoever tries it ends
    document BLOB NOT NULL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
