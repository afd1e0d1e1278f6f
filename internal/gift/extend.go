package gift

import (
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// Extend asks to make a gift valid for longer.
type Extend struct {
	Context
	Caller *merchant.Caller
	Until  time.Time // the first instant at which it is no longer valid
}

// lastInstant is the end of the last year that is written with four digits.
var lastInstant = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)

// Extend makes a promotional voucher valid until a later time, also when it has expired. It fails with NOT_FOUND where
// the caller may not see the gift, NOT_SUPPORTED for one that is not promotional or does not expire,
// REDEMPTION_NOT_ALLOWED when it is out of use, and VALIDATION_FAILURE for a time that is not later, or is past.
func (v Voucher) Extend(x Extend) (Voucher, Entry, error) {
	until, zone := x.Until.Truncate(time.Millisecond), x.Caller.Account.TimeZone()
	switch {
	case !v.UsableBy(x.Caller):
		return v, Entry{}, NoSuchGift()
	case !v.Promotional:
		return v, Entry{}, refusal.New(refusal.NotSupported,
			"Only promotional gifts can be made valid for longer; this one was paid for.")
	case v.End().IsZero():
		return v, Entry{}, refusal.New(refusal.NotSupported, "This gift does not expire.")
	case !v.Status.adjustable():
		return v, Entry{}, v.cannotBe("extended", v.itIs())
	case !until.After(v.End()):
		return v, Entry{}, refusal.At(refusal.ValidationFailure, refusal.FieldValidUntil,
			"This gift is valid until %s already; send a later %s.", LocalTime(v.End(), zone), refusal.FieldValidUntil)
	case !until.After(x.Now):
		return v, Entry{}, refusal.At(refusal.ValidationFailure, refusal.FieldValidUntil,
			"This time is past; send a later %s.",
			refusal.FieldValidUntil)
	case !AfterGrace(until, v.GraceDays).Before(lastInstant):
		return v, Entry{}, refusal.At(refusal.ValidationFailure, refusal.FieldValidUntil, "The year may be at most 9999.")
	}
	v.Extended = until
	e := v.enter(x.Context, Extended, 0, v.Status)
	e.Until = until
	return v, e, nil
}
