-- Serves programs from schema 1.

-- The sender's message, sealed for its gift; NULL: it stands in message, in clear, as release 0.1.0 kept it, or there is none.
ALTER TABLE card ADD COLUMN sealed_message BYTEA;
