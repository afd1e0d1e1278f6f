-- As in the steps before that gave figures for plans.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('answer', 'sqlite_autoindex_answer_1', '10000000 1000000 2 1');
ANALYZE sqlite_schema;
