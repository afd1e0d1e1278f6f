-- Serves programs from schema 1.

-- Commits with other kinds of entry than most have, for those who ask for rare types of events.
CREATE INDEX event_rare ON event (account_id, position)
    WHERE trim(replace(replace(replace(kinds, 'ISSUED', ''), 'DELIVERED', ''), 'REDEMPTION', '')) <> '';
