CREATE TRIGGER strand_never_changes BEFORE UPDATE ON strand
FOR EACH ROW EXECUTE FUNCTION never('strands are never changed');

CREATE TRIGGER strand_never_deleted BEFORE DELETE ON strand
FOR EACH ROW EXECUTE FUNCTION never('strands are never deleted');

CREATE TRIGGER setup_change_never_changes BEFORE UPDATE ON setup_change
FOR EACH ROW EXECUTE FUNCTION never('the log of the set-up is never changed');

-- Version 0 is the set-up of a new database, which makes room for a copy.
CREATE TRIGGER setup_change_never_deleted BEFORE DELETE ON setup_change
FOR EACH ROW WHEN (OLD.version > 0) EXECUTE FUNCTION never('the log of the set-up is never shortened');
