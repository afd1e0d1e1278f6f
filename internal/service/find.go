package service

import (
	"errors"
	"slices"
	"strings"

	"boon.example/internal/base/normalize"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// FindByToken looks a gift up by its token, for use at a location. A gift that is refused is given beside the refusal.
func (c *Call) FindByToken(token codes.Token, location guid.ID) (gift.Gift, error) {
	g, err := c.config.Records.GiftByToken(c.ctx, token)
	_, err = c.checkUse(&g, err, location, gift.NoSuchToken)
	return g, err
}

// FindByCode looks a gift up by its code, for use at a location. Codes are limited against guessing: where no attempt
// is left, nothing is looked up. A gift that is refused is given beside the refusal. To a caller that is no till, the
// code of a card that is taken at tills only is one that is not there, and a guess.
func (c *Call) FindByCode(code codes.VoucherCode, location guid.ID) (g gift.Gift, err error) {
	err = c.guesses.lookUp(c.ctx, c.Till(location), func() (cost int, err error) {
		g, err = c.config.Records.GiftByCode(c.ctx, code)
		if err == nil && g.AccountID == c.Account.ID && g.MayBeTakenBy(c.Caller) != nil {
			g, err = gift.Gift{}, refusal.NotFound // whoever guesses is not told that the code was right
		}
		return c.checkUse(&g, err, location, gift.NoSuchCode)
	})
	return g, err
}

// FindByActivationCode looks the card of a stock up that is sold by an activation code, for use at a location. It is
// limited against guessing together with codes, and a miss costs as much. The number of a card that was replaced finds
// nothing: it stands on the card that is worth nothing any more.
func (c *Call) FindByActivationCode(code codes.ActivationCode, location guid.ID) (g gift.Gift, err error) {
	err = c.guesses.lookUp(c.ctx, c.Till(location), func() (cost int, err error) {
		g, err = c.config.Records.GiftByActivationCode(c.ctx, c.Account.ID, code)
		if err == nil && g.Replaced > 0 {
			g, err = gift.Gift{}, refusal.NotFound
		}
		return c.checkUse(&g, err, location, gift.NoSuchActivationCode)
	})
	return g, err
}

// checkUse tells what became of a look-up, and what it costs: missing, where the caller may not know of the gift.
func (c *Call) checkUse(g *gift.Gift, err error, location guid.ID, missing func() *refusal.Error) (cost int, _ error) {
	found := &g.Voucher
	replaced, old := errors.AsType[*gift.ReplacedError](err)
	switch {
	case old:
		g.Voucher = replaced.Voucher
	case errors.Is(err, refusal.NotFound):
		found = nil
	case err != nil:
		return 0, Stored(err)
	}
	if cost, err = gift.CheckUse(c.Account.ID, found, location, missing); err == nil && old {
		err = replaced.Refusal(c.Account.TimeZone())
	}
	if err == nil && found != nil {
		err = found.MayBeTakenBy(c.Caller)
	}
	return cost, err
}

// ReadRecipient reads whom gifts are for that somebody looks for in an account: an address or a number in all spellings
// with which gifts may have been kept, else the words of a name.
func ReadRecipient(text string, a *merchant.Account) (contacts, words []string) {
	text = strings.TrimSpace(text)
	contacts, words = contact.ParseSearch(normalize.Address(text), a.TextedCountries())
	// As it was typed, earlier releases kept it; or nobody has the like.
	if typed := contact.Fold(text); text != "" && words == nil && !slices.Contains(contacts, typed) {
		contacts = append(contacts, typed)
	}
	return contacts, words
}

// Till is where codes are tried.
func (c *Call) Till(location guid.ID) merchant.Till {
	return merchant.Till{AccountID: c.Account.ID, KeyID: c.Caller.KeyID, LocationID: location,
		LocationCount: c.Caller.LocationCount(), Shop: c.Caller.WebShop, Fresh: c.Caller.FreshTill(c.RealTime())}
}

// Compare finds the gift whose code this is among gifts that the caller used before. It looks nothing up by the code,
// so that it goes on where no attempt is left. It is limited for itself: whoever has the key of a call and the last
// four digits of its gift may not try the others.
func (c *Call) Compare(code codes.VoucherCode, location guid.ID, used []guid.ID) (g gift.Gift, err error) {
	if len(used) == 0 {
		return g, gift.NoSuchCode()
	}
	at := c.Till(location)
	at.Used = true
	err = c.guesses.lookUp(c.ctx, at, func() (cost int, _ error) {
		found := error(gift.NoSuchCode())
		for _, voucher := range used {
			one, err := c.config.Records.GiftWithCode(c.ctx, c.Account.ID, voucher, code)
			switch replaced, old := errors.AsType[*gift.ReplacedError](err); {
			case old:
				g, found = gift.Gift{Voucher: replaced.Voucher}, err
			case err == nil:
				g, found = one, nil
			case !errors.Is(err, refusal.NotFound):
				return 0, Stored(err)
			}
		}
		if errors.Is(found, refusal.NotFound) {
			cost = merchant.MissUnknown
		}
		return cost, found
	})
	return g, err
}

// Redeemed is told of a redemption that was done by this very call. It stands, whatever becomes of the reward.
func (c *Call) Redeemed(voucher, location guid.ID) {
	_ = c.guesses.reward(c.ctx, c.Till(location), voucher)
	if c.Account.BalanceNotice {
		c.config.Wake(c.Account.Test)
	}
}
