package lookup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// GiftByCode finds a gift of any account by its code; a *gift.ReplacedError, where its card was replaced. Where a code
// that was typed at an account is Boon's code of one gift and that of another system on another one, it finds the one
// of the account, else Boon's.
func (r *Reader) GiftByCode(ctx context.Context, c codes.VoucherCode) (gift.Gift, error) {
	return r.giftBySecret(ctx, record.CodeSecret, c.Account(), func() [][]byte { return r.db.Keys.CodeHashes(c) },
		func(g *gift.Gift) bool { return g.Card.Code.Is(c) })
}

// GiftByToken finds a gift of any account by its token; a *gift.ReplacedError, where its card was replaced.
func (r *Reader) GiftByToken(ctx context.Context, t codes.Token) (gift.Gift, error) {
	return r.giftBySecret(ctx, record.TokenSecret, guid.ID{}, func() [][]byte { return r.db.Keys.TokenHashes(t) },
		func(g *gift.Gift) bool { return g.Card.Token == t })
}

// giftBySecret gives what a look-up by a secret finds, unless the gift has another secret than the one that was looked
// up, and its history does not say that this one was replaced: then somebody has changed what leads from secrets to
// gifts.
func (r *Reader) giftBySecret(ctx context.Context, kind string, first guid.ID, hashes func() [][]byte,
	has func(*gift.Gift) bool) (gift.Gift, error) {
	g, replaced, err := r.findSecret(ctx, kind, first, hashes)
	if err != nil {
		return gift.Gift{}, err
	}
	if replaced > 0 {
		return gift.Gift{}, r.replaced(ctx, &g, replaced)
	}
	if !has(&g) {
		return gift.Gift{}, notItsOwn(&g)
	}
	return g, nil
}

// replaced is the *gift.ReplacedError of a gift whose card was replaced by an entry, if the history says so.
func (r *Reader) replaced(ctx context.Context, g *gift.Gift, entry int) error {
	entries, err := r.History(ctx, g.AccountID, g.ID, entry-1, 1)
	switch {
	case err != nil:
		return err
	case len(entries) == 1 && entries[0].Kind == gift.Replaced:
		return &gift.ReplacedError{Voucher: g.Voucher, At: entries[0].At}
	}
	return notItsOwn(g)
}

func notItsOwn(g *gift.Gift) error {
	return fmt.Errorf("gift %s: %w: it was found by a code or token that is not its own; run boon verify", g.ID,
		refusal.UnexpectedError)
}

// selectReplacedCodes finds the codes that a gift had, the newest first: more than these nobody has in a wallet.
const selectReplacedCodes = `SELECT s.hash, s.replaced FROM secret AS s
	WHERE s.account_id = $1 AND s.voucher_id = $2 AND s.kind = 'code' AND s.replaced > 0 ORDER BY s.replaced DESC LIMIT 50`

// GiftWithCode finds a gift of an account by its id, if a code is its own; a *gift.ReplacedError, where it was that of
// a card that was replaced; else refusal.NotFound. Nothing is looked up by the code: how long it takes to find that it
// is another one tells nothing of it.
func (r *Reader) GiftWithCode(ctx context.Context, account, voucher guid.ID, code codes.VoucherCode) (gift.Gift,
	error) {
	g, err := r.Gift(ctx, account, voucher)
	if err != nil {
		return gift.Gift{}, err
	}
	if err := r.db.Follow(ctx); err != nil {
		return gift.Gift{}, fmt.Errorf("comparing a code: %w", err)
	}
	had, err := db.Collect(ctx, r.db, selectReplacedCodes, []any{db.KeyOf(account), db.KeyOf(voucher)},
		func(from db.Scanner) (c replacedCode, err error) {
			err = from.Scan(&c.hash, &c.entry)
			return c, err
		})
	if err != nil {
		return gift.Gift{}, fmt.Errorf("comparing a code: %w", err)
	}
	is, replaced := g.Card.Code.Is(code), 0
	for _, c := range had {
		for _, hash := range r.db.Keys.CodeHashes(code) {
			replaced = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(c.hash, hash), c.entry, replaced)
		}
	}
	switch {
	case is:
		return g, nil
	case replaced > 0:
		return gift.Gift{}, r.replaced(ctx, &g, replaced)
	}
	return gift.Gift{}, fmt.Errorf("comparing a code: %w", refusal.NotFound)
}

// replacedCode is a code that a gift had, and the number of the entry that took it away.
type replacedCode struct {
	hash  []byte
	entry int
}

// CodeLookUps is how often gifts were looked up by a code since the program began.
func (r *Reader) CodeLookUps() int64 { return r.codes.Load() }

const selectGiftByID = `SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional, v.promotion_id,
		v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last, v.valid_from, v.valid_until,
		v.created_at, v.made_by, v.holds, v.fixed, v.verification, v.wrong_codes, v.blocked, v.extended,
		v.replaced,
		(SELECT i.items FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items, NULLIF(v.buyer_notices || ' ' || v.grace || ' ' || v.buyer_language || ' ' || v.customer, '0 0  ') AS rare,
		c.secrets, c.label,
		CASE WHEN c.terms_of_order THEN (SELECT o.terms
			FROM order_terms AS o WHERE o.account_id = v.account_id
				AND o.order_id = v.order_id) ELSE c.terms END AS terms,
		CASE WHEN c.terms_of_order THEN (SELECT o.promotional_terms
			FROM order_terms AS o WHERE o.account_id = v.account_id
				AND o.order_id = v.order_id) ELSE c.promotional_terms END AS promotional_terms,
		c.equivalent_value, c.sender, c.recipient, c.contact, c.message, c.method, c.design_id, c.scheduled,
		c.delivery_date, c.delivery_zone, c.delivered_at, c.recipient_index, c.reference, c.first_name,
		c.last_name, c.email_address, c.storefront_id, c.notes, c.related_order_id, c.related_order_number,
		c.language, c.vat_treatment, c.vat_rate, NULLIF(c.price || c.attachment, '0') AS bought, c.sealed_message
	FROM voucher AS v JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id
	WHERE v.account_id = $1 AND v.id = $2 AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
		WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))`

// Statements are the statements that find by a key: those that are worth preparing.
func Statements(d *db.DB) []string {
	return append(d.Texts(selectBySecrets, selectGifts, selectEntries), selectGiftByID, selectWorth,
		selectReplacedCodes, selectEntry, d.Text(selectHistory), d.Text(selectParts),
		selectNextStock, selectStock, countUnsold, countMade, selectActivation, selectHasActivation)
}

// Gift finds a gift of an account.
func (r *Reader) Gift(ctx context.Context, account, voucher guid.ID) (gift.Gift, error) {
	if g, ok := r.cache.byID(account, voucher); ok {
		return g, nil
	}
	stamp := r.cache.stamp()
	gifts, err := r.selectGifts(ctx, selectGiftByID, db.KeyOf(account), db.KeyOf(voucher))
	switch {
	case err != nil:
		return gift.Gift{}, err
	case len(gifts) == 0:
		return gift.Gift{}, fmt.Errorf("reading a gift: %w", refusal.NotFound)
	}
	r.cache.put(stamp, &gifts[0])
	return gifts[0], nil
}

const selectWorth = `SELECT v.item, v.fixed, c.equivalent_value FROM voucher AS v
	JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id WHERE v.account_id = $1 AND v.id = $2
	AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
		WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))`

// Worth implements engine.Store.
func (r *Reader) Worth(ctx context.Context, account, voucher guid.ID) (gift.ItemWorth, error) {
	found, err := db.Collect(ctx, r.db, selectWorth, []any{db.KeyOf(account), db.KeyOf(voucher)},
		func(from db.Scanner) (w gift.ItemWorth, err error) {
			var item bool
			if err = from.Scan(&item, &w.Pieces, &w.Money); !item {
				w = gift.ItemWorth{}
			}
			return w, err
		})
	switch {
	case err != nil:
		return gift.ItemWorth{}, fmt.Errorf("reading what gift %s is worth: %w", voucher, err)
	case len(found) == 0 || found[0].Money == 0:
		return gift.ItemWorth{}, nil
	case found[0].Pieces > 0: // a card of a stock
		return found[0], nil
	}
	issued, err := r.History(ctx, account, voucher, 0, 1)
	if err == nil && len(issued) > 0 {
		found[0].Pieces = issued[0].Balance
	}
	return found[0], err
}

func (r *Reader) selectGifts(ctx context.Context, query string, args ...any) ([]gift.Gift, error) {
	gifts, err := db.Collect(ctx, r.db, query, args, func(from db.Scanner) (gift.Gift, error) {
		g, closed, err := record.ScanGift(r.db.Keys, from)
		return g, cmp.Or(err, closed)
	})
	if err != nil {
		return nil, fmt.Errorf("reading gifts: %w", err)
	}
	return gifts, nil
}

// findSecret finds the gift whose secret can have these hashes, and the number of the entry that took the secret away;
// refusal.NotFound is said only by who has all keys. Where there is an account whose gifts come first, the hashes are
// looked up together, else one after the other: then the first one is nearly always it.
func (r *Reader) findSecret(ctx context.Context, kind string, first guid.ID,
	hashes func() [][]byte) (gift.Gift, int, error) {
	var asked [][]byte
	for {
		wanted := slices.DeleteFunc(hashes(), func(hash []byte) bool {
			return slices.ContainsFunc(asked, func(other []byte) bool { return bytes.Equal(hash, other) })
		})
		if len(wanted) == 0 {
			return gift.Gift{}, 0, fmt.Errorf("looking up a secret: %w", refusal.NotFound)
		}
		together := 1
		if !first.IsZero() {
			together = len(wanted)
		}
		for some := range slices.Chunk(wanted, together) {
			g, replaced, err := r.lookUpSecret(ctx, kind, first, some)
			if !errors.Is(err, refusal.NotFound) {
				return g, replaced, err
			}
		}
		asked = append(asked, wanted...)
		if err := r.db.Follow(ctx); err != nil {
			return gift.Gift{}, 0, fmt.Errorf("looking up a secret: %w", err)
		}
	}
}
