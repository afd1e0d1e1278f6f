-- Serves programs from schema 1.

-- As what the gift goes to its buyer with the others of its order, in one message: pdf or csv. '': it goes by itself.
ALTER TABLE card ADD COLUMN attachment TEXT NOT NULL DEFAULT '' CHECK (attachment IN ('', 'pdf', 'csv'));

-- The order whose gifts a message brings to their buyer; NULL: it is about its gift. Its kind is REDIRECTED and its
-- method 3: an earlier program cannot write such a message, and leaves it for a newer one. Its gift is one of the order.
ALTER TABLE job ADD COLUMN order_id BLOB CHECK (length(order_id) = 16);
CREATE INDEX job_order ON job (order_id) WHERE order_id IS NOT NULL;
