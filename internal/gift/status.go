package gift

// Status is where a gift stands. Its number is also the interface's. Expiry is not a status.
type Status int

// The statuses. 3, 4 and 5 are numbered by the interface, section 3.
const (
	Pending        Status = 1 // created, delivery not yet done
	PurchaseFailed Status = 2 // the external purchase was reported as failed
	Delivered      Status = 3
	FailedDelivery Status = 4
	Claimed        Status = 5 // redeemed in part
	Redeemed       Status = 6
	Cancelled      Status = 7
	NotActivated   Status = 8 // a card of a stock, without value yet
)

var statusNames = [...]string{"", "PENDING", "PURCHASE_FAILED", "DELIVERED", "FAILED_DELIVERY", "CLAIMED", "REDEEMED",
	"CANCELLED", "NOT_ACTIVATED"}

// Statuses lists every status.
func Statuses() []Status {
	return []Status{Pending, PurchaseFailed, Delivered, FailedDelivery, Claimed, Redeemed, Cancelled, NotActivated}
}

// String is the status's name in the interface.
func (s Status) String() string {
	if s < Pending || s > NotActivated {
		return "UNKNOWN"
	}
	return statusNames[s]
}

// ParseStatus finds a status by its name.
func ParseStatus(name string) (Status, bool) {
	for _, s := range Statuses() {
		if statusNames[s] == name {
			return s, true
		}
	}
	return 0, false
}

// Receivable reports whether a gift in this status may still be brought to its recipient.
func (s Status) Receivable() bool { return s == Pending || s.Redeemable() }

// Unused reports whether a gift in this status is in use and nothing has been taken of it.
func (s Status) Unused() bool { return s == Pending || s == Delivered || s == FailedDelivery }

// Redeemable reports whether a gift in this status may be redeemed, as far as the status goes.
func (s Status) Redeemable() bool { return s == Delivered || s == FailedDelivery || s == Claimed }
