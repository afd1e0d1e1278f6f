CREATE TRIGGER chain_never_changes BEFORE UPDATE ON chain
FOR EACH ROW EXECUTE FUNCTION never('rows of hash chains are never changed');

CREATE TRIGGER chain_never_deleted BEFORE DELETE ON chain
FOR EACH ROW EXECUTE FUNCTION never('rows of hash chains are never deleted');

CREATE TRIGGER setup_change_never_changes BEFORE UPDATE ON setup_change
FOR EACH ROW EXECUTE FUNCTION never('the log of the set-up is never changed');

-- Version 0 is the set-up of a new database, which makes room for a copy.
CREATE TRIGGER setup_change_never_deleted BEFORE DELETE ON setup_change
FOR EACH ROW WHEN (OLD.version > 0) EXECUTE FUNCTION never('the log of the set-up is never shortened');
