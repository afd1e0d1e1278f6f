-- As in the steps before that gave figures for plans.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('order_terms', 'sqlite_autoindex_order_terms_1', '1000000 100000 1');
ANALYZE sqlite_schema;
