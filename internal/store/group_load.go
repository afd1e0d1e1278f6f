package store

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// load reads what want names. It asks as few times as it can, since each g.run is a round trip to a server:
//
//  1. Only for an undo, or for the end of a hold: the entry that is meant, as it tells which voucher to lock
//     (loadUndone).
//  2. The vouchers, which are locked as they are read. PostgreSQL does the batches of one round trip one after the
//     other, so all that stands behind wantVouchers is read under these locks. Whoever moves a batch before it lets a
//     group decide on what another writer is just changing (invariants 1 and 3).
//  3. What only an answer to the second question names: the places of a long answer, and how a hold ended that is
//     open no more.
//
// A batch without rows costs nothing, so every kind is wanted, whatever the group does.
func (g *group) load(ctx context.Context, want ledger.Want) error {
	g.loaded = make(map[ledger.Ref]*gift.Voucher, len(want.Vouchers))
	g.state = ledger.State{
		Requests:    make(map[ledger.RequestKey]*ledger.Request),
		Undoable:    make(map[ledger.Ref]*gift.Undoable),
		Holds:       make(map[ledger.Ref]*gift.Held),
		Vouchers:    make(map[ledger.Ref]*gift.Voucher, len(want.Vouchers)),
		Codes:       make(map[codes.VoucherCode]bool),
		DeliveredBy: make(map[ledger.Ref]guid.ID),
		Resends:     make(map[ledger.Ref][]ledger.Resent),
		Deliveries:  make(map[ledger.Ref]*ledger.Delivery),
		Before:      make(map[ledger.Ref]gift.Status),
		Transferred: make(map[ledger.Ref]bool),
		CashOuts:    make(map[ledger.Ref]gift.CashOuts),
		Counts:      make(map[merchant.CountKey]merchant.Count),
	}
	vouchers, requests := want.Vouchers, want.Requests
	byKey := len(want.Undo) > 0
	if byKey || len(want.Undoable)+len(want.Holds) > 0 {
		// Before the locks, but no entry ever changes: what was read of it is true for good. Only how much of it was
		// given back changes, and wantReversed reads that behind the locks.
		undone, err := g.loadUndone(ctx, want)
		if err != nil {
			return err
		}
		vouchers = slices.Concat(vouchers, undone)
		if byKey && g.db.Writers() == 1 {
			requests = nil // loadUndone read them, and the only writer is this one
		}
	}
	if g.assumed {
		requests = nil // invariant 12
	}
	known := len(g.state.Requests)
	batches := g.wantVouchers(vouchers)
	batches = append(batches, g.wantCounts(want.Counts, want.Heavy, want.Rehearsed)...)
	batches = append(batches, g.wantRequests(requests)...)
	batches = append(batches, g.wantReversed()...)
	batches = append(batches, g.wantCashOuts()...)
	batches = append(batches, g.wantMissed()...)
	batches = append(batches, g.wantDeliveredBy(want.DeliveredBy)...)
	batches = append(batches, g.wantResends(want.Resends)...)
	batches = append(batches, g.wantDeliveries(want.Deliveries)...)
	batches = append(batches, g.wantCancelled(want.Cancelled)...)
	batches = append(batches, g.wantTransferred(want.Transferred)...)
	batches = append(batches, g.wantCodes()...)
	batches = append(batches, g.wantNumbers()...)
	batches = append(batches, g.wantClocks(want.Clocks)...)
	if err := g.run(ctx, batches); err != nil {
		return err
	}
	if err := g.run(ctx, append(g.wantPlaces(), g.wantHoldEnds()...)); err != nil {
		return err
	}
	// A request of the group that was answered between its record being looked for and its voucher being locked may not
	// be decided a second time, not even to be refused without a record, on what the first time left.
	if byKey && len(g.state.Requests) > known {
		return fmt.Errorf("%w: a request was answered meanwhile", db.ErrOvertaken)
	}
	return nil
}

// loadUndone reads what is to be undone, and the holds that are to be captured, and gives their vouchers, which
// nobody has locked yet.
//
// A caller may name what is to be undone by the Idempotency-Key that it was made with, as a till whose call got no
// answer knows nothing else. The record of that key then names the entry. The records of the group's own requests
// come in the same round trip, since a repeat of an undo has to be known as one. A key may also have made one sale of
// several gifts: each of its entries names the next one (Entry.Next), and undoing the sale undoes all of them, so the
// vouchers of all have to be locked.
func (g *group) loadUndone(ctx context.Context, want ledger.Want) (vouchers []ledger.Ref, err error) {
	if len(want.Undo) > 0 {
		if err := g.run(ctx, g.wantRequests(slices.Concat(want.Requests, want.Undo))); err != nil {
			return nil, err
		}
	}
	entries, holds := slices.Clone(want.Undoable), slices.Clone(want.Holds)
	whole := map[ledger.Ref]bool{} // what is undone with all that its call made
	for _, k := range want.Undo {
		if r := g.state.Requests[k]; r != nil && !r.EntryID.IsZero() {
			into := &entries
			if k.Operation == operation.HoldGift {
				into = &holds
			}
			*into = append(*into, ledger.Ref{AccountID: k.AccountID, ID: r.EntryID})
			whole[ledger.Ref{AccountID: k.AccountID, ID: r.EntryID}] = true
		}
	}
	of := func(e *gift.Entry) ledger.Ref {
		vouchers = append(vouchers, ledger.Ref{AccountID: e.AccountID, ID: e.VoucherID})
		return ledger.Ref{AccountID: e.AccountID, ID: e.ID}
	}
	var next []ledger.Ref
	undoable := func(from db.Scanner) error {
		u := new(gift.Undoable)
		err := from.Scan(record.EntryFields(&u.Entry)...)
		if u.Entry.Kind.Undoable() {
			ref := of(&u.Entry)
			g.state.Undoable[ref] = u
			if whole[ref] && !u.Entry.Next.IsZero() {
				ref.ID = u.Entry.Next
				next, whole[ref] = append(next, ref), true
			}
		}
		return err
	}
	err = g.run(ctx, append(record.ByRef(selectUndoable, entries, undoable),
		record.ByRef(record.SelectHolds, holds, func(from db.Scanner) error {
			h := new(gift.Held)
			err := from.Scan(record.HoldFields(&h.Entry)...)
			g.state.Holds[of(&h.Entry)] = h
			return err
		})...))
	for err == nil && len(next) > 0 { // of a sale, which has sale.MaxGifts at most
		entries, next = next, nil
		err = g.run(ctx, record.ByRef(selectUndoable, entries, undoable))
	}
	return vouchers, err
}

// wantRequests wants the records of requests, by which a repeated call is known. A statement asks by the key alone,
// and the operation is compared here. Several accounts share one statement, so each row that comes back may be of any
// of them (Shared).
func (g *group) wantRequests(wanted []ledger.RequestKey) (batches []db.Batch) {
	wanted = record.DistinctKeys(wanted)
	scan := func(from db.Scanner) error {
		r, _, err := record.ScanRequest(g.db.Keys, from)
		if err != nil {
			return err
		}
		// The key may have served other operations too, and those may be wanted or not.
		if _, is := slices.BinarySearchFunc(wanted, r.RequestKey, record.CompareKeys); is {
			g.state.Requests[r.RequestKey] = &r
		}
		return nil
	}
	return record.ByAccount(wanted, func(k ledger.RequestKey) guid.ID { return k.AccountID },
		func(account guid.ID, of []ledger.RequestKey) db.Batch {
			w := db.Batch{Query: selectRequests, Account: account, Scan: scan, Shared: true}
			for i := range of {
				if i == 0 || of[i].Key != of[i-1].Key {
					w.Rows = append(w.Rows, []any{of[i].Key})
				}
			}
			return w
		})
}

// wantPlaces wants the locations that long answers tell of.
func (g *group) wantPlaces() (batches []db.Batch) {
	for _, r := range g.state.Requests {
		if r.Answer.Long.Size == 0 {
			continue
		}
		batches = append(batches, db.Batch{Query: record.SelectPlaces, Account: r.AccountID,
			Rows: [][]any{{r.Key, string(r.Operation)}}, Scan: func(from db.Scanner) error {
				var locations []byte
				err := from.Scan(&locations)
				r.Locations = db.SplitIDs(locations)
				return err
			}})
	}
	return batches
}

// wantVouchers locks vouchers and reads them.
//
// On PostgreSQL one statement does both, row by row, in the order of the ids that it is given. Citus locks no row of
// a query with a sub-select, and this one has two: there a statement of its own locks the rows, in the same order,
// and the next one reads them.
//
// On SQLite the transaction has the only write lock, so a gift in memory is what the database has, once the
// connection has seen that nobody else wrote (lookup.Reader.Vouchers). With several writers nothing is remembered.
func (g *group) wantVouchers(wanted []ledger.Ref) (batches []db.Batch) {
	if g.db.Spread && !g.looks {
		batches = record.ByRef(lockVouchers, wanted, func(from db.Scanner) error { return from.Scan(new([]byte)) })
	}
	if !g.looks { // what is remembered may be younger than the rest of what is looked at
		wanted = g.Vouchers(wanted, func(v gift.Voucher) { g.loadVoucher(&v) })
	}
	return append(batches, record.ByRef(selectVouchers, wanted, func(from db.Scanner) error {
		v := new(gift.Voucher)
		if err := from.Scan(record.VoucherFields(g.db.Keys, v)...); err != nil {
			return err
		}
		g.loadVoucher(v)
		return nil
	})...)
}

// loadVoucher takes a voucher as it is in the database. It keeps a copy, as decide changes the other: saveVouchers
// compares the two, and names the copy's number of the entry when it writes (invariant 4).
func (g *group) loadVoucher(v *gift.Voucher) {
	ref := record.RefOf(v)
	g.state.Vouchers[ref] = v
	g.loaded[ref] = new(*v)
}

// wantReversed wants to know how much was undone of what is loaded. Two calls that give a redemption back each see
// what the other one did, since both have locked its voucher. Without that, both could give the whole of it back. The
// guard on entries would refuse the second, but with an error of the database in place of an answer.
func (g *group) wantReversed() []db.Batch {
	return record.ByRef(selectReversed, slices.Collect(maps.Keys(g.state.Undoable)), func(from db.Scanner) error {
		var id guid.ID
		var sum money.Amount
		var parts int
		if err := from.Scan(db.ScanID(&id), &sum, &parts); err != nil {
			return err
		}
		for ref, of := range g.state.Undoable { // one, or a few when accounts share an id
			if ref.ID == id {
				of.Reversed, of.Parts = sum, parts
			}
		}
		return nil
	})
}

// wantCashOuts wants to know which cash-outs stand of the gifts whose redemptions are to be given back. A cash-out is
// taken back as a whole.
func (g *group) wantCashOuts() []db.Batch {
	var vouchers []ledger.Ref
	for ref, of := range g.state.Undoable {
		if of.Entry.Kind == gift.Redemption {
			vouchers = append(vouchers, ledger.Ref{AccountID: ref.AccountID, ID: of.Entry.VoucherID})
		}
	}
	return record.ByRef(selectCashOuts, vouchers, func(from db.Scanner) error {
		var ref ledger.Ref
		var id guid.ID
		var seq int
		if err := from.Scan(db.ScanID(&ref.AccountID), db.ScanID(&ref.ID), db.ScanID(&id), &seq); err != nil {
			return err
		}
		if g.state.CashOuts[ref] == nil {
			g.state.CashOuts[ref] = gift.CashOuts{}
		}
		g.state.CashOuts[ref][id] = seq
		return nil
	})
}

// wantMissed wants to know how many verification codes were mistyped since the activations that are to be taken back.
func (g *group) wantMissed() (batches []db.Batch) {
	for ref, of := range g.state.Undoable {
		if of.Entry.Kind == gift.Activation {
			batches = append(batches, db.Batch{Query: selectMissed, Account: ref.AccountID,
				Rows: [][]any{{db.KeyOf(of.Entry.VoucherID), of.Entry.Seq}},
				Scan: func(from db.Scanner) error { return from.Scan(&of.Missed) }})
		}
	}
	return batches
}

// wantHoldEnds wants to know what became of the loaded holds that are open no more.
func (g *group) wantHoldEnds() []db.Batch {
	var ended []ledger.Ref
	for ref, held := range g.state.Holds {
		v := g.state.Vouchers[ledger.Ref{AccountID: ref.AccountID, ID: held.Entry.VoucherID}]
		if v != nil && !slices.ContainsFunc(v.Holds, func(h gift.OpenHold) bool { return h.ID == ref.ID }) {
			ended = append(ended, ref)
		}
	}
	return record.ByRef(selectHoldEnds, ended, func(from db.Scanner) error {
		var e gift.Entry
		err := from.Scan(record.EntryFields(&e)...)
		held := g.state.Holds[ledger.Ref{AccountID: e.AccountID, ID: e.HoldID}]
		if held != nil && slices.Compare(held.Last.ID[:], e.ID[:]) < 0 {
			held.Last = e
		}
		return err
	})
}

// wantDeliveredBy wants to know which jobs delivered gifts. Whoever writes a card has locked its voucher.
func (g *group) wantDeliveredBy(wanted []ledger.Ref) []db.Batch {
	return record.ByRef(selectDeliveredBy, wanted, func(from db.Scanner) error {
		var ref ledger.Ref
		var job guid.ID
		err := from.Scan(db.ScanID(&ref.AccountID), db.ScanID(&ref.ID), db.ScanID(&job))
		g.state.DeliveredBy[ref] = job
		return err
	})
}

// wantCancelled wants to know what gifts were before they were taken out of use. A reinstated gift becomes that
// again. It is in no column of the voucher: the entry before the cancellation has it.
func (g *group) wantCancelled(wanted []ledger.Ref) []db.Batch {
	return record.ByRef(selectCancelled, wanted, func(from db.Scanner) error {
		var ref ledger.Ref
		var before gift.Status
		err := from.Scan(db.ScanID(&ref.AccountID), db.ScanID(&ref.ID), &before)
		g.state.Before[ref] = before
		return err
	})
}

// wantTransferred wants to know whether value was moved between gifts and others.
func (g *group) wantTransferred(wanted []ledger.Ref) []db.Batch {
	return record.ByRef(selectTransferred, wanted, func(from db.Scanner) error {
		var ref ledger.Ref
		err := from.Scan(db.ScanID(&ref.AccountID), db.ScanID(&ref.ID))
		g.state.Transferred[ref] = true
		return err
	})
}

// wantNumbers looks whether activation codes that are to be given out find cards already. The code of the card that was
// to get such a number is then said to be taken: whoever drew both draws anew.
func (g *group) wantNumbers() []db.Batch {
	return record.ByAccount(g.prepared.numbers, func(n takenNumber) guid.ID { return n.account },
		func(account guid.ID, of []takenNumber) db.Batch {
			byHash := make(map[string]codes.VoucherCode, len(of))
			w := db.Batch{Query: selectNumbers, Account: account, Scan: func(from db.Scanner) error {
				var hash []byte
				err := from.Scan(&hash)
				g.state.Codes[byHash[string(hash)]] = true
				return err
			}}
			for _, n := range of {
				for _, hash := range n.hashes {
					byHash[string(hash)] = n.code
					w.Rows = append(w.Rows, []any{hash})
				}
			}
			return w
		})
}

// wantCodes looks whether codes that are to be given out are taken: those that somebody chose, such as an import, and
// drawn ones where an index cannot tell (invariant 6).
func (g *group) wantCodes() []db.Batch {
	byHash := make(map[string]codes.VoucherCode, len(g.prepared.codes))
	w := db.Batch{Query: selectCodes, Scan: func(from db.Scanner) error {
		var hash []byte
		err := from.Scan(&hash)
		g.state.Codes[byHash[string(hash)]] = true
		return err
	}}
	for code, hashes := range g.prepared.codes {
		for _, hash := range hashes {
			if _, asked := byHash[string(hash)]; !asked {
				byHash[string(hash)] = code
				w.Rows = append(w.Rows, []any{hash})
			}
		}
	}
	if len(w.Rows) == 0 {
		return nil
	}
	slices.SortFunc(w.Rows, func(a, b []any) int { return bytes.Compare(a[0].([]byte), b[0].([]byte)) })
	return []db.Batch{w}
}
