DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN
        PERFORM wall('order_terms');
    END IF;
END $$;
