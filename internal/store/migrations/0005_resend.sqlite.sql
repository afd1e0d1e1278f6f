ALTER TABLE entry ADD CONSTRAINT entry_kind CHECK (CASE kind
    WHEN 'ISSUED' THEN delta = 0
    WHEN 'DELIVERED' THEN delta = 0
    WHEN 'FAILED_DELIVERY' THEN delta = 0
    WHEN 'REDEMPTION' THEN delta < 0
    WHEN 'REVERSAL' THEN delta > 0
    WHEN 'CANCELLATION' THEN delta = 0
    WHEN 'RESENT' THEN delta = 0
    WHEN 'RESCHEDULED' THEN delta = 0
    ELSE FALSE END);

-- As in the step before that gave figures for plans; the index was made anew.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('request', 'request_forgettable', '10000000 1000000 1'),
    ('resend', 'resend', '1000000 100000 2 1'),
    ('job', 'sqlite_autoindex_job_1', '1000000 100000 1'),
    ('job', 'job_claimable', '1000000 2'),
    ('job', 'job_voucher', '1000000 1 1');
ANALYZE sqlite_schema;
