package gift

import (
	"slices"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// The reasons for which a merchant blocks a gift.
const (
	ReasonLost       ReasonCode = "LOST"
	ReasonStolen     ReasonCode = "STOLEN"
	ReasonFraud      ReasonCode = "FRAUD"
	ReasonChargeback ReasonCode = "CHARGEBACK"
	ReasonOther      ReasonCode = "OTHER"
)

// BlockReasons lists them.
func BlockReasons() []ReasonCode {
	return []ReasonCode{ReasonLost, ReasonStolen, ReasonFraud, ReasonChargeback, ReasonOther}
}

// Block asks that a gift is not used until further notice.
type Block struct {
	Context
	Caller     *merchant.Caller
	ReasonCode ReasonCode
	Reason     string
}

// Block blocks a voucher in any status, and changes neither that nor its balance. What is held of it for sales that
// were approved before may still be captured. One that is blocked for the same reason stays as it is and gets no entry.
// Another reason takes the place of the first, so that whoever unblocks it knows the newest. It fails
// with NOT_FOUND where the caller may not see the gift, and VALIDATION_FAILURE.
func (v Voucher) Block(b Block) (Voucher, Entry, error) {
	switch {
	case !v.UsableBy(b.Caller):
		return v, Entry{}, NoSuchGift()
	case !slices.Contains(BlockReasons(), b.ReasonCode):
		return v, Entry{}, refusal.At(refusal.ValidationFailure, refusal.FieldReasonCode, "There is no such %s.",
			refusal.FieldReasonCode)
	case v.Blocked == b.ReasonCode:
		return v, Entry{}, nil
	}
	v.Blocked = b.ReasonCode
	e := v.enter(b.Context, Blocked, 0, v.Status)
	e.ReasonCode, e.Reason = b.ReasonCode, b.Reason
	return v, e, nil
}

// Unblock asks that a blocked gift can be used again.
type Unblock struct {
	Context
	Caller *merchant.Caller
	Reason string
}

// Unblock ends a block, whatever it was for, and the count of wrong verification codes begins anew. A voucher that is
// not blocked stays as it is and gets no entry. It fails with NOT_FOUND where the caller may not see
// the gift.
func (v Voucher) Unblock(u Unblock) (Voucher, Entry, error) {
	switch {
	case !v.UsableBy(u.Caller):
		return v, Entry{}, NoSuchGift()
	case v.Blocked == "":
		return v, Entry{}, nil
	}
	v.Blocked, v.WrongCodes = "", 0
	e := v.enter(u.Context, Unblocked, 0, v.Status)
	e.Reason = u.Reason
	return v, e, nil
}
