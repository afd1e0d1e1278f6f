-- Serves programs from schema 1.

-- Nothing: for an index as PostgreSQL has here, each redemption would take a twentieth longer.
