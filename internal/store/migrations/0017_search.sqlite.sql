-- As in the steps before that gave figures for plans; one index was made anew.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('gift_search', 'gift_search', '40000000 4000000 200 1'),
    ('card', 'card_reference', '10000000 4 4 1');
ANALYZE sqlite_schema;
