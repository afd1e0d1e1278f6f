-- Serves programs from schema 1.
-- The cards on hand, stock by stock: what the console shows of them. Nothing else asks for gifts of this status (8,
-- NOT_ACTIVATED).
CREATE INDEX voucher_stock ON voucher (account_id, order_id) WHERE status = 8;
