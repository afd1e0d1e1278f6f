package api_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// items is a send-gift request for so many pieces that are together worth so much; "": it is not said.
func items(quantity int, worth string) string {
	if worth != "" {
		worth = `"equivalentValue":` + worth + `,`
	}
	return fmt.Sprintf(`{"itemGift":{"label":"Coffee","terms":"One.","quantity":%d,%s"deliveryMethodID":3},%s}`, quantity,
		worth, purchase)
}

// countedElsewhere are the operations that move value of which no pieces count, and why.
var countedElsewhere = map[operation.Name]string{
	operation.ReloadGift:        "no item gift is reloaded",
	operation.ReverseReload:     "no item gift is reloaded",
	operation.RedeemGifts:       "no item gift pays in a sale",
	operation.CashOutGift:       "no item gift is cashed out",
	operation.TransferBalance:   "see TestPiecesMoveAtTheirWorth",
	operation.CreateStock:       "cards count when they are activated",
	operation.CaptureHold:       "it counted when it was held",
	operation.ReleaseHold:       "it takes nothing",
	operation.ReverseRedemption: "of what was counted",
	operation.ReverseActivation: "of what was counted",
}

// TestPiecesCountByTheirWorth: where money is limited, of the account or of a key of it, no operation moves pieces past
// the limit, and none puts in pieces whose worth nobody said.
func TestPiecesCountByTheirWorth(t *testing.T) {
	t.Parallel()
	ten := merchant.Limits{IssuedPerDay: 10_00, RedeemedPerDay: 10_00}
	for of, limits := range map[string][2]merchant.Limits{"account": {ten, {}}, "key": {{}, ten}} {
		w := newWorld(t)
		w.atNoon()
		old, many := w.send(items(500, "")), w.send(items(300, "1000.01"))
		empty := w.stock(`"count":1,"label":"Coffee","quantity":3`)[0]
		cards := w.stock(`"count":2,"label":"Coffee","quantity":2,"equivalentValue":6.67`)
		w.limit(limits[0], limits[1])
		ways := w.waysOfPieces(old, empty, many, cards)
		for kind, way := range ways {
			w.pass(24 * time.Hour)
			if r := way.known(2); r.status/100 != 2 {
				t.Errorf("%s: %s within the limit: %s", of, kind, r.body)
			}
			way.known(1).refused(429, refusal.RateLimited, "")
			if r := way.blind(); r.status/100 == 2 && way.code != "" || r.status/100 != 2 && r.at("code") != string(way.code) {
				t.Errorf("%s: %s of pieces whose worth nobody said: %s", of, kind, r.body)
			}
		}
		for _, o := range operation.All() {
			_, tried := ways[o]
			k := o.Makes()
			moves := k.Begins() || k.Balance() != gift.Stays || k.Held() != gift.Stays
			if moves == (!tried && countedElsewhere[o] == "") {
				t.Errorf("%s moves value: %t, and is tried: %t, or not, because %q", o, moves, tried, countedElsewhere[o])
			}
		}
		w.post("redeem-gifts", fmt.Sprintf(`{"gifts":[{"voucherID":%q,"amount":1}],"organizationID":%q}`, many.id, pier)).
			refused(422, refusal.InvalidVoucherType)
		w.post("create-stock", `{"count":1,"label":"Coffee","quantity":1}`).refused(400, refusal.ValidationFailure,
			"equivalentValue")
		w.sound()
	}
}

// wayOfPieces moves pieces.
type wayOfPieces struct {
	known func(pieces int) reply // worth 3.34 each or a little less
	blind func() reply           // whose worth nobody said
	code  refusal.Code           // of blind; "": it is allowed
}

// waysOfPieces are how the rotated key moves pieces: of an old gift and an empty card whose worth nobody said, and of a
// gift and cards whose worth was said.
func (w *world) waysOfPieces(old, empty, many made, cards []made) map[operation.Name]wayOfPieces {
	key := as(rotatedKey)
	return map[operation.Name]wayOfPieces{
		operation.RedeemGift: {func(n int) reply { return w.redeem(many, strconv.Itoa(n), key...) },
			func() reply { return w.redeem(old, "100", key...) }, ""},
		operation.HoldGift: {func(n int) reply { return w.holdGift(many, strconv.Itoa(n), key...) },
			func() reply { return w.holdGift(old, "100", key...) }, ""},
		operation.AdjustGift: {func(n int) reply { return w.adjust(many, strconv.Itoa(n), key...) },
			func() reply { return w.adjust(old, "1", key...) }, refusal.NotSupported},
		operation.SendGift: {func(n int) reply {
			return w.post("send-gift", items(n, fmt.Sprintf("%.2f", 3.34*float64(n))), key...)
		}, func() reply { return w.post("send-gift", items(1, ""), key...) }, refusal.ValidationFailure},
		operation.ActivateGift: {func(int) reply {
			card := cards[0]
			cards = cards[1:]
			return w.post("activate-gift", activateBody(card, ""), key...)
		}, func() reply { return w.post("activate-gift", activateBody(empty, ""), key...) }, refusal.NotSupported},
	}
}

// TestPiecesMoveAtTheirWorth: where money is limited, no transfer makes a piece worth more or less than it was.
func TestPiecesMoveAtTheirWorth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old, many, other := w.send(items(5, "")), w.send(items(300, "1000.01")), w.send(items(3, "10"))
	same := w.send(items(600, "2000.02"))
	move := func(to made) reply {
		return w.post("transfer-balance", fmt.Sprintf(`{"fromVoucherID":%q,"toVoucherID":%q,"amount":1}`, many.id, to.id))
	}
	w.limit(merchant.Limits{}, merchant.Limits{RedeemedPerDay: 10_00})
	move(old).refused(422, refusal.InvalidVoucherType, "toVoucherID")
	move(other).refused(422, refusal.InvalidVoucherType, "toVoucherID")
	move(same).want(200)
	w.limit(merchant.Limits{}, merchant.Limits{})
	move(old).want(200)
	move(other).want(200)
	w.sound()
}
