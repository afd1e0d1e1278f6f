package api

import (
	"context"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// Records is what the interface reads beside the engine, and the counts of wrong codes. What is not there is gift.NotFound.
// Everything else that fails is an internal error.
type Records interface {
	// GiftByCode and GiftByToken find a gift of any account by its secret.
	GiftByCode(context.Context, gift.VoucherCode) (gift.Gift, error)
	GiftByToken(context.Context, gift.Token) (gift.Gift, error)
	// Gift finds a gift of an account.
	Gift(ctx context.Context, account, voucher gift.ID) (gift.Gift, error)
	// Gifts selects at most Filter.Limit gifts, the newest first.
	Gifts(context.Context, gift.Filter) ([]gift.Gift, error)
	// History gives at most limit entries of a voucher after the one numbered seq, the oldest first.
	History(ctx context.Context, account, voucher gift.ID, seq, limit int) ([]gift.Entry, error)
	// Requests gives the records of an Idempotency-Key, of one operation or of all (operation ""), without their long answers.
	Requests(ctx context.Context, account gift.ID, operation ledger.Operation, key string) ([]ledger.Request, error)
	// LongAnswer reads the body of an answer that was not read with its record.
	LongAnswer(context.Context, ledger.Long) ([]byte, error)

	// Guesses reads the counts of a key at a location.
	Guesses(ctx context.Context, m gift.Miss) (gift.Guesses, error)
	// CountMiss counts an unknown code, once a day and account, durably, and gives the counts after it.
	CountMiss(context.Context, gift.Miss) (gift.Guesses, error)
	// RewardTill gives GuessReward attempts back to a key at a location, if any are missing.
	RewardTill(ctx context.Context, m gift.Miss) error
	// LiveGifts is the number of an account's gifts that can still be hit by a guess: balance left, not withdrawn.
	LiveGifts(ctx context.Context, account gift.ID) (int64, error)
	// Stranger reads the bucket of a client address that has shown no valid key; CountStranger takes one out of it, durably.
	Stranger(ctx context.Context, address string) (gift.Bucket, error)
	CountStranger(ctx context.Context, address string, take func(gift.Bucket) gift.Bucket) error
}
