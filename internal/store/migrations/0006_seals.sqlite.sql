CREATE TRIGGER strand_never_changes BEFORE UPDATE ON strand
BEGIN SELECT RAISE(ABORT, 'strands are never changed'); END;

CREATE TRIGGER strand_never_deleted BEFORE DELETE ON strand
BEGIN SELECT RAISE(ABORT, 'strands are never deleted'); END;

CREATE TRIGGER setup_change_never_changes BEFORE UPDATE ON setup_change
BEGIN SELECT RAISE(ABORT, 'the log of the set-up is never changed'); END;

-- Version 0 is the set-up of a new database, which makes room for a copy.
CREATE TRIGGER setup_change_never_deleted BEFORE DELETE ON setup_change WHEN OLD.version > 0
BEGIN SELECT RAISE(ABORT, 'the log of the set-up is never shortened'); END;

-- As in the steps before that gave figures for plans.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('strand', 'strand', '1000000 1000 1');
ANALYZE sqlite_schema;
