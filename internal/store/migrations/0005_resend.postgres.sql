-- NOT VALID: what is there fits the narrower rule that this one replaces, and reading all of it would stop every till meanwhile.
ALTER TABLE entry ADD CONSTRAINT entry_kind CHECK (CASE kind
    WHEN 'ISSUED' THEN delta = 0
    WHEN 'DELIVERED' THEN delta = 0
    WHEN 'FAILED_DELIVERY' THEN delta = 0
    WHEN 'REDEMPTION' THEN delta < 0
    WHEN 'REVERSAL' THEN delta > 0
    WHEN 'CANCELLATION' THEN delta = 0
    WHEN 'RESENT' THEN delta = 0
    WHEN 'RESCHEDULED' THEN delta = 0
    ELSE FALSE END) NOT VALID;
