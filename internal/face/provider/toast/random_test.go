package toast_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"boon.example/internal/face/provider/providertest"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/server"
)

// modelCard is a card of which only what Toast was told is known.
type modelCard struct {
	code    string
	active  bool
	put     int // activated and loaded, less what of that was reversed, in cents
	balance int
	done    []modelDone
	changes int // how many there were
}

type modelDone struct {
	guid, kind string
	amount     int
	undone     bool
	at         int // its number among the changes
}

func cents(n int) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }

// TestBalancesAddUp makes transactions at random: every balance that Toast is told is what was put in less what was
// taken, never below nothing, never above what was put in.
func TestBalancesAddUp(t *testing.T) {
	t.Parallel()
	r := open(t)
	random := rand.New(rand.NewPCG(7, 11))
	var cards []*modelCard
	for _, c := range r.Stock(3, "") {
		cards = append(cards, &modelCard{code: c.Code})
	}
	for range 150 {
		c := cards[random.IntN(len(cards))]
		amount := 1 + random.IntN(4_000)
		switch kind := random.IntN(10); {
		case kind < 2:
			c.activate(r, amount)
		case kind < 4:
			c.load(r, amount)
		case kind < 7:
			c.redeem(r, amount)
		case len(c.done) > 0:
			c.reverse(r, &c.done[random.IntN(len(c.done))])
		}
		if c.balance < 0 || c.balance > c.put {
			t.Fatalf("the model is wrong: %+v", c)
		}
		want := "ACCEPT " + cents(c.balance)
		if !c.active {
			want = "ERROR_CARD_NOT_ACTIVATED"
		}
		r.want(want, "GET_BALANCE", c.code, "")
		if t.Failed() {
			t.Fatalf("after %+v", c)
		}
	}
	r.Verify()
}

func (c *modelCard) note(guid, kind string, amount int) {
	c.changes++
	c.done = append(c.done, modelDone{guid: guid, kind: kind, amount: amount, at: c.changes})
}

func (c *modelCard) activate(r *restaurant, amount int) {
	more := `,"initialBalance":` + cents(amount)
	if c.active {
		r.want("ERROR_CARD_ALREADY_ACTIVATED", "ACTIVATE", c.code, more)
		return
	}
	c.active, c.put, c.balance = true, amount, amount
	c.note(r.want("ACCEPT "+cents(amount), "ACTIVATE", c.code, more), "ACTIVATE", amount)
}

func (c *modelCard) load(r *restaurant, amount int) {
	more := `,"additionalValue":` + cents(amount)
	switch {
	case !c.active:
		r.want("ERROR_CARD_NOT_ACTIVATED", "ADD_VALUE", c.code, more)
		return
	case c.balance+amount > 500_00:
		r.want("ERROR_INVALID_INPUT_PROPERTIES", "ADD_VALUE", c.code, more)
		return
	}
	c.put, c.balance = c.put+amount, c.balance+amount
	c.note(r.want("ACCEPT "+cents(c.balance), "ADD_VALUE", c.code, more), "ADD_VALUE", amount)
}

func (c *modelCard) redeem(r *restaurant, amount int) {
	if !c.active {
		r.want("ERROR_CARD_NOT_ACTIVATED", "REDEEM", c.code, redeem(cents(amount)))
		return
	}
	taken := min(amount, c.balance)
	c.balance -= taken
	id := r.want("ACCEPT "+cents(c.balance)+" "+cents(taken), "REDEEM", c.code, redeem(cents(amount)))
	if taken > 0 {
		c.note(id, "REDEEM", taken)
	}
}

func (c *modelCard) reverse(r *restaurant, d *modelDone) {
	switch {
	case d.undone, d.kind == "ADD_VALUE" && d.amount > c.balance, d.kind == "ACTIVATE" && d.at != c.changes:
		r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", c.code, of(d.guid))
		return
	case d.kind == "REDEEM":
		c.balance += d.amount
	default:
		c.put, c.balance = c.put-d.amount, c.balance-d.amount
		c.active = d.kind != "ACTIVATE"
	}
	d.undone = true
	c.changes++
	r.want("ACCEPT "+cents(c.balance), "REVERSE", c.code, of(d.guid))
}

// slow is a store whose commits wait while there is something in held.
type slow struct {
	engine.Store
	held chan struct{}
}

func (s *slow) Group(ctx context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	s.held <- struct{}{}
	<-s.held
	return s.Store.Group(ctx, want, decide)
}

// TestTooLong: what takes longer than Toast waits is answered with a status of 500, never as refused: it may be carried
// out, and its GUID tells.
func TestTooLong(t *testing.T) {
	t.Parallel()
	held := make(chan struct{}, 1)
	r := &restaurant{providertest.Open(t, server.Config{Under: func(under engine.Store) engine.Store {
		return &slow{under, held}
	}}, setUp("")), config, secret, pierGUID}
	card := r.Gift("20").Code
	held <- struct{}{}
	id := guid()
	r.Once = true
	if a := r.send(id, "REDEEM", card, redeem("5")); a.http != 500 || a.body != "" {
		t.Errorf("a redemption that waits: %d %q", a.http, a.body)
	}
	r.Once = false
	<-held
	deadline := time.Now().Add(time.Minute)
	for r.send(id, "REDEEM", card, redeem("5")).String() != "ACCEPT 15.00 5.00" {
		if time.Now().After(deadline) {
			t.Fatal("the repeat is not told what became of it")
		}
	}
	r.want("ACCEPT 15.00", "GET_BALANCE", card, "")
	r.want("ACCEPT 20.00", "REVERSE", card, of(id))
}
