-- Serves programs from schema 1.

-- Keys of providers are found by how they begin: here the primary key does it.
