-- Serves programs from schema 1.
-- Where a message goes that tells a former recipient that the gift went elsewhere; 0 and '': where the gift goes.
ALTER TABLE job ADD COLUMN method BIGINT NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN contact TEXT NOT NULL DEFAULT '';
