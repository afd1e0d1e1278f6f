-- Serves programs from schema 1.

-- What a till did today is found among what the whole account did.
CREATE INDEX entry_of_key ON entry (account_id, key_id, id) WHERE key_id IS NOT NULL;
