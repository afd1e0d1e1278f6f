-- Serves programs from schema 1.

-- What a key may do: names of permissions with spaces between them, or "all". NULL: the key is from before this step, and may do everything.
ALTER TABLE api_key ADD COLUMN permissions TEXT;
