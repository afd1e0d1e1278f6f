// Package medusa_test has gifts pay in a real shop of Medusa, on PostgreSQL, against a running service.
package medusa_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/store/pgtest"
	"boon.example/test/shops"
)

// world is a shop, and the service whose gifts pay there.
type world struct {
	*shop
	database *pgtest.Server
}

// TestGiftsInMedusa tells what sdk/medusa promises, in one shop.
func TestGiftsInMedusa(t *testing.T) {
	if testing.Short() {
		t.Skip("LEFT OUT: installing Medusa takes minutes, so gifts pay in no shop of Medusa; make medusa runs this")
	}
	pgtest.Need(t)
	// The log of what was written stays, so that a code would be found that stood in a row for a moment.
	database, err := pgtest.Start("wal_keep_size=4GB")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := database.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{shop: open(shops.Serve(t), database.URL), database: database}
	w.start("")
	for _, part := range []struct {
		name string
		test func(*world)
	}{
		{"a gift pays, and is refunded in parts", (*world).paysAndIsRefunded},
		{"a gift that has too little", (*world).tooLittle},
		{"two carts, one gift", (*world).twoCarts},
		{"another way to pay", (*world).anotherWay},
		{"the service is away", (*world).away},
		{"killed while it holds", (*world).killedWhileItHolds},
		{"killed between hold and capture", (*world).killedBetween},
		{"killed while it captures", (*world).killedWhileItCaptures},
		{"an abandoned cart", (*world).abandoned},
		{"Medusa's own route", (*world).ownRoute},
		{"a guesser", (*world).guesser},
		{"captured by staff, and cancelled", (*world).byStaff},
		{"nothing is kept", (*world).nothingKept},
	} {
		t.Run(part.name, func(t *testing.T) {
			whole := w.T
			defer func() { w.T = whole }()
			w.T = t
			part.test(w)
		})
	}
}

// wantTold looks for a sentence in what a guest is told.
func (w *world) wantTold(got any, want string) {
	w.Helper()
	if !strings.Contains(fmt.Sprint(got), want) {
		w.Errorf("told %q, want %q in it", got, want)
	}
}

// paysAndIsRefunded: Medusa reckons with parts of a cent, of which a gift has none. The parts are together the whole.
func (w *world) paysAndIsRefunded() {
	g, c := w.Sell(40), w.fill()
	c.holds(g)
	w.WantWorth(g, 40, 30)
	c.place()
	w.WantWorth(g, 10, 0)
	if _, state := c.payment(); state != "captured" {
		w.Errorf("the payment is %s", state)
	}
	for _, part := range []struct{ amount, left float64 }{{5, 15}, {12.4951, 27.5}, {12.5049, 40}} {
		if err := c.refund(part.amount); err != nil {
			w.Error(err)
		}
		w.WantWorth(g, part.left, 0)
	}
	if err := c.refund(1); err == nil {
		w.Error("more than was paid is given back")
	}
	w.WantWorth(g, 40, 0)
	w.WantKinds(g, "ISSUED HOLD REDEMPTION REVERSAL REVERSAL REVERSAL")
}

func (w *world) tooLittle() {
	g, c := w.Sell(20), w.fill()
	w.wantTold(c.show(g.Token), "This gift has 20.00 USD, and the order costs 30.00 USD.")
	w.WantWorth(g, 20, 0)
	c.card()
	c.place()
}

// twoCarts: two guests pay with one gift at the same moment. One of them does.
func (w *world) twoCarts() {
	g, carts, placed := w.Sell(45), []*cart{w.fill(), w.fill()}, make([]error, 2)
	var all sync.WaitGroup
	for i, c := range carts {
		all.Go(func() {
			c.show(g.Spelled())
			placed[i] = c.tryPlace()
		})
	}
	all.Wait()
	if (placed[0] == nil) == (placed[1] == nil) {
		w.Errorf("of two carts, one is paid; they were told %v", placed)
	}
	w.WantWorth(g, 15, 0)
}

func (w *world) anotherWay() {
	g, c := w.Sell(30), w.fill()
	c.holds(g)
	c.holds(g) // again, which gives the first hold up
	w.WantWorth(g, 30, 30)
	c.card()
	w.WantWorth(g, 30, 0)
	c.holds(g)
	w.ask("/store/carts/"+c.id+"/line-items", object{"variant_id": w.stock.Variant, "quantity": 1})
	w.WantWorth(g, 30, 0) // the cart has changed
}

// away: nothing is lost while the service cannot be reached, before the hold and after it.
func (w *world) away() {
	g, c, late, other := w.Sell(60), w.fill(), w.fill(), w.fill()
	c.holds(g)
	other.holds(g)
	w.Line.Set(true, "")
	w.wantTold(late.show(g.Code), "The gift service gives no answer.")
	late.card()
	late.place()
	if err := c.tryPlace(); err == nil {
		w.Error("an order is placed with a gift that was not captured")
	}
	other.card() // which cannot release, and lets the guest pay
	other.place()
	w.Line.Set(false, "")
	w.WantWorth(g, 60, 60)
	c.place()
	w.WantWorth(g, 30, 30)
	if err := func() error {
		w.Line.Set(true, "")
		defer w.Line.Set(false, "")
		return c.refund(10)
	}(); err == nil {
		w.Error("a refund that nobody made has worked")
	}
	w.WantWorth(g, 30, 30)
	if err := c.refund(10); err != nil {
		w.Error(err)
	}
	w.WantWorth(g, 40, 30)
}

// killedIn kills the engine when the service has done something, and the engine does not know of it yet.
func (w *world) killedIn(path string, what func()) {
	w.Helper()
	w.Line.Set(false, path)
	done := make(chan struct{})
	go func() { defer close(done); what() }()
	<-w.Line.Kept
	w.Kill()
	<-done
	w.Line.Set(false, "")
	w.start("")
}

func (w *world) killedWhileItHolds() {
	g, c := w.Sell(30), w.fill()
	w.killedIn("/hold-gift", func() { c.show(g.Code) })
	w.WantWorth(g, 30, 30)
	if err := c.tryPlace(); err == nil {
		w.Error("an order is placed with a hold that the shop does not know of")
	}
	c.holds(g)
	w.WantWorth(g, 30, 30)
	c.place()
	w.WantWorth(g, 0, 0)
}

func (w *world) killedBetween() {
	g, c := w.Sell(30), w.fill()
	c.holds(g)
	w.Kill()
	w.start("")
	w.WantWorth(g, 30, 30)
	c.place()
	w.WantKinds(g, "ISSUED HOLD REDEMPTION")
}

// killedWhileItCaptures: the guest completes the cart again, or pays another way. The gift pays once, or not at all.
func (w *world) killedWhileItCaptures() {
	again, other := w.Sell(30), w.Sell(30)
	for _, g := range []shops.Gift{again, other} {
		c := w.fill()
		c.holds(g)
		w.killedIn("/capture-hold", func() { _ = c.tryPlace() })
		w.WantWorth(g, 0, 0)
		if g == other {
			c.card()
		}
		c.place()
	}
	w.WantKinds(again, "ISSUED HOLD REDEMPTION")
	w.WantKinds(other, "ISSUED HOLD REDEMPTION REVERSAL")
	w.WantWorth(other, 30, 0)
}

// abandoned: the hold of a cart that nobody comes back to ends by itself, and is never captured.
func (w *world) abandoned() {
	g, c := w.Sell(30), w.fill()
	c.holds(g)
	w.Call("test/clock", `{"advance":"PT2H"}`)
	w.WantWorth(g, 30, 0)
	if err := c.tryPlace(); err == nil {
		w.Error("an order is placed with a hold that is over")
	}
	w.WantWorth(g, 30, 0)
	c.holds(g)
	c.place()
	w.WantWorth(g, 0, 0)
}

// ownRoute: Medusa's own route takes neither a code nor a hold of somebody else. A guest who has paid cannot take the
// gift's money back by another session.
func (w *world) ownRoute() {
	g, c := w.Sell(60), w.fill()
	for _, data := range []object{{"code": g.Code}, {"hold_id": "01a1f97c-f0a1-7d04-8d11-5b0c6b3e9c04"}} {
		_, err := c.try("/store/payment-collections/"+c.collection+"/payment-sessions",
			object{"provider_id": "pp_boon_gift", "data": data})
		w.wantTold(err, "A gift pays by POST /store/boon/payment-sessions.")
	}
	c.holds(g)
	c.place()
	_, _ = c.try("/store/payment-collections/"+c.collection+"/payment-sessions",
		object{"provider_id": "pp_system_default"}) // whatever Medusa says of it
	w.wantTold(c.show(g.Code), "This cart is paid already.")
	w.WantWorth(g, 30, 0)
}

func (w *world) guesser() {
	g, c := w.Sell(30), w.fill()
	for n := range 12 {
		switch told := c.show(fmt.Sprintf("1234567890%02d", n)); {
		case n < 9:
			w.wantTold(told, "There is no such gift.")
		case n == 11:
			w.wantTold(told, "Too many codes")
		}
	}
	w.wantTold(c.show(g.Code), "Too many codes")
	w.Kill()
}

// byStaff: staff capture one payment, and cancel the order of another.
func (w *world) byStaff() {
	w.start("by staff")
	g, taken, cancelled := w.Sell(60), w.fill(), w.fill()
	for _, c := range []*cart{taken, cancelled} {
		c.holds(g)
		c.place()
		if _, state := c.payment(); state != "authorized" {
			w.Errorf("the payment is %s", state)
		}
	}
	w.WantWorth(g, 60, 60)
	id, _ := taken.payment()
	w.ask("/admin/payments/"+id+"/capture", object{})
	w.WantWorth(g, 30, 30)
	w.ask("/admin/orders/"+cancelled.order+"/cancel", object{})
	w.WantWorth(g, 30, 0)
	w.ask("/admin/orders/"+taken.order+"/cancel", object{}) // which refunds
	w.WantWorth(g, 60, 0)
}

// nothingKept looks for codes and tokens in all that the shop has logged, and in all that its database has written.
func (w *world) nothingKept() {
	w.Kill()
	all, err := os.ReadFile(w.Logged.Name())
	if err != nil {
		w.Fatal(err)
	}
	for _, sign := range []string{"boon-medusa", "/store/boon/payment-sessions"} {
		if !bytes.Contains(all, []byte(sign)) {
			w.Errorf("the log has no %q, so it is not all", sign)
		}
	}
	all = append(all, w.written()...)
	w.WantNothingKept(all, "carla@example.com", "last_four", "payment_session")
}

// written is every file of the database, with the log of all its changes: it has rows that were deleted, too.
func (w *world) written() (all []byte) {
	w.Helper()
	conn, err := pgx.Connect(w.Context(), w.database.Admin)
	if err != nil {
		w.Fatal(err)
	}
	defer conn.Close(w.Context())
	var folder string
	if err := conn.QueryRow(w.Context(), `SHOW data_directory`).Scan(&folder); err != nil {
		w.Fatal(err)
	}
	if _, err := conn.Exec(w.Context(), `CHECKPOINT`); err != nil {
		w.Fatal(err)
	}
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, text...)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "pg_wal", "000000010000000000000001")); err != nil {
		w.Errorf("the beginning of what was written is gone: %v", err)
	}
	return all
}
