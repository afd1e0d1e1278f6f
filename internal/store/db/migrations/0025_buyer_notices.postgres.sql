-- Serves programs from schema 1.

-- What the buyer of the gift is told: 1 that it was delivered, 2 that it was used for the first time, 3 both.
ALTER TABLE voucher ADD COLUMN buyer_notices BIGINT NOT NULL DEFAULT 0;
ALTER TABLE voucher ADD CONSTRAINT voucher_buyer_notices CHECK (buyer_notices BETWEEN 0 AND 3) NOT VALID;

-- In which language the buyer reads, as a BCP 47 tag; '': in that of the account.
ALTER TABLE voucher ADD COLUMN buyer_language TEXT NOT NULL DEFAULT '';

-- What a message tells the buyer of the gift. Its kind is REDIRECTED and its method 3: an earlier program cannot write
-- such a message, and leaves it for a newer one. '': the kind says what the message tells.
ALTER TABLE job ADD COLUMN about TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD CONSTRAINT job_about CHECK (about IN ('', 'ARRIVED', 'USED')) NOT VALID;

-- In which language a message to the buyer is written, as a BCP 47 tag; '': in that of the account.
ALTER TABLE job ADD COLUMN language TEXT NOT NULL DEFAULT '';
