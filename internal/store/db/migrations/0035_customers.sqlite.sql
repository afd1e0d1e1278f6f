-- Serves programs from schema 1.

-- By which id whoever integrates the interface knows the customer that the gift is linked to; '': it is to none.
ALTER TABLE voucher ADD COLUMN customer TEXT NOT NULL DEFAULT '' CHECK (length(customer) <= 64);
CREATE INDEX voucher_customer ON voucher (customer, account_id, id) WHERE customer <> '';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('voucher', 'voucher_customer', '1000000 4 4 1');

-- A gift can be linked to a customer, and that can end. No row has to be read for that: what was right stays right. See
-- step 16.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'WHEN ''IMPORTED'' THEN delta = 0', 'WHEN ''IMPORTED'' THEN delta = 0'
    || char(10) || '        WHEN ''CUSTOMER_LINKED'' THEN delta = 0'
    || char(10) || '        WHEN ''CUSTOMER_UNLINKED'' THEN delta = 0')
    WHERE type = 'table' AND name = 'entry';
PRAGMA writable_schema = RESET;
ANALYZE sqlite_schema; -- reads it
