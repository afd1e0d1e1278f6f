CREATE TRIGGER chain_never_changes BEFORE UPDATE ON chain
BEGIN SELECT RAISE(ABORT, 'rows of hash chains are never changed'); END;

CREATE TRIGGER chain_never_deleted BEFORE DELETE ON chain
BEGIN SELECT RAISE(ABORT, 'rows of hash chains are never deleted'); END;

CREATE TRIGGER setup_change_never_changes BEFORE UPDATE ON setup_change
BEGIN SELECT RAISE(ABORT, 'the log of the set-up is never changed'); END;

-- Version 0 is the set-up of a new database, which makes room for a copy.
CREATE TRIGGER setup_change_never_deleted BEFORE DELETE ON setup_change WHEN OLD.version > 0
BEGIN SELECT RAISE(ABORT, 'the log of the set-up is never shortened'); END;

-- As in the steps before that gave figures for plans.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('chain', 'chain', '1000000 1000 1'), ('chain', 'chain_genesis', '1000 1');
ANALYZE sqlite_schema;
