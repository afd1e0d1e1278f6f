package gift

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

var (
	everywhere = &merchant.Caller{Kind: merchant.AccountKey, Account: &merchant.Account{ID: id(1), MaxGiftValue: 2000}}
	theGift    = id(9)
	shop       = id(0x21)
	kiosk      = id(0x22)
)

// voucherIn makes a gift of 10.00 USD that is in a status, with a balance that fits.
func voucherIn(s Status) Voucher {
	v := Voucher{ID: theGift, AccountID: id(1), ProgramID: merchant.BusinessProgram.ID, Currency: usd, Funded: 1000,
		Balance: 1000,
		Status:  s, Seq: 3}
	switch s {
	case Claimed, Cancelled:
		v.Balance = 400
	case Redeemed:
		v.Balance = 0
	case NotActivated:
		v.Balance, v.Funded = 0, 0
	}
	return v
}

// reloading is the account of gifts that can be reloaded, up to 50.00 USD.
var reloading = &merchant.Account{ID: id(1), MaxGiftValue: 5000, Zone: time.UTC,
	Subscriptions: []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID, Reloadable: true}}}

// reloadOf is a reload that put an amount into v.
func reloadOf(v *Voucher, amount money.Amount) Undoable {
	return Undoable{Entry: Entry{ID: id(7), VoucherID: v.ID, Kind: Reload, Delta: amount,
		Actor: merchant.Actor{LocationID: shop}}}
}

// takenOf is a redemption that took all that is missing from v; from a full gift, one that cannot have been.
func takenOf(v Voucher) Undoable {
	return Undoable{Entry: Entry{ID: id(7), VoucherID: v.ID, Kind: Redemption, Delta: -max(100, v.Funded-v.Balance),
		Actor: merchant.Actor{LocationID: shop}}}
}

func context() Context {
	return Context{EntryID: id(8), Actor: merchant.Actor{KeyID: id(5), LocationID: shop}, Now: now, RequestID: "r-1"}
}

// command is one thing that can happen to a gift. changed is false for a delivery result that is passed over.
type command struct {
	name string
	do   func(Voucher) (after Voucher, e Entry, changed bool, err error)
	code func(Status) refusal.Code // what it is refused with
}

func commands() []command {
	refuse := func(v Voucher, e Entry, err error) (Voucher, Entry, bool, error) { return v, e, err == nil, err }
	cancel := func(to Status) func(Voucher) (Voucher, Entry, bool, error) {
		return func(v Voucher) (Voucher, Entry, bool, error) {
			return v.Cancel(Cancel{Context: context(), Caller: everywhere, To: to})
		}
	}
	reinstate := func(before Status, sent bool) func(Voucher) (Voucher, Entry, bool, error) {
		return func(v Voucher) (Voucher, Entry, bool, error) {
			return v.Reinstate(Reinstate{Context: context(), Caller: everywhere, Before: before, Sent: sent})
		}
	}
	already := func(to Status) func(Status) refusal.Code {
		return func(s Status) refusal.Code {
			if s == to {
				return ""
			}
			return refusal.RedemptionNotAllowed
		}
	}
	deliver := func(worked bool) func(Voucher) (Voucher, Entry, bool, error) {
		return func(v Voucher) (Voucher, Entry, bool, error) {
			after, e, changed := v.Deliver(Outcome{Context: context(), Delivered: worked, Reason: "250 OK"})
			return after, e, changed, nil
		}
	}
	resend := func(by contact.Method) func(Voucher) (Voucher, Entry, bool, error) {
		return func(v Voucher) (Voucher, Entry, bool, error) {
			after, _, e, _, err := v.Resend(Delivery{Method: by, Contact: "ana@example.com"}, Resend{Context: context(),
				Caller: everywhere})
			return refuse(after, e, err)
		}
	}
	notAllowed := func(Status) refusal.Code { return refusal.RedemptionNotAllowed }
	hold := Entry{ID: id(7), VoucherID: theGift, Kind: HoldMade, Actor: merchant.Actor{LocationID: shop},
		Until: now.Add(1)}
	// held has something held of a gift that may have holds.
	held := func(do func(Voucher) (Voucher, Entry, bool, error)) func(Voucher) (Voucher, Entry, bool, error) {
		return func(v Voucher) (Voucher, Entry, bool, error) {
			if v.Status.Redeemable() {
				v.Holds = []OpenHold{{hold.ID, 100, hold.Until, shop}}
			}
			return do(v)
		}
	}
	notLoaded := func(s Status) refusal.Code {
		if s == Redeemed {
			return refusal.InsufficientBalance
		}
		return refusal.RedemptionNotAllowed
	}
	// transfer moves an amount of the gift to another one, or from that to the gift.
	transfer := func(amount money.Amount, out bool) func(Voucher) (Voucher, Entry, bool, error) {
		return func(v Voucher) (Voucher, Entry, bool, error) {
			other := voucherIn(Delivered)
			other.ID = id(10)
			ask := Transfer{Context: context(), EntryIn: id(11), Amount: amount, Caller: &merchant.Caller{Account: hundredUSD}}
			if out {
				after, _, entries, err := v.Transfer(other, ask)
				return refuse(after, entries[0], err)
			}
			ask.EntryID, ask.EntryIn = id(11), ask.EntryID
			_, after, entries, err := other.Transfer(v, ask)
			return refuse(after, entries[1], err)
		}
	}
	redeem := func(s Status) refusal.Code {
		if s == Redeemed {
			return refusal.AlreadyRedeemed
		}
		return refusal.RedemptionNotAllowed
	}
	adjust := func(by money.Amount) func(Voucher) (Voucher, Entry, bool, error) {
		return func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.Adjust(Adjust{Context: context(), Caller: everywhere, Amount: by, ReasonCode: ReasonMistake,
				Reason: "typed wrong"}))
		}
	}
	adjusted := func(s Status) refusal.Code {
		if s == Redeemed {
			return refusal.InsufficientBalance // there is nothing to take
		}
		return refusal.RedemptionNotAllowed
	}
	return []command{
		{"redeemed in part", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.Redeem(Redeem{Context: context(), LocationID: shop, Amount: 100}))
		}, redeem},
		{"redeemed in full", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.Redeem(Redeem{Context: context(), LocationID: shop}))
		}, redeem},
		{"reversed", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.Reverse(takenOf(v), Reverse{Context: context(), Caller: everywhere, Amount: 50}))
		}, notAllowed},
		{"reloaded", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.Reload(ReloadRequest{Context: context(), Amount: 100, Account: reloading}))
		}, notAllowed},
		{"cashed out", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.CashOut(CashOutRequest{Context: context(), Law: cashLaw, Account: inJurisdiction("US-CA")}))
		}, redeem},
		{"reload reversed", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.ReverseReload(reloadOf(&v, 100), Undo{Context: context(), Caller: everywhere}))
		}, notLoaded},
		{"reload reversed that was all", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.ReverseReload(reloadOf(&v, max(v.Balance, 1)), Undo{Context: context(), Caller: everywhere}))
		}, notLoaded},
		{"transferred in part", transfer(100, true), redeem},
		{"transferred in full", transfer(0, true), redeem},
		{"received by transfer", transfer(100, false), notAllowed},
		{"replaced", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.Replace(Replace{Context: context(), Caller: everywhere}))
		}, redeem},
		{"cancelled", cancel(Cancelled), already(Cancelled)},
		{"purchase failed", cancel(PurchaseFailed), already(PurchaseFailed)},
		{"reinstated", reinstate(Pending, false), nil},
		{"reinstated, sent meanwhile", reinstate(Pending, true), nil},
		{"reinstated", reinstate(Delivered, true), nil},
		{"reinstated", reinstate(FailedDelivery, false), nil},
		{"reinstated", reinstate(NotActivated, false), func(s Status) refusal.Code {
			if s == PurchaseFailed { // a card of a stock was not purchased
				return refusal.UnexpectedError
			}
			return ""
		}},
		{"reinstated", reinstate(Claimed, true), func(s Status) refusal.Code {
			if s == PurchaseFailed { // of which nothing was redeemed
				return refusal.UnexpectedError
			}
			return ""
		}},
		{"linked to a customer", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.LinkCustomer(LinkCustomer{Context: context(), Caller: everywhere, CustomerID: "C-1"}))
		}, notAllowed},
		{"linked to no customer", func(v Voucher) (Voucher, Entry, bool, error) {
			v.CustomerID = "C-1"
			return refuse(v.UnlinkCustomer(UnlinkCustomer{Context: context(), Caller: everywhere}))
		}, nil},
		{"resent", resend(contact.Email), redeem},
		{"resent in print", resend(contact.Printed), redeem},
		{"rescheduled", func(v Voucher) (Voucher, Entry, bool, error) {
			after, _, e, err := v.Reschedule(Delivery{Method: contact.Email}, Reschedule{Context: context(), Caller: everywhere,
				Date: now, Waiting: true})
			return refuse(after, e, err)
		}, redeem},
		{"held", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.Hold(Hold{Redeem: Redeem{Context: context(), LocationID: shop, Amount: 100}}))
		}, redeem},
		{"hold released", held(func(v Voucher) (Voucher, Entry, bool, error) {
			return v.Release(Held{Entry: hold}, Release{Context: context(), Caller: everywhere})
		}), nil},
		{"hold expired", held(func(v Voucher) (Voucher, Entry, bool, error) {
			v.Holds = slices.Clone(v.Holds)
			for n := range v.Holds {
				v.Holds[n].Until = now
			}
			after, e, ok := v.ExpireOne(context())
			return after, e, ok, nil
		}), nil},
		{"redeemed in part", held(func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.Capture(Held{Entry: hold}, Capture{Context: context(), Caller: everywhere}))
		}), func(Status) refusal.Code { return refusal.HoldNotOpen }},
		{"activated", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.Activate(Activate{Context: context(), LocationID: shop, Amount: 1000, Most: 1000}))
		}, func(s Status) refusal.Code {
			if s == Cancelled || s == PurchaseFailed {
				return refusal.RedemptionNotAllowed
			}
			return refusal.AlreadyActivated
		}},
		{"activation reversed", func(v Voucher) (Voucher, Entry, bool, error) {
			t := Undoable{Entry: Entry{ID: v.Last, Seq: v.Seq, VoucherID: v.ID, Kind: Activation, Delta: v.Balance}}
			return refuse(v.ReverseActivation(t, Undo{Context: context(), Caller: everywhere}))
		}, notAllowed},
		{"blocked", func(v Voucher) (Voucher, Entry, bool, error) {
			return refuse(v.Block(Block{Context: context(), Caller: everywhere, ReasonCode: ReasonStolen}))
		}, nil},
		{"unblocked", func(v Voucher) (Voucher, Entry, bool, error) {
			v.Blocked = ReasonStolen
			return refuse(v.Unblock(Unblock{Context: context(), Caller: everywhere}))
		}, nil},
		{"adjusted", adjust(100), adjusted},
		{"adjusted", adjust(-100), adjusted},
		{"adjusted to zero", func(v Voucher) (Voucher, Entry, bool, error) { return adjust(-max(1, v.Balance))(v) },
			adjusted},
		{"extended", func(v Voucher) (Voucher, Entry, bool, error) {
			if v.Status.adjustable() { // else nothing must change
				v.Promotional, v.ValidUntil = true, now
			}
			return refuse(v.Extend(Extend{Context: context(), Caller: everywhere, Until: now.Add(time.Hour)}))
		}, func(Status) refusal.Code { return refusal.NotSupported }},
		{"delivery worked", deliver(true), nil},
		{"delivery failed", deliver(false), nil},
	}
}

// transitions are those that the code makes, as rows of the table in docs/reference/states.md.
func transitions(t *testing.T) map[string]bool {
	rows := map[string]bool{}
	for _, s := range Statuses() {
		for _, c := range commands() {
			before := voucherIn(s)
			after, e, changed, err := c.do(before)
			if !changed {
				if !reflect.DeepEqual(after, before) || e != (Entry{}) {
					t.Errorf("%s, %s: refused, but it changed", s, c.name)
				}
				if c.code != nil && codeOf(t, err) != c.code(s) || c.code == nil && err != nil {
					t.Errorf("%s, %s: refused with %v", s, c.name, err)
				}
				continue
			}
			rows[fmt.Sprintf("%s | %s | %s", s, c.name, after.Status)] = true
			if e.Seq != before.Seq+1 || after.Seq != e.Seq || e.Status != after.Status || e.Balance != after.Balance ||
				e.Balance != before.Balance+e.Delta || e.ID != id(8) || e.VoucherID != theGift || e.AccountID != id(1) ||
				!e.At.Equal(now) || e.Actor != context().Actor || e.RequestID != "r-1" {
				t.Errorf("%s, %s: the entry %+v does not fit %+v", s, c.name, e, after)
			}
		}
	}
	empty := voucherIn(Cancelled)
	empty.Balance = 0
	again, _, _, err := empty.Reinstate(Reinstate{Context: context(), Caller: everywhere, Before: Claimed})
	rows[fmt.Sprintf("%s | reinstated, empty by now | %s", Cancelled, again.Status)] = err == nil
	for method, what := range map[contact.Method]string{contact.Email: "created", contact.SMS: "created",
		contact.Printed: "created, printed"} {
		g, e := Gift{Voucher{ID: theGift, Funded: 1000, Balance: 1000}, Card{Method: method}}.Begin(context())
		rows[fmt.Sprintf("(none) | %s | %s", what, g.Status)] = true
		if e.Seq != 1 || g.Seq != 1 || e.Kind != Issued || e.Delta != 0 || e.Balance != 1000 ||
			(method == contact.Printed) == g.Card.DeliveredAt.IsZero() {
			t.Errorf("%s: begins with %+v", method, e)
		}
	}
	old, e := Gift{Voucher{ID: theGift, Funded: 1000, Balance: 1000}, Card{Method: contact.Email}}.Import(context())
	rows[fmt.Sprintf("(none) | imported from another system | %s", old.Status)] = true
	if e.Seq != 1 || e.Kind != Imported || e.Delta != 0 || e.Balance != 1000 || !old.CreatedAt.Equal(now) ||
		!old.Card.DeliveredAt.Equal(now) {
		t.Errorf("an imported gift begins with %+v", e)
	}
	card, _ := Gift{Voucher{ID: theGift, Status: NotActivated, Fixed: 1000},
		Card{Method: contact.Printed}}.Begin(context())
	rows[fmt.Sprintf("(none) | created, a card of a stock | %s", card.Status)] = true
	if card.Balance != 0 || !card.Card.DeliveredAt.IsZero() {
		t.Errorf("a card of a stock begins as %+v", card)
	}
	return rows
}

func docs(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTransitions walks all statuses × commands and holds them against the table that is published: what is not in it
// is refused.
func TestTransitions(t *testing.T) {
	t.Parallel()
	made := transitions(t)
	_, table, ok := strings.Cut(docs(t, "states.md"), "From | What happens | To\n---|---|---\n")
	if !ok {
		t.Fatal("docs/reference/states.md has no table of transitions")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	told := map[string]bool{}
	for row := range strings.Lines(table) { // which may tell of several statuses and events at once
		cells := strings.Split(strings.TrimSpace(row), " | ")
		if cells[0] == "(any)" {
			cells[0] = strings.Join(statusNames[1:], ", ")
		}
		for _, from := range strings.Split(cells[0], ", ") {
			for _, to := range strings.Split(strings.ReplaceAll(cells[2], "the same", from), ", ") {
				for event := range strings.SplitSeq(cells[1], "; ") {
					told[from+" | "+event+" | "+to] = true
				}
			}
		}
	}
	for row := range made {
		if !told[row] {
			t.Errorf("the code does %q, docs/reference/states.md does not say so", row)
		}
	}
	for row := range told {
		if !made[row] {
			t.Errorf("docs/reference/states.md says %q, the code does not do it", row)
		}
	}
	if len(made) != 130 {
		t.Errorf("there are %d transitions, want 130", len(made))
	}
}

// TestDiagram: the diagram in docs/reference/states.md shows every status, and no way between two that there is not.
func TestDiagram(t *testing.T) {
	t.Parallel()
	ways := map[string]bool{}
	for row := range transitions(t) {
		cells := strings.Split(row, " | ")
		ways[cells[0]+" --> "+cells[2]] = true
	}
	_, diagram, _ := strings.Cut(docs(t, "states.md"), "stateDiagram-v2\n")
	diagram, _, _ = strings.Cut(diagram, "```")
	for line := range strings.Lines(diagram) {
		way, _, _ := strings.Cut(strings.Replace(strings.TrimSpace(line), "[*]", "(none)", 1), ":")
		if !ways[way] {
			t.Errorf("the diagram has %q, which the code does not do", way)
		}
	}
	for _, s := range Statuses() {
		if !strings.Contains(diagram, s.String()) {
			t.Errorf("the diagram does not show %s", s)
		}
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	text := docs(t, "states.md")
	for _, s := range Statuses() {
		redeemable := "no"
		if s.Redeemable() {
			redeemable = "yes"
		}
		if row := fmt.Sprintf("\n%s | %d | %s |", s, int(s), redeemable); !strings.Contains(text, row) {
			t.Errorf("docs/reference/states.md has no row %q", row)
		}
		if got, ok := ParseStatus(s.String()); !ok || got != s {
			t.Errorf("%s is parsed as %v, %v", s, got, ok)
		}
	}
	if Status(0).String() != "UNKNOWN" || Status(9).String() != "UNKNOWN" {
		t.Error("a status that does not exist has a name")
	}
	for _, name := range []string{"", "UNKNOWN", "pending"} {
		if s, ok := ParseStatus(name); ok {
			t.Errorf("%q is parsed as %v", name, s)
		}
	}
	if Delivered != 3 || FailedDelivery != 4 || Claimed != 5 {
		t.Error("these are numbered by the interface, section 3")
	}
}
