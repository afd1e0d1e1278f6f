-- Serves programs from schema 1.

-- Messages of live accounts by account, which take turns where many are due.
CREATE INDEX job_turn ON job (account_id, claimable_at) WHERE NOT test;
