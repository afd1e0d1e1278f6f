-- As in the steps before that gave figures for plans.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('sheet', 'sqlite_autoindex_sheet_1', '100000 1'), ('sheet', 'sheet_order', '100000 1'), ('sheet', 'sheet_until', '100000 1');
ANALYZE sqlite_schema;
