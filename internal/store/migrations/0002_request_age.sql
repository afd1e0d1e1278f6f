-- Serves programs from schema 1.
-- Records of calls that moved no value are forgotten after a while; this is how the old ones are found.
CREATE INDEX request_forgettable ON request (account_id, made_at) WHERE operation IN ('send-gift', 'cancel-gift');
