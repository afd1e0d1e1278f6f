package gift

import "time"

// Filter selects gifts of one account; zero members select all.
type Filter struct {
	AccountID    ID
	Locations    []ID // only gifts that are good everywhere or at one of these; empty: all
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

// Miss is one attempt with an unknown voucher code.
type Miss struct {
	AccountID  ID
	KeyID      ID
	LocationID ID
	Code       VoucherCode
	At         time.Time
}

// Guesses is what is counted of wrong codes; see GuessBurst and the constants beside it.
type Guesses struct {
	Till         Bucket // of the key at the location
	KeyToday     int    // distinct unknown codes of the key in this UTC day
	AccountToday int    // and of its account
}
