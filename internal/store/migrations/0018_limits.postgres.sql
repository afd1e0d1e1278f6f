-- Where tables are spread over machines, there are no walls.
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN
        PERFORM wall('day_count');
    END IF;
END $$;
