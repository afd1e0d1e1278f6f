package chain

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
)

// Digest stands for one entry: 128 bits of a SHA-256 over everything that it says. An entry has an id of 74 random
// bits, so two entries with one digest cannot be prepared.
type Digest [16]byte

// digestSize is how many bytes of a group's content an entry takes.
const digestSize = len(Digest{})

// What a digest or a MAC is over begins with one of these.
const (
	entryDomain = 'E'
	groupDomain = 'G'
	setupDomain = 'C'
)

// digester makes digests; it is the content of the last one, kept for its memory.
type digester []byte

// digest covers every column of an entry. That of a gift's first entry also covers what never changes of the gift;
// items is the key of the list of what it is good for. All values are as Go has them, not as a database keeps them.
// What is written here is a storage format and never changes.
func (d *digester) digest(at Place, e *gift.Entry, terms *gift.Voucher, items guid.ID) Digest {
	b := append((*d)[:0], entryDomain)
	b = append(b, at.Writer[:]...)
	b = appendNumber(b, at.N)
	b = appendEntry(b, e)
	if e.Seq == 1 && terms != nil {
		b = append(appendTerms(b, terms), items[:]...)
		if terms.GraceDays != 0 {
			b = appendNumber(b, terms.GraceDays)
		}
	}
	*d = b
	sum := sha256.Sum256(b)
	return Digest(sum[:digestSize])
}

func appendEntry(b []byte, e *gift.Entry) []byte {
	ids := [...]*guid.ID{&e.AccountID, &e.ID, &e.VoucherID, &e.Previous, &e.Actor.KeyID, &e.Actor.LocationID, &e.Reverses}
	for _, id := range ids {
		b = append(b, id[:]...)
	}
	b = appendNumber(b, e.Seq)
	b = appendNumber(b, e.Delta)
	b = appendNumber(b, e.Balance)
	b = appendNumber(b, e.Status)
	b = appendTime(b, e.At)
	b = appendText(b, e.Kind)
	b = appendText(b, e.Reference)
	b = appendText(b, e.Reason)
	b = appendText(b, e.RequestID)
	detailed := e.Details != gift.Details{} || e.Actor.Person != ""
	if e.Held == 0 && e.HoldID.IsZero() && e.Until.IsZero() && !detailed {
		return b
	}
	b = appendTime(appendNumber(append(b, e.HoldID[:]...), e.Held), e.Until)
	if !detailed {
		return b
	}
	b = append(append(b, e.Counterpart[:]...), e.CounterpartGift[:]...)
	p := &e.Purchase
	for _, text := range [...]string{string(e.ReasonCode), p.Reference, p.FirstName, p.LastName, p.EmailAddress} {
		b = appendText(b, text)
	}
	b = append(b, p.StorefrontID[:]...)
	if e.Actor.Person == "" && e.Sale.IsZero() && e.IssuedOn.IsZero() && p.Price == 0 && e.Link == "" {
		return b
	}
	b = appendText(b, e.Actor.Person)
	if !e.Sale.IsZero() {
		b = append(append(b, e.Sale[:]...), e.Next[:]...)
	}
	if !e.IssuedOn.IsZero() {
		b = appendTime(b, e.IssuedOn)
	}
	if p.Price != 0 {
		b = appendNumber(b, p.Price)
	}
	if e.Link != "" {
		b = appendText(b, e.Link)
	}
	return b
}

// appendTerms writes every column of a voucher that never changes.
func appendTerms(b []byte, v *gift.Voucher) []byte {
	for _, id := range [...]*guid.ID{&v.AccountID, &v.ID, &v.OrderID, &v.ProgramID, &v.LocationID, &v.PromotionID} {
		b = append(b, id[:]...)
	}
	b = appendFlag(appendFlag(b, v.Item), v.Promotional)
	b = appendText(b, v.Currency.Code)
	b = appendNumber(b, v.Currency.Decimals)
	b = appendNumber(b, v.Fixed)
	b = appendText(b, v.VerifiedBy())
	b = appendTime(b, v.ValidFrom)
	b = appendTime(b, v.ValidUntil)
	b = appendTime(b, v.CreatedAt)
	return appendText(b, v.MadeBy)
}

func appendNumber[N ~int64 | ~int](b []byte, n N) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(n))
}

func appendText[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(appendNumber(b, len(text)), text...)
}

func appendFlag(b []byte, is bool) []byte {
	if is {
		return append(b, 1)
	}
	return append(b, 0)
}

// appendTime writes a time in microseconds, as databases keep it, and that there is none.
func appendTime(b []byte, t time.Time) []byte {
	b = appendFlag(b, !t.IsZero())
	if t.IsZero() {
		return b
	}
	return appendNumber(b, t.UnixMicro())
}
