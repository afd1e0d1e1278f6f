package lookup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// GiftByCode finds a gift of any account by its code.
func (r *Reader) GiftByCode(ctx context.Context, c gift.VoucherCode) (gift.Gift, error) {
	g, err := r.giftBySecret(ctx, record.CodeSecret, func() [][]byte { return r.db.Keys.CodeHashes(c) })
	return found(g, err, g.Card.Code == c)
}

// GiftByToken finds a gift of any account by its token.
func (r *Reader) GiftByToken(ctx context.Context, t gift.Token) (gift.Gift, error) {
	g, err := r.giftBySecret(ctx, record.TokenSecret, func() [][]byte { return r.db.Keys.TokenHashes(t) })
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

const selectGiftByID = record.SelectGift + ` WHERE v.account_id = $1 AND v.id = $2`

// Statements are the statements that find by a key: those that are worth preparing.
func Statements(d *db.DB) []string {
	return append(d.Texts(selectBySecrets, selectGifts, selectEntries), selectGiftByID, selectEntry, d.Text(selectHistory))
}

// Gift finds a gift of an account.
func (r *Reader) Gift(ctx context.Context, account, voucher gift.ID) (gift.Gift, error) {
	gifts, err := r.selectGifts(ctx, selectGiftByID, db.KeyOf(account), db.KeyOf(voucher))
	switch {
	case err != nil:
		return gift.Gift{}, err
	case len(gifts) == 0:
		return gift.Gift{}, fmt.Errorf("reading a gift: %w", gift.NotFound)
	}
	return gifts[0], nil
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

// giftBySecret finds the gift whose secret can have these hashes; gift.NotFound is said only by who has all keys.
func (r *Reader) giftBySecret(ctx context.Context, kind string, hashes func() [][]byte) (gift.Gift, error) {
	var asked [][]byte
	for {
		wanted := slices.DeleteFunc(hashes(), func(hash []byte) bool {
			return slices.ContainsFunc(asked, func(other []byte) bool { return bytes.Equal(hash, other) })
		})
		if len(wanted) == 0 {
			return gift.Gift{}, fmt.Errorf("looking up a secret: %w", gift.NotFound)
		}
		for _, hash := range wanted {
			g, err := r.lookUpSecret(ctx, kind, hash)
			if !errors.Is(err, gift.NotFound) {
				return g, err
			}
		}
		asked = append(asked, wanted...)
		if err := r.db.Follow(ctx); err != nil {
			return gift.Gift{}, fmt.Errorf("looking up a secret: %w", err)
		}
	}
}
