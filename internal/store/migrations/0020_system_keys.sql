-- Serves programs from schema 1.

-- For which accounts and programs a system key may send: ids, one after the other. A key without permissions (NULL) is from before there were any, and may for all.
ALTER TABLE api_key ADD COLUMN accounts BYTEA;
ALTER TABLE api_key ADD COLUMN programs BYTEA;
