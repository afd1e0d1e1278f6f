package event

import (
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// PassCard tells the cards apart that one gift has one after the other: its card before it was replaced or sent to
// somebody else, and the one after it.
type PassCard [8]byte

// PassDevice is a phone that has the pass of a gift in its wallet and asked to be told of changes.
type PassDevice struct {
	AccountID, VoucherID guid.ID

	Device [32]byte // a digest of the id that it gave itself
	Card   PassCard // of which it has the pass
	Push   string   // by which Apple finds the device; hexadecimal. "": it does not open
	// Changed is the position of the newest event that may have changed the pass since it came to the device; 0: none did.
	Changed int64
	Over    bool // its card is not the gift's any more, and what happens to the gift is nothing to it
}

// Touched are the gifts that something happened to, in the order of their newest events.
type Touched struct {
	Gifts []TouchedGift
	Next  merchant.EventPlace // after all that was looked at
	More  bool                // there is more to look at already
	// Forgotten: the store does not know any more what comes after the place.
	Forgotten bool
}

// TouchedGift is a gift with the position of the newest event that is about it.
type TouchedGift struct {
	VoucherID guid.ID
	Position  int64
	Moved     bool // it may have another card by now: it was replaced, or sent once more
}

// GooglePass is the object of a gift that Google keeps, or is to keep.
type GooglePass struct {
	AccountID, VoucherID guid.ID

	Card    PassCard // of which Google has an object; zero: of none
	Changed int64    // the position of the newest event that Google is to know of
	Told    int64    // the one that Google knows of; below zero: it is to be told once more, whatever it knows
}
