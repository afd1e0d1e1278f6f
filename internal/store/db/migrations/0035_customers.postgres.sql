-- Serves programs from schema 1.

-- By which id whoever integrates the interface knows the customer that the gift is linked to; '': it is to none.
ALTER TABLE voucher ADD COLUMN customer TEXT NOT NULL DEFAULT '';
ALTER TABLE voucher ADD CONSTRAINT voucher_customer_length CHECK (length(customer) <= 64) NOT VALID;
CREATE INDEX voucher_customer ON voucher (customer, account_id, id) WHERE customer <> '';

-- A gift can be linked to a customer, and that can end. No row has to be read for that: what was right stays right.
ALTER TABLE entry DROP CONSTRAINT entry_kind;
ALTER TABLE entry
    ADD CONSTRAINT entry_kind CHECK (kind = ANY (CASE
        WHEN delta < 0 THEN '{REDEMPTION,ACTIVATION_REVERSAL,RELOAD_REVERSAL,ADJUSTMENT,CASH_OUT,TRANSFER_OUT}'::TEXT[]
        WHEN delta > 0 THEN '{REVERSAL,ACTIVATION,RELOAD,ADJUSTMENT,TRANSFER_IN}'::TEXT[]
        WHEN held > 0 THEN '{HOLD}'::TEXT[]
        WHEN held < 0 THEN '{HOLD_RELEASED,HOLD_EXPIRED}'::TEXT[]
        ELSE '{ISSUED,DELIVERED,FAILED_DELIVERY,CANCELLATION,REINSTATEMENT,RESENT,RESCHEDULED,BLOCKED,UNBLOCKED,WRONG_VERIFICATION_CODE,REPLACED,EXTENDED,IMPORTED,CUSTOMER_LINKED,CUSTOMER_UNLINKED}'::TEXT[]
        END)) NOT VALID;
