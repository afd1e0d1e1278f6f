package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
)

const voucherColumns = `v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional, v.promotion_id, ` +
	`v.currency, v.decimals, v.original, v.balance, v.status, v.seq, v.last, v.valid_from, v.valid_until, v.created_at, v.made_by, v.items_id`

// voucherAndItems are voucherColumns with what the voucher is good for.
const voucherAndItems = voucherColumns +
	`, (SELECT i.items FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items`

// voucherFields are where voucherAndItems are read into.
func voucherFields(v *gift.Voucher) []any {
	return []any{
		db.ScanID(&v.AccountID), db.ScanID(&v.ID), db.ScanID(&v.OrderID), db.ScanID(&v.ProgramID), db.ScanID(&v.LocationID),
		&v.Item, &v.Promotional, db.ScanID(&v.PromotionID), &v.Currency.Code, &v.Currency.Decimals,
		&v.Original, &v.Balance, &v.Status, &v.Seq, db.ScanID(&v.Last), db.ScanTime(&v.ValidFrom), db.ScanTime(&v.ValidUntil),
		db.ScanTime(&v.CreatedAt), &v.MadeBy,
		new([]byte), scanItems{&v.Items},
	}
}

const voucherTypes = "BBBBBFFBTNNNNNBNNNTB"

var insertVoucher = db.InsertRows("voucher", voucherColumns, voucherTypes, "")

func voucherRow(v *gift.Voucher) []any {
	return []any{
		db.KeyOf(v.AccountID), db.KeyOf(v.ID), db.KeyOf(v.OrderID), db.KeyOf(v.ProgramID), db.OrNull(v.LocationID),
		v.Item, v.Promotional, db.OrNull(v.PromotionID), v.Currency.Code, v.Currency.Decimals,
		int64(v.Original), int64(v.Balance), int64(v.Status), v.Seq, db.KeyOf(v.Last), db.Micros(v.ValidFrom),
		db.Micros(v.ValidUntil), db.Micros(v.CreatedAt), v.MadeBy,
		db.OrNull(itemsID(v)),
	}
}

const cardColumns = `c.account_id, c.voucher_id, c.secrets, c.label, c.terms, c.promotional_terms, ` + cardAfterTerms

const cardAfterTerms = `c.equivalent_value, ` +
	`c.sender, c.recipient, c.contact, c.message, c.method, c.design_id, c.scheduled, c.delivery_date, c.delivery_zone, ` +
	`c.delivered_at, c.recipient_index, c.reference, c.first_name, c.last_name, c.email_address, c.storefront_id, ` +
	`c.notes, c.related_order_id, c.related_order_number`

// cardFields are where cardAndTerms are read into; the secrets still have to be opened.
func cardFields(c *gift.Card, secrets *[]byte) []any {
	var unused gift.ID
	p := &c.Purchase
	return []any{
		db.ScanID(&unused), db.ScanID(&unused), secrets, &c.Label, &c.Terms, &c.PromotionalTerms, &c.EquivalentValue,
		&c.Sender, &c.Recipient, &c.Contact, &c.Message, &c.Method, db.ScanID(&c.DesignID), &c.Scheduled,
		db.ScanTime(&c.DeliveryDate), &c.DeliveryZone,
		db.ScanTime(&c.DeliveredAt), &c.RecipientIndex, &p.Reference, &p.FirstName, &p.LastName, &p.EmailAddress,
		db.ScanID(&p.StorefrontID),
		&c.Notes, &c.RelatedOrderID, &c.RelatedOrderNumber,
	}
}

var insertCard = db.InsertRows("card", cardColumns+", c.terms_of_order", "BBBTTTNTTTTNBFNTNNTTTTBTTTF", "")

func (s *Store) cardRow(g *gift.Gift, secrets []byte, ownTerms bool) []any {
	c, p := &g.Card, &g.Card.Purchase
	terms, promotionalTerms := c.Terms, c.PromotionalTerms
	if !ownTerms {
		terms, promotionalTerms = "", ""
	}
	return []any{
		db.KeyOf(g.AccountID), db.KeyOf(g.ID), secrets, c.Label, terms, promotionalTerms, int64(c.EquivalentValue),
		c.Sender, c.Recipient, c.Contact, c.Message, int64(c.Method), db.OrNull(c.DesignID), c.Scheduled,
		db.Micros(c.DeliveryDate), c.DeliveryZone,
		db.Micros(c.DeliveredAt), c.RecipientIndex, p.Reference, p.FirstName, p.LastName, p.EmailAddress,
		db.OrNull(p.StorefrontID),
		c.Notes, c.RelatedOrderID, c.RelatedOrderNumber, !ownTerms,
	}
}

// boundToGift binds sealed secrets to a gift and its account, so that those of one open nowhere else.
func boundToGift(account, voucher gift.ID) []byte {
	return append(db.Bound("gift", account), voucher[:]...)
}

// sealSecrets seals a gift's code and token, one after the other, for it.
func (s *Store) sealSecrets(g *gift.Gift) []byte {
	return s.sealSecretsOf(g.AccountID, g.ID, g.Card.Code, g.Card.Token)
}

func (s *Store) sealSecretsOf(account, voucher gift.ID, c gift.VoucherCode, t gift.Token) []byte {
	return s.db.Keys.Seal([]byte(c.Reveal()+t.Reveal()), boundToGift(account, voucher))
}

// openSecrets reads what sealSecrets made.
func (s *Store) openSecrets(account, voucher gift.ID, secrets []byte) (gift.VoucherCode, gift.Token, error) {
	plain, err := s.db.Keys.Open(secrets, boundToGift(account, voucher))
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
	codeSecret  = "code"
	tokenSecret = "token"
)

var insertSecret = db.InsertRows("secret", "hash, kind, account_id, voucher_id", "BTBB", "")

// GiftByCode finds a gift of any account by its code.
func (s *Store) GiftByCode(ctx context.Context, c gift.VoucherCode) (gift.Gift, error) {
	g, err := s.giftBySecret(ctx, codeSecret, func() [][]byte { return s.db.Keys.CodeHashes(c) })
	return found(g, err, g.Card.Code == c)
}

// GiftByToken finds a gift of any account by its token.
func (s *Store) GiftByToken(ctx context.Context, t gift.Token) (gift.Gift, error) {
	g, err := s.giftBySecret(ctx, tokenSecret, func() [][]byte { return s.db.Keys.TokenHashes(t) })
	return found(g, err, g.Card.Token == t)
}

// found gives what a look-up by a secret found, unless the gift has another secret than the one that was looked up:
// then somebody has changed what leads from secrets to gifts.
func found(g gift.Gift, err error, has bool) (gift.Gift, error) {
	if err == nil && !has {
		err = fmt.Errorf("gift %s: %w: it was found by a code or token that is not its own; run boon verify", g.ID,
			gift.UnexpectedError)
	}
	if err != nil {
		return gift.Gift{}, err
	}
	return g, nil
}

const selectGift = `SELECT ` + voucherAndItems + `, ` + cardAndTerms +
	` FROM voucher AS v JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id`

const selectGiftByID = selectGift + ` WHERE v.account_id = $1 AND v.id = $2`

// lookUpTexts are the reading statements that are worth preparing once.
var lookUpTexts = []string{selectGiftByID, selectBySecrets.One, selectBySecrets.Many, selectDigest.One,
	selectSearch.One}

// Gift finds a gift of an account.
func (s *Store) Gift(ctx context.Context, account, voucher gift.ID) (gift.Gift, error) {
	gifts, err := s.selectGifts(ctx, selectGiftByID, db.KeyOf(account), db.KeyOf(voucher))
	switch {
	case err != nil:
		return gift.Gift{}, err
	case len(gifts) == 0:
		return gift.Gift{}, fmt.Errorf("reading a gift: %w", gift.NotFound)
	}
	return gifts[0], nil
}

func (s *Store) selectGifts(ctx context.Context, query string, args ...any) ([]gift.Gift, error) {
	gifts, err := db.Collect(ctx, s.db, query, args, func(from db.Scanner) (gift.Gift, error) {
		g, closed, err := s.scanGift(from)
		return g, cmp.Or(err, closed)
	})
	if err != nil {
		return nil, fmt.Errorf("reading gifts: %w", err)
	}
	return gifts, nil
}

// scanGift reads voucherAndItems and cardAndTerms, and what comes before them into first. closed tells that the gift's
// secrets could not be opened.
func (s *Store) scanGift(from db.Scanner, first ...any) (g gift.Gift, closed, err error) {
	var secrets []byte
	if err := from.Scan(slices.Concat(first, voucherFields(&g.Voucher), cardFields(&g.Card, &secrets))...); err != nil {
		return g, nil, err
	}
	g.Card.Code, g.Card.Token, err = s.openSecrets(g.AccountID, g.ID, secrets)
	switch {
	case errors.Is(err, sealed.ErrUnknownKey):
		return g, fmt.Errorf("gift %s: %w", g.ID, err), nil
	case err != nil:
		return g, fmt.Errorf("gift %s: %w: %w; run boon verify", g.ID, gift.UnexpectedError, err), nil
	}
	return g, nil, nil
}

// where builds a condition with numbered placeholders.
type where struct {
	conditions []string
	args       []any
}

// and adds a condition in which %s stands for the arguments, in order.
func (w *where) and(condition string, args ...any) {
	placeholders := make([]any, len(args))
	for i, a := range args {
		placeholders[i] = w.arg(a)
	}
	w.conditions = append(w.conditions, fmt.Sprintf(condition, placeholders...))
}

// arg adds an argument and gives its placeholder.
func (w *where) arg(a any) string {
	w.args = append(w.args, a)
	return fmt.Sprintf("$%d", len(w.args))
}
