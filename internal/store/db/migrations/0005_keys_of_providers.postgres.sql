-- Serves programs from schema 1.

-- Keys of providers are found by how they begin, whatever the collation of the database is.
CREATE INDEX request_of_provider ON request (account_id, (key COLLATE "C")) WHERE starts_with(key, 'provider ');
