-- Serves programs from schema 1.

-- The last activity of imported gifts was month 0 in closed days. The days of accounts that imported gifts are closed
-- again from their entries. No release has written any.
DELETE FROM book_sum WHERE account_id IN (SELECT m.account_id FROM gift_import AS m);
DELETE FROM book_day WHERE account_id IN (SELECT m.account_id FROM gift_import AS m);
