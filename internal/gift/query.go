package gift

import "time"

// Filter selects gifts of one account; zero members select all.
type Filter struct {
	AccountID    ID
	Locations    []ID // only gifts that are limited to one of these; empty: all
	Status       Status
	ProgramID    ID
	PromotionID  ID
	LocationID   ID // limited to this location
	CreatedFrom  time.Time
	CreatedTo    time.Time // exclusive
	Reference    string    // externalTransactionReferenceNumber
	OrderID      ID
	StorefrontID ID
	Before       ID // the last voucher of the page before, in descending order of id; zero: from the newest
	Limit        int
}
