-- Serves programs from schema 1.

-- What was paid for the gift, in the smallest unit of its currency; 0: the request did not say.
ALTER TABLE card ADD COLUMN price BIGINT NOT NULL DEFAULT 0;

-- Of the money: what nobody paid for, as gifts were sold for less than they are worth.
ALTER TABLE book_sum ADD COLUMN bonus BIGINT NOT NULL DEFAULT 0;
