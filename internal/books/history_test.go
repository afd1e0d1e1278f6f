package books_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests are the same on every machine

	"boon.example/internal/books"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// world is an account whose gifts live through what the rules of package gift let them.
type world struct {
	*rand.Rand
	now     time.Time
	account *merchant.Account
	caller  *merchant.Caller
	gifts   []*kept
	made    uint64
}

// kept is a gift with its history.
type kept struct {
	v       gift.Voucher
	worth   gift.ItemWorth
	history []gift.Entry
	taken   map[guid.ID]*gift.Undoable
	cashed  gift.CashOuts
	before  gift.Status // it was cancelled
}

func id(n byte) guid.ID { return guid.ID{0: n, 15: n} }

var shops = []guid.ID{id(0x21), id(0x22), id(0x23)}

const jurisdiction = "US-CA"

func newWorld(seed uint64, zone *time.Location, currency money.Currency, from time.Time) *world {
	account := &merchant.Account{ID: id(1), Currency: currency, MaxGiftValue: 100_000, Zone: zone,
		Subscriptions: []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID, Reloadable: true}}}
	for _, s := range shops {
		account.Locations = append(account.Locations, merchant.Location{ID: s, Jurisdiction: jurisdiction})
	}
	return &world{Rand: rand.New(rand.NewPCG(seed, 7)), now: from, account: account,
		caller: &merchant.Caller{Kind: merchant.AccountKey, Account: account, Permissions: merchant.AllPermissions}}
}

func (w *world) id() (id guid.ID) {
	w.made++
	binary.BigEndian.PutUint64(id[8:], w.made)
	return id
}

func (w *world) context() gift.Context {
	return gift.Context{EntryID: w.id(), Now: w.now,
		Actor: merchant.Actor{LocationID: shops[w.IntN(len(shops))], KeyID: id(byte(0x50 + w.IntN(3)))}}
}

// issue makes a gift with its first entry, as the engine does.
func (w *world) issue() {
	v := gift.Voucher{ID: w.id(), AccountID: w.account.ID, ProgramID: merchant.BusinessProgram.ID,
		Currency: w.account.Currency, Status: gift.Delivered, CreatedAt: w.now}
	k := &kept{taken: map[guid.ID]*gift.Undoable{}, cashed: gift.CashOuts{}}
	worth := money.Amount(1 + w.IntN(5_000))
	if v.Item = w.IntN(4) == 0; v.Item {
		worth = money.Amount(1 + w.IntN(12))
		if k.worth.Pieces = worth; w.IntN(3) > 0 {
			k.worth.Money = money.Amount(w.IntN(4_000))
		}
	}
	if v.Promotional = w.IntN(3) == 0; v.Promotional {
		v.ProgramID = merchant.PromotionalProgram.ID
		v.ValidUntil = w.now.Add(time.Duration(1+w.IntN(100)) * time.Hour).Truncate(time.Millisecond)
		v.GraceDays = max(0, w.IntN(6)-2)
	} else if w.IntN(4) == 0 {
		v.Status, v.Fixed = gift.NotActivated, worth
		worth = 0
	}
	v.Funded, v.Balance = worth, worth
	c := w.context()
	c.Actor.LocationID = guid.ID{}
	v.Seq, v.Last = 1, c.EntryID
	k.v = v
	kind := gift.Issued
	if v.Status == gift.Delivered && w.IntN(4) == 0 {
		kind = gift.Imported
	}
	k.history = []gift.Entry{{ID: c.EntryID, AccountID: v.AccountID, VoucherID: v.ID, Seq: 1, Kind: kind,
		Balance: worth, Status: v.Status, At: w.now, Actor: c.Actor}}
	if kind == gift.Issued && !v.Promotional && worth > 0 {
		k.history[0].Purchase.Price = w.price(k.terms().Worth, v.Item, worth)
	}
	w.gifts = append(w.gifts, k)
}

// price is what was paid for value, half of the time.
func (w *world) price(of gift.ItemWorth, item bool, worth money.Amount) money.Amount {
	if item {
		worth = of.Money
	}
	if worth == 0 || w.IntN(2) == 0 {
		return 0
	}
	return money.Amount(1 + w.IntN(int(worth)))
}

func (k *kept) note(v gift.Voucher, e gift.Entry, err error) bool {
	if err != nil || e.Kind == "" {
		return false
	}
	if e.Kind == gift.Cancellation {
		k.before = k.v.Status
	}
	k.v, k.history = v, append(k.history, e)
	if e.Kind.Undoable() {
		k.taken[e.ID] = &gift.Undoable{Entry: e}
	}
	if of := k.taken[e.Reverses]; of != nil {
		of.Reversed += max(e.Delta, -e.Delta)
		of.Parts++
	}
	k.cashed.Enter(&e)
	return true
}

// undoable is one of the entries of some kinds that may be undone.
func (k *kept) undoable(w *world, kinds ...gift.Kind) gift.Undoable {
	var all []gift.Undoable
	for _, e := range k.history {
		if t := k.taken[e.ID]; t != nil {
			for _, kind := range kinds {
				if e.Kind == kind {
					one := *t
					one.CashedOut = k.cashed.Since(e.Seq)
					all = append(all, one)
				}
			}
		}
	}
	if len(all) == 0 {
		return gift.Undoable{}
	}
	return all[w.IntN(len(all))]
}

// step lets one thing happen to one gift, or time pass; it may be refused.
func (w *world) step() {
	w.now = w.now.Add(time.Duration(w.IntN(int(6 * time.Hour)))).Truncate(time.Microsecond)
	if len(w.gifts) == 0 || w.IntN(8) == 0 {
		w.issue()
		return
	}
	k := w.gifts[w.IntN(len(w.gifts))]
	v, c := k.v, w.context()
	some := money.Amount(1 + w.IntN(max(1, int(v.Balance))))
	undo := gift.Undo{Context: c, Caller: w.caller}
	switch w.IntN(17) {
	case 0, 1, 2:
		k.note(v.Redeem(gift.Redeem{Context: c, LocationID: c.Actor.LocationID, Amount: some, Account: w.account}))
	case 3:
		k.note(v.Redeem(gift.Redeem{Context: c, LocationID: c.Actor.LocationID, Account: w.account}))
	case 4, 5:
		t := k.undoable(w, gift.Redemption, gift.CashOut)
		r := gift.Reverse{Context: c, Caller: w.caller}
		if left := t.Left(); left > 1 && w.IntN(2) == 0 {
			r.Amount = money.Amount(1 + w.IntN(int(left)))
		}
		k.note(v.Reverse(t, r))
	case 6:
		k.note(v.Activate(gift.Activate{Context: c, LocationID: c.Actor.LocationID, Most: w.account.MaxGiftValue}))
	case 7:
		k.note(v.ReverseActivation(k.undoable(w, gift.Activation), undo))
	case 8, 9:
		k.note(v.Reload(gift.ReloadRequest{Context: c, Amount: some, Account: w.account,
			Price: money.Number(w.account.Currency.Format(1 + money.Amount(w.IntN(int(some)))))}))
	case 10:
		k.note(v.ReverseReload(k.undoable(w, gift.Reload), undo))
	case 11:
		if w.IntN(2) == 0 {
			some = -some
		}
		k.note(v.Adjust(gift.Adjust{Context: c, Caller: w.caller, Amount: some, ReasonCode: gift.ReasonMistake,
			Reason: "a mistake"}))
	case 12:
		w.transfer(k, c, some)
	case 13:
		w.cancelOrNot(k, c)
	case 14:
		law := gift.CashOutLaw{{Jurisdiction: jurisdiction, Currency: w.account.Currency, Limit: 10_000}}
		k.note(v.CashOut(gift.CashOutRequest{Context: c, Law: law, Account: w.account}))
	case 15:
		if v.Blocked == "" {
			k.note(v.Block(gift.Block{Context: c, Caller: w.caller, ReasonCode: gift.ReasonLost}))
		} else {
			k.note(v.Unblock(gift.Unblock{Context: c, Caller: w.caller}))
		}
	case 16:
		k.note(v.Extend(gift.Extend{Context: c, Caller: w.caller, Until: v.End().Add(time.Duration(w.IntN(90)) * time.Hour)}))
	}
}

func (w *world) transfer(k *kept, c gift.Context, some money.Amount) {
	to := w.gifts[w.IntN(len(w.gifts))]
	ask := gift.Transfer{Context: c, EntryIn: w.id(), Amount: some, Caller: w.caller}
	from, into, entries, err := k.v.Transfer(to.v, ask)
	if k.note(from, entries[0], err) {
		to.note(into, entries[1], nil)
	}
}

func (w *world) cancelOrNot(k *kept, c gift.Context) {
	if k.v.Status == gift.Cancelled || k.v.Status == gift.PurchaseFailed {
		v, e, _, err := k.v.Reinstate(gift.Reinstate{Context: c, Caller: w.caller, Before: k.before})
		k.note(v, e, err)
		return
	}
	v, e, _, err := k.v.Cancel(gift.Cancel{Context: c, Caller: w.caller, To: gift.Cancelled})
	k.note(v, e, err)
}

func (k *kept) terms() books.Terms {
	return books.Terms{ID: k.v.ID, ProgramID: k.v.ProgramID, Promotional: k.v.Promotional, Item: k.v.Item,
		Currency: k.v.Currency, ValidUntil: k.v.ValidUntil, GraceDays: k.v.GraceDays, Worth: k.worth}
}

func (w *world) month(at time.Time) int { return books.Days(nil).Month(at, w.account.Zone) }

// moved are the sums of what moved in a time; known is up to when entries are known.
func (w *world) moved(t testing.TB, from, until, known time.Time) books.Sums {
	sums := books.Sums{}
	byID := map[guid.ID]*kept{}
	for _, k := range w.gifts {
		byID[k.v.ID] = k
	}
	upTo := func(k *kept) (some []gift.Entry) {
		for _, e := range k.history {
			if e.At.Before(known) {
				some = append(some, e)
			}
		}
		return some
	}
	f := &books.Folder{Month: w.month, Read: func(id guid.ID) (books.Terms, []gift.Entry, error) {
		return byID[id].terms(), upTo(byID[id]), nil
	}}
	for _, k := range w.gifts {
		terms := k.terms()
		err := f.Fold(&terms, upTo(k), until, func(m books.Movement) {
			if !m.At.Before(from) && m.At.Before(until) {
				sums.Move(&terms, &m)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return sums
}
