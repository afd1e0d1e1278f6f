-- Builds the wall of a table between its accounts, or builds it anew: a session sees and writes the rows of those that its transaction
-- named in boon.accounts (an array of BYTEA as text), of all where that says '*', and none where it says nothing. A session that never
-- had the setting is one of a program without walls, or of an operator, and sees everything. The setting is looked at once for a statement:
-- NULL stands for all accounts. Every later step that makes a table with an account must call this.
CREATE FUNCTION wall(name TEXT, account TEXT DEFAULT 'account_id') RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DROP POLICY IF EXISTS wall ON %I', name);
    EXECUTE format($policy$CREATE POLICY wall ON %I USING (coalesce(coalesce(%I, '') = ANY ((SELECT
        CASE coalesce(current_setting('boon.accounts', true), '*') WHEN '*' THEN NULL WHEN '' THEN '{}'
        ELSE current_setting('boon.accounts', true) END::BYTEA[])::BYTEA[]), true))$policy$, name, account);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
END $$;

-- Where tables are spread over machines, the shards know nothing of what a session was told.
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN
        PERFORM wall(c.relname) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
            WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attname = 'account_id' AND NOT a.attisdropped
            ORDER BY c.relname;
        PERFORM wall('account', 'id');
        -- Whoever shows a code does not know whose gift it is: this table tells, by a hash. What is in it is no secret itself.
        CREATE POLICY directory ON secret FOR SELECT USING (true);
    END IF;
END $$;
