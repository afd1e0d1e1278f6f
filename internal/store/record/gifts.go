// Package record says how the values of the domain stand in rows: gifts, entries, idempotency records and hash chains.
// It has their columns, the statements that write them, and what of them is sealed. It runs nothing.
package record

import (
	"errors"
	"fmt"
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
)

// VoucherColumns are those of a voucher.
const VoucherColumns = `v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional, v.promotion_id, ` +
	`v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last, v.valid_from, v.valid_until, v.created_at, ` +
	`v.made_by, v.holds, v.fixed, v.verification, v.wrong_codes, v.blocked, v.extended, v.replaced, ` +
	`v.items_id`

// VoucherAndItems are VoucherColumns with what the voucher is good for.
const VoucherAndItems = VoucherColumns +
	`, (SELECT i.items FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items`

// VoucherFields are where VoucherAndItems are read into.
func VoucherFields(keys *sealed.Keys, v *gift.Voucher) []any {
	return []any{
		db.ScanID(&v.AccountID), db.ScanID(&v.ID), db.ScanID(&v.OrderID), db.ScanID(&v.ProgramID), db.ScanID(&v.LocationID),
		&v.Item, &v.Promotional, db.ScanID(&v.PromotionID), &v.Currency.Code, &v.Currency.Decimals,
		&v.Loaded, &v.Balance, &v.Status, &v.Seq, db.ScanID(&v.Last), db.ScanTime(&v.ValidFrom), db.ScanTime(&v.ValidUntil),
		db.ScanTime(&v.CreatedAt), &v.MadeBy, scanHolds{&v.Holds},
		&v.Fixed, scanVerification{keys, v}, &v.WrongCodes, &v.Blocked, db.ScanTime(&v.Extended), &v.Replaced,
		new([]byte), scanItems{&v.Items},
	}
}

// VoucherTypes are the types of VoucherColumns: see db.InsertRows.
const VoucherTypes = "BBBBBFFBTNNNNNBNNNTTNBNTNNB"

// InsertVoucher writes rows that VoucherRow made.
var InsertVoucher = db.InsertRows("voucher", VoucherColumns, VoucherTypes, "")

// VoucherRow is a voucher as VoucherColumns have it; items is the list that it names.
func VoucherRow(keys *sealed.Keys, v *gift.Voucher, items guid.ID) []any {
	return []any{
		db.KeyOf(v.AccountID), db.KeyOf(v.ID), db.KeyOf(v.OrderID), db.KeyOf(v.ProgramID), db.OrNull(v.LocationID),
		v.Item, v.Promotional, db.OrNull(v.PromotionID), v.Currency.Code, v.Currency.Decimals,
		int64(v.Loaded), int64(v.Balance), int64(v.Status), v.Seq, db.KeyOf(v.Last), db.Micros(v.ValidFrom),
		db.Micros(v.ValidUntil), db.Micros(v.CreatedAt), v.MadeBy, nil, // a new one has no holds
		int64(v.Fixed), sealVerification(keys, v), v.WrongCodes, string(v.Blocked), db.Micros(v.Extended), v.Replaced,
		db.OrNull(items),
	}
}

// sealVerification is a gift's verification code as it is stored.
func sealVerification(keys *sealed.Keys, v *gift.Voucher) any {
	if v.Verification == "" {
		return nil
	}
	return keys.Seal([]byte(v.Verification), boundToVerification(v))
}

func boundToVerification(v *gift.Voucher) []byte {
	return append(db.Bound("verification", v.AccountID), v.ID[:]...)
}

// scanVerification reads a column into a gift's verification code. Account and id come before it.
type scanVerification struct {
	keys *sealed.Keys
	to   *gift.Voucher
}

// Scan implements sql.Scanner.
func (s scanVerification) Scan(column any) error {
	s.to.Verification = ""
	stored, _ := column.([]byte)
	if stored == nil {
		return nil
	}
	if plain, err := s.keys.Open(stored, boundToVerification(s.to)); err == nil {
		s.to.Verification = string(plain)
	} else {
		s.to.Verification = "unreadable" // which no code is; the hash chain shows it
	}
	return nil
}

// CardColumns are those of a card.
const CardColumns = `c.account_id, c.voucher_id, c.secrets, c.label, c.terms, c.promotional_terms, ` + cardAfterTerms

const cardAfterTerms = `c.equivalent_value, ` +
	`c.sender, c.recipient, c.contact, c.message, c.method, c.design_id, c.scheduled, c.delivery_date, c.delivery_zone, ` +
	`c.delivered_at, c.recipient_index, c.reference, c.first_name, c.last_name, c.email_address, c.storefront_id, ` +
	`c.notes, c.related_order_id, c.related_order_number, c.language, c.sealed_message`

// CardTypes are the types of CardColumns: see db.InsertRows.
const CardTypes = "BBBTTTNTTTTNBFNTNNTTTTBTTTTB"

// cardFields are where CardAndTerms are read into; the secrets and the message still have to be opened.
func cardFields(c *gift.Card, secrets, message *[]byte) []any {
	var unused guid.ID
	p := &c.Purchase
	return []any{
		db.ScanID(&unused), db.ScanID(&unused), secrets, &c.Label, &c.Terms, &c.PromotionalTerms, &c.EquivalentValue,
		&c.Sender, &c.Recipient, &c.Contact, &c.Message, &c.Method, db.ScanID(&c.DesignID), &c.Scheduled,
		db.ScanTime(&c.DeliveryDate), &c.DeliveryZone,
		db.ScanTime(&c.DeliveredAt), &c.RecipientIndex, &p.Reference, &p.FirstName, &p.LastName, &p.EmailAddress,
		db.ScanID(&p.StorefrontID),
		&c.Notes, &c.RelatedOrderID, &c.RelatedOrderNumber, &c.Language, message,
	}
}

// InsertCard writes rows that CardRow made.
var InsertCard = db.InsertRows("card", CardColumns+", c.terms_of_order", CardTypes+"F", "")

// CardRow is a gift's card; without terms of its own, those of its order are its terms.
func CardRow(keys *sealed.Keys, g *gift.Gift, secrets []byte, ownTerms bool) []any {
	c, p := &g.Card, &g.Card.Purchase
	terms, promotionalTerms := c.Terms, c.PromotionalTerms
	if !ownTerms {
		terms, promotionalTerms = "", ""
	}
	return []any{
		db.KeyOf(g.AccountID), db.KeyOf(g.ID), secrets, c.Label, terms, promotionalTerms, int64(c.EquivalentValue),
		c.Sender, c.Recipient, c.Contact, "", int64(c.Method), db.OrNull(c.DesignID), c.Scheduled,
		db.Micros(c.DeliveryDate), c.DeliveryZone,
		db.Micros(c.DeliveredAt), c.RecipientIndex, p.Reference, p.FirstName, p.LastName, p.EmailAddress,
		db.OrNull(p.StorefrontID),
		c.Notes, c.RelatedOrderID, c.RelatedOrderNumber, c.Language, SealMessage(keys, g), !ownTerms,
	}
}

// SealMessage seals the sender's message of a gift for it, for the column sealed_message; nil: there is none. The
// column message is empty beside it. Release 0.1.0 kept messages there, in clear.
func SealMessage(keys *sealed.Keys, g *gift.Gift) []byte {
	if g.Card.Message == "" {
		return nil
	}
	return keys.Seal([]byte(g.Card.Message), boundToMessage(&g.Voucher))
}

func boundToMessage(v *gift.Voucher) []byte {
	return append(db.Bound("message", v.AccountID), v.ID[:]...)
}

// boundToGift binds sealed secrets to a gift and its account, so that those of one open nowhere else.
func boundToGift(account, voucher guid.ID) []byte {
	return append(db.Bound("gift", account), voucher[:]...)
}

// SealSecrets seals a gift's code and token, one after the other, for it.
func SealSecrets(keys *sealed.Keys, account, voucher guid.ID, c gift.VoucherCode, t gift.Token) []byte {
	return keys.Seal([]byte(c.Reveal()+t.Reveal()), boundToGift(account, voucher))
}

// OpenSecrets reads what SealSecrets made.
func OpenSecrets(keys *sealed.Keys, account, voucher guid.ID, secrets []byte) (gift.VoucherCode, gift.Token, error) {
	plain, err := keys.Open(secrets, boundToGift(account, voucher))
	if err != nil {
		return gift.VoucherCode{}, gift.Token{}, err
	}
	at := max(0, len(plain)-gift.TokenLength)
	code, err := gift.ParseVoucherCode(string(plain[:at]))
	if err != nil {
		return gift.VoucherCode{}, gift.Token{}, errors.New("the sealed code is not a voucher code")
	}
	token, err := gift.ParseToken(string(plain[at:]))
	if err != nil {
		return gift.VoucherCode{}, gift.Token{}, errors.New("the sealed token is not a token")
	}
	return code, token, nil
}

// The kinds of secret.
const (
	CodeSecret  = "code"
	TokenSecret = "token"
)

// SecretColumns are those of what a code or a token is found by, SecretTypes their types: see db.InsertRows.
const (
	SecretColumns = "hash, kind, account_id, voucher_id, replaced"
	SecretTypes   = "BTBBN"
)

// InsertSecret writes rows that SecretRows made.
var InsertSecret = db.InsertRows("secret", SecretColumns, SecretTypes, "")

// SecretRows are what a gift's code and token are found by; replaced is the number of the entry that took them away.
func SecretRows(keys *sealed.Keys, account, voucher guid.ID, c gift.VoucherCode, t gift.Token,
	replaced int) (code, token []any) {
	return []any{keys.CodeHash(c), CodeSecret, db.KeyOf(account), db.KeyOf(voucher), replaced},
		[]any{keys.TokenHash(t), TokenSecret, db.KeyOf(account), db.KeyOf(voucher), replaced}
}

// SelectGift selects gifts, for ScanGift; a condition follows.
const SelectGift = `SELECT ` + VoucherAndItems + `, ` + CardAndTerms +
	` FROM voucher AS v JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id`

// ErrMessage tells that the sender's message of a gift does not open.
var ErrMessage = errors.New("the sender's message does not open")

// ScanGift reads VoucherAndItems and CardAndTerms, and what comes before them into first. closed tells that the gift's
// secrets could not be opened.
func ScanGift(keys *sealed.Keys, from db.Scanner, first ...any) (g gift.Gift, closed, err error) {
	var secrets, message []byte
	if err := from.Scan(slices.Concat(first, VoucherFields(keys, &g.Voucher),
		cardFields(&g.Card, &secrets, &message))...); err != nil {
		return g, nil, err
	}
	g.Card.Code, g.Card.Token, err = OpenSecrets(keys, g.AccountID, g.ID, secrets)
	if err == nil && message != nil {
		var plain []byte
		if plain, err = keys.Open(message, boundToMessage(&g.Voucher)); err != nil {
			err = fmt.Errorf("%w: %w", ErrMessage, err)
		}
		g.Card.Message = string(plain)
	}
	switch {
	case errors.Is(err, sealed.ErrUnknownKey):
		return g, fmt.Errorf("gift %s: %w", g.ID, err), nil
	case err != nil:
		return g, fmt.Errorf("gift %s: %w: %w; run boon verify", g.ID, refusal.UnexpectedError, err), nil
	}
	return g, nil, nil
}
