-- Serves programs from schema 1.

-- How the gift is taxed, and the rate in percent where VAT is due when it is sold, as the set-up said when the gift was
-- made; '': it did not say, or an earlier program made the gift.
ALTER TABLE card ADD COLUMN vat_treatment TEXT NOT NULL DEFAULT '';
ALTER TABLE card ADD COLUMN vat_rate TEXT NOT NULL DEFAULT '';
ALTER TABLE card ADD CONSTRAINT card_vat_treatment CHECK (vat_treatment IN ('', 'multiPurpose', 'singlePurpose')) NOT VALID;
ALTER TABLE card ADD CONSTRAINT card_vat_rate CHECK ((vat_rate <> '') = (vat_treatment = 'singlePurpose')) NOT VALID;
