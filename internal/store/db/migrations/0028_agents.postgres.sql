-- Serves programs from schema 1.

-- What agents with the key may do (merchant.AgentUse); '': they look, and do something where whoever set them up says so.
ALTER TABLE api_key ADD COLUMN agent TEXT NOT NULL DEFAULT '';
