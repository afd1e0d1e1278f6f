package gift

import (
	"boon.example/internal/contact"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// A gift can be linked to one customer of whoever integrates the interface, by that system's own id of the customer. A
// link is a way to find the gift, and nothing else: whoever has the code redeems it. It is of whoever has the gift now,
// so it ends where somebody else gets it: when the gift is sent to another contact, and when the sale of a card is
// taken back. A new card for the same guest keeps it. Value that moves to another gift changes no link.

// MaxCustomerID is how many characters a customer's id may have.
const MaxCustomerID = 64

// CustomerLink is what an entry did to the link to a customer; "": nothing. Whose link it was, histories do not tell.
type CustomerLink string

// What an entry can do.
const (
	LinkMade  CustomerLink = "MADE"
	LinkEnded CustomerLink = "ENDED"
)

// CheckCustomerID refuses an id that no customer can have; "" is none. The field is where it stands.
func CheckCustomerID(f refusal.Field, id string) error {
	if err := contact.CheckText(id, MaxCustomerID, false); err != nil {
		return refusal.At(refusal.ValidationFailure, f, "%s", err)
	}
	if id != "" && contact.Blank(id) {
		return refusal.At(refusal.ValidationFailure, f, "A %s has at least one character that can be seen.",
			refusal.FieldCustomerID)
	}
	return nil
}

// mayLink refuses to link a voucher that is linked to another customer; "" links nothing.
func (v *Voucher) mayLink(customer string) error {
	if customer == "" || v.CustomerID == "" || v.CustomerID == customer {
		return nil
	}
	return refusal.At(refusal.AlreadyLinked, refusal.FieldCustomerID,
		"This gift is linked to another customer. End that link first.")
}

// link links a voucher that an entry is made of; "" links nothing.
func (v *Voucher) link(customer string, e *Entry) {
	if customer != "" && v.CustomerID != customer {
		v.CustomerID, e.Link = customer, LinkMade
	}
}

// beginsLinked notes in the first entry of a voucher that it was linked from the start.
func (v *Voucher) beginsLinked(e *Entry) {
	if v.CustomerID != "" {
		e.Link = LinkMade
	}
}

// unlink ends the link of a voucher that an entry is made of, if it has one.
func (v *Voucher) unlink(e *Entry) {
	if v.CustomerID != "" {
		v.CustomerID, e.Link = "", LinkEnded
	}
}

// LinkCustomer asks that a gift is found by a customer.
type LinkCustomer struct {
	Context
	Caller     *merchant.Caller
	CustomerID string
}

// LinkCustomer links a voucher in any status but NOT_ACTIVATED, as a card that nobody bought is nobody's. One that is
// linked to the customer stays as it is and gets no entry. It fails with NOT_FOUND where the caller may not see the
// gift, REDEMPTION_NOT_ALLOWED, and ALREADY_LINKED where it is linked to another customer.
func (v Voucher) LinkCustomer(l LinkCustomer) (Voucher, Entry, error) {
	switch {
	case !v.UsableBy(l.Caller):
		return v, Entry{}, NoSuchGift()
	case v.Status == NotActivated:
		return v, Entry{}, v.cannotBe("linked", v.itIs())
	case v.CustomerID == l.CustomerID:
		return v, Entry{}, nil
	}
	if err := v.mayLink(l.CustomerID); err != nil {
		return v, Entry{}, err
	}
	e := v.enter(l.Context, CustomerLinked, 0, v.Status)
	v.link(l.CustomerID, &e)
	return v, e, nil
}

// UnlinkCustomer asks that a gift is found by a customer no more.
type UnlinkCustomer struct {
	Context
	Caller     *merchant.Caller
	CustomerID string // whom it must be linked to; "": whoever it is
}

// UnlinkCustomer ends the link of a voucher. One that is not linked, or not to the customer that is named, stays as it
// is and gets no entry. It fails with NOT_FOUND where the caller may not see the gift.
func (v Voucher) UnlinkCustomer(u UnlinkCustomer) (Voucher, Entry, error) {
	switch {
	case !v.UsableBy(u.Caller):
		return v, Entry{}, NoSuchGift()
	case v.CustomerID == "", u.CustomerID != "" && u.CustomerID != v.CustomerID:
		return v, Entry{}, nil
	}
	e := v.enter(u.Context, CustomerUnlinked, 0, v.Status)
	v.unlink(&e)
	return v, e, nil
}
