package service

import (
	"context"
	"time"

	"boon.example/internal/base/ratelimit"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
)

// Records is what calls read beside the engine, and the counts of wrong codes. What is not there is
// refusal.NotFound. Everything else that fails is an internal error.
type Records interface {
	// GiftByCode and GiftByToken find a gift of any account by its secret.
	GiftByCode(context.Context, codes.VoucherCode) (gift.Gift, error)
	GiftByToken(context.Context, codes.Token) (gift.Gift, error)
	// GiftByActivationCode finds the card of an account that is sold by an activation code.
	GiftByActivationCode(ctx context.Context, account guid.ID, code codes.ActivationCode) (gift.Gift, error)
	// GiftWithCode finds a gift of an account by its id, if a code is its own or was that of a card of it that was
	// replaced. Nothing is looked up by the code.
	GiftWithCode(ctx context.Context, account, voucher guid.ID, code codes.VoucherCode) (gift.Gift, error)
	// Gift finds a gift of an account.
	Gift(ctx context.Context, account, voucher guid.ID) (gift.Gift, error)
	// History gives at most limit entries of a voucher after the one numbered seq, the oldest first.
	History(ctx context.Context, account, voucher guid.ID, seq, limit int) ([]gift.Entry, error)
	// Parts gives an entry, what was captured or released of it if it is a hold, and what took any of these back, the
	// oldest first; none where there is no such entry.
	Parts(ctx context.Context, account, entry guid.ID) ([]gift.Entry, error)
	// Requests gives the records of an Idempotency-Key, of one operation or of all (operation ""), without their long
	// answers.
	Requests(ctx context.Context, account guid.ID, operation operation.Name, key string) ([]ledger.Request, error)
	// ProviderKeys gives the Idempotency-Keys of a provider's calls that begin with a text, at most so many.
	ProviderKeys(ctx context.Context, account guid.ID, begin string, most int) ([]string, error)
	// LongAnswer reads the body of an answer that was not read with its record.
	LongAnswer(context.Context, ledger.Long) ([]byte, error)

	// NoteProbe tells that a card that is not sold yet was asked for by its code, unless that was told lately. count is
	// asked before whether so much may be kept.
	NoteProbe(ctx context.Context, e event.TrailEntry, now time.Time, count func() error) error

	// Clock reads the clock of a test account.
	Clock(ctx context.Context, account guid.ID) (merchant.Clock, error)

	// TillBucket reads the bucket of wrong codes of a key at a location, or at all of its locations together; CountMisses
	// takes n out of both, durably, gives the location's, and tells whether they are an event (merchant.MissCount.Add);
	// RewardTill gives some back after the first redemption of a gift there, where they are missing.
	TillBucket(context.Context, merchant.Till) (ratelimit.Bucket, error)
	CountMisses(ctx context.Context, at merchant.Till, now time.Time, n int) (_ ratelimit.Bucket, alarm bool, _ error)
	RewardTill(ctx context.Context, at merchant.Till, voucher guid.ID, now time.Time) error
	// AnonymousBucket reads the bucket of a client network that has shown no valid key; TakeAnonymous takes one out of
	// it, durably, unless it is empty.
	AnonymousBucket(ctx context.Context, network string) (ratelimit.Bucket, error)
	TakeAnonymous(ctx context.Context, network string, now time.Time) (_ ratelimit.Bucket, allowed bool, _ error)
}
