// Package record says how the values of the domain stand in rows: gifts, entries, idempotency records and hash chains.
// It has their columns, the statements that write them, and what of them is sealed. It runs nothing.
package record

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
)

// VoucherFields are where the columns of a voucher are read into, in the order of InsertVoucher, but in place of the id
// of a list of items the list. Every column that a look-up reads costs it time, so none comes twice.
func VoucherFields(keys *sealed.Keys, v *gift.Voucher) []any {
	return []any{
		db.ScanID(&v.AccountID), db.ScanID(&v.ID), db.ScanID(&v.OrderID), db.ScanID(&v.ProgramID), db.ScanID(&v.LocationID),
		&v.Item, &v.Promotional, db.ScanID(&v.PromotionID), &v.Currency.Code, &v.Currency.Decimals,
		&v.Funded, &v.Balance, &v.Status, &v.Seq, db.ScanID(&v.Last), db.ScanTime(&v.ValidFrom), db.ScanTime(&v.ValidUntil),
		db.ScanTime(&v.CreatedAt), &v.MadeBy, scanHolds{&v.Holds},
		&v.Fixed, scanVerification{keys, v}, &v.WrongCodes, &v.Blocked, db.ScanTime(&v.Extended), &v.Replaced,
		scanItems{&v.Items}, scanRare{v},
	}
}

// scanRare reads what few vouchers have: what the buyer is told, the days of grace, in which language the buyer reads,
// and the customer that it is linked to: "3 14 de 4711". It is NULL where a voucher has none of them, as nearly
// everywhere: one column that is NULL costs a look-up less than four that have values.
type scanRare struct{ to *gift.Voucher }

// Scan implements sql.Scanner.
func (s scanRare) Scan(column any) error {
	s.to.Tells, s.to.GraceDays, s.to.BuyerLanguage, s.to.CustomerID = 0, 0, "", ""
	if column == nil {
		return nil
	}
	var rare sql.NullString
	if err := rare.Scan(column); err != nil {
		return err
	}
	tells, rest, _ := strings.Cut(rare.String, " ")
	grace, rest, _ := strings.Cut(rest, " ")
	s.to.BuyerLanguage, s.to.CustomerID, _ = strings.Cut(rest, " ")
	_, err := fmt.Sscan(tells+" "+grace, &s.to.Tells, &s.to.GraceDays)
	return err
}

// InsertVoucher writes rows that VoucherRow made.
var InsertVoucher = &db.Query{What: "writing into voucher",
	Each: `INSERT INTO voucher (account_id, id, order_id, program_id, location_id, item, promotional, promotion_id,
			currency, decimals, loaded, balance, status, seq, last, valid_from, valid_until, created_at,
			made_by, holds, fixed, verification, wrong_codes, blocked, extended, replaced, items_id, import_id,
			buyer_notices, buyer_language, grace, customer)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
			$22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32)`,
	Postgres: `INSERT INTO voucher (account_id, id, order_id, program_id, location_id, item, promotional, promotion_id,
			currency, decimals, loaded, balance, status, seq, last, valid_from, valid_until, created_at,
			made_by, holds, fixed, verification, wrong_codes, blocked, extended, replaced, items_id, import_id,
			buyer_notices, buyer_language, grace, customer)
		SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[], $4::BYTEA[], $5::BYTEA[], $6::BOOLEAN[],
			$7::BOOLEAN[], $8::BYTEA[], $9::TEXT[], $10::BIGINT[], $11::BIGINT[], $12::BIGINT[], $13::BIGINT[],
			$14::BIGINT[], $15::BYTEA[], $16::BIGINT[], $17::BIGINT[], $18::BIGINT[], $19::TEXT[], $20::TEXT[],
			$21::BIGINT[], $22::BYTEA[], $23::BIGINT[], $24::TEXT[], $25::BIGINT[], $26::BIGINT[], $27::BYTEA[], $28::BYTEA[],
			$29::BIGINT[], $30::TEXT[], $31::BIGINT[], $32::TEXT[])`}

// VoucherRow is a voucher in the order of InsertVoucher; items is the list that it names, and brought the import that
// brings it; zero: none does.
func VoucherRow(keys *sealed.Keys, v *gift.Voucher, items, brought guid.ID) []any {
	return []any{
		db.KeyOf(v.AccountID), db.KeyOf(v.ID), db.KeyOf(v.OrderID), db.KeyOf(v.ProgramID), db.OrNull(v.LocationID),
		v.Item, v.Promotional, db.OrNull(v.PromotionID), v.Currency.Code, v.Currency.Decimals,
		int64(v.Funded), int64(v.Balance), int64(v.Status), v.Seq, db.KeyOf(v.Last), db.Micros(v.ValidFrom),
		db.Micros(v.ValidUntil), db.Micros(v.CreatedAt), v.MadeBy, nil, // a new one has no holds
		int64(v.Fixed), sealVerification(keys, v), v.WrongCodes, string(v.Blocked), db.Micros(v.Extended), v.Replaced,
		db.OrNull(items), db.OrNull(brought), int64(v.Tells), v.BuyerLanguage, v.GraceDays, v.CustomerID,
	}
}

// sealVerification is how the card of a gift is verified, as it is stored: by its verification code, or by a till.
func sealVerification(keys *sealed.Keys, v *gift.Voucher) any {
	shown := v.VerifiedBy()
	if shown == "" {
		return nil
	}
	return keys.Seal([]byte(shown), boundToVerification(v))
}

func boundToVerification(v *gift.Voucher) []byte {
	return append(db.Bound("verification", v.AccountID), v.ID[:]...)
}

// ScanVerification is where the column of a gift's verification code is read into v, whose account and id are there
// before.
func ScanVerification(keys *sealed.Keys, v *gift.Voucher) any { return scanVerification{keys, v} }

// scanVerification reads a column into a gift's verification code. Account and id come before it.
type scanVerification struct {
	keys *sealed.Keys
	to   *gift.Voucher
}

// Scan implements sql.Scanner.
func (s scanVerification) Scan(column any) error {
	s.to.Verification, s.to.TillsOnly = "", false
	stored, _ := column.([]byte)
	if stored == nil {
		return nil
	}
	if plain, err := s.keys.Open(stored, boundToVerification(s.to)); err != nil {
		s.to.Verification = "unreadable" // which no code is; the hash chain shows it
	} else if s.to.TillsOnly = string(plain) == gift.ByTill; !s.to.TillsOnly {
		s.to.Verification = string(plain)
	}
	return nil
}

// cardFields are where the columns of a card are read into, in the order of InsertCard, without those of its voucher;
// the secrets and the message still have to be opened.
func cardFields(c *gift.Card, secrets, message *[]byte) []any {
	p := &c.Purchase
	return []any{
		secrets, &c.Label, &c.Terms, &c.PromotionalTerms, &c.EquivalentValue,
		&c.Sender, &c.Recipient, &c.Contact, &c.Message, &c.Method, db.ScanID(&c.DesignID), &c.Scheduled,
		db.ScanTime(&c.DeliveryDate), &c.DeliveryZone,
		db.ScanTime(&c.DeliveredAt), &c.RecipientIndex, &p.Reference, &p.FirstName, &p.LastName, &p.EmailAddress,
		db.ScanID(&p.StorefrontID),
		&c.Notes, &c.RelatedOrderID, &c.RelatedOrderNumber, &c.Language, &c.VATTreatment, &c.VATRate, scanBought{c},
		message,
	}
}

// scanBought reads what few cards have: what was paid for the gift, and as what it goes to its buyer with the others of
// its order: "1500pdf". It is NULL where a card has neither, as nearly everywhere: see scanRare.
type scanBought struct{ to *gift.Card }

// Scan implements sql.Scanner.
func (s scanBought) Scan(column any) error {
	s.to.Purchase.Price, s.to.Attachment = 0, ""
	if column == nil {
		return nil
	}
	var bought sql.NullString
	if err := bought.Scan(column); err != nil {
		return err
	}
	price := strings.TrimRight(bought.String, "abcdefghijklmnopqrstuvwxyz")
	s.to.Attachment = gift.Attachment(bought.String[len(price):])
	_, err := fmt.Sscan(price, &s.to.Purchase.Price)
	return err
}

// InsertCard writes rows that CardRow made.
var InsertCard = &db.Query{What: "writing into card",
	Each: `INSERT INTO card (account_id, voucher_id, secrets, label, terms, promotional_terms, equivalent_value,
			sender, recipient, contact, message, method, design_id, scheduled, delivery_date, delivery_zone,
			delivered_at, recipient_index, reference, first_name, last_name, email_address, storefront_id,
			notes, related_order_id, related_order_number, language, vat_treatment, vat_rate, price,
			sealed_message, terms_of_order, attachment)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
			$22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33)`,
	Postgres: `INSERT INTO card (account_id, voucher_id, secrets, label, terms, promotional_terms, equivalent_value,
			sender, recipient, contact, message, method, design_id, scheduled, delivery_date, delivery_zone,
			delivered_at, recipient_index, reference, first_name, last_name, email_address, storefront_id,
			notes, related_order_id, related_order_number, language, vat_treatment, vat_rate, price,
			sealed_message, terms_of_order, attachment)
		SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[], $4::TEXT[], $5::TEXT[], $6::TEXT[],
			$7::BIGINT[], $8::TEXT[], $9::TEXT[], $10::TEXT[], $11::TEXT[], $12::BIGINT[], $13::BYTEA[],
			$14::BOOLEAN[], $15::BIGINT[], $16::TEXT[], $17::BIGINT[], $18::BIGINT[], $19::TEXT[], $20::TEXT[],
			$21::TEXT[], $22::TEXT[], $23::BYTEA[], $24::TEXT[], $25::TEXT[], $26::TEXT[], $27::TEXT[],
			$28::TEXT[], $29::TEXT[], $30::BIGINT[], $31::BYTEA[], $32::BOOLEAN[], $33::TEXT[])`}

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
		c.Notes, c.RelatedOrderID, c.RelatedOrderNumber, c.Language, string(c.VATTreatment), string(c.VATRate),
		int64(p.Price),
		SealMessage(keys, g), !ownTerms, string(c.Attachment),
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
func SealSecrets(keys *sealed.Keys, account, voucher guid.ID, c codes.VoucherCode, t codes.Token) []byte {
	return keys.Seal([]byte(c.Kept()+t.Reveal()), boundToGift(account, voucher))
}

// OpenSecrets reads what SealSecrets made.
func OpenSecrets(keys *sealed.Keys, account, voucher guid.ID, secrets []byte) (codes.VoucherCode, codes.Token, error) {
	plain, err := keys.Open(secrets, boundToGift(account, voucher))
	if err != nil {
		return codes.VoucherCode{}, codes.Token{}, err
	}
	at := max(0, len(plain)-codes.TokenLength)
	code, err := codes.ParseKept(account, string(plain[:at]))
	if err != nil {
		return codes.VoucherCode{}, codes.Token{}, errors.New("the sealed code is not a voucher code")
	}
	token, err := codes.ParseToken(string(plain[at:]))
	if err != nil {
		return codes.VoucherCode{}, codes.Token{}, errors.New("the sealed token is not a token")
	}
	return code, token, nil
}

// The kinds of secret.
const (
	CodeSecret  = "code"
	TokenSecret = "token"
)

// InsertSecret writes rows that SecretRows made.
var InsertSecret = &db.Query{What: "writing into secret",
	Each: `INSERT INTO secret (hash, kind, account_id, voucher_id, replaced) VALUES ($1, $2, $3, $4, $5)`,
	Postgres: `INSERT INTO secret (hash, kind, account_id, voucher_id, replaced)
		SELECT * FROM unnest($1::BYTEA[], $2::TEXT[], $3::BYTEA[], $4::BYTEA[], $5::BIGINT[])`}

// SecretRows are what a gift's code and token are found by; replaced is the number of the entry that took them away.
func SecretRows(keys *sealed.Keys, account, voucher guid.ID, c codes.VoucherCode, t codes.Token,
	replaced int) (code, token []any) {
	return []any{keys.CodeHash(c), CodeSecret, db.KeyOf(account), db.KeyOf(voucher), replaced},
		[]any{keys.TokenHash(t), TokenSecret, db.KeyOf(account), db.KeyOf(voucher), replaced}
}

// ErrMessage tells that the sender's message of a gift does not open.
var ErrMessage = errors.New("the sender's message does not open")

// ScanGift reads the columns of a voucher with its items and of its card, and what comes before them into first. closed
// tells that the gift's secrets could not be opened.
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
