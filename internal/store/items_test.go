package store

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
)

// testItems: a list is kept once, whoever is good for it; no list, an empty one and a full one are told apart.
func testItems(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	latte := []merchant.Item{{ID: "LATTE", Name: "Caffè <latte>"}, {ID: "MOCHA"},
		{Group: "CAKES", Name: "Cakes"}, {Name: "Latte"}}
	var c ledger.Changes
	for _, items := range [][]merchant.Item{nil, {}, latte, latte, {}, slices.Clone(latte[:1])} {
		g, e := newGift(account)
		g.Items = items
		c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
	}
	save(t, s, c)
	other, e := newGift(newID())
	other.Items = latte
	save(t, s, ledger.Changes{Gifts: []gift.Gift{other}, Entries: []gift.Entry{e}})
	for _, want := range append(c.Gifts, other) {
		byID, err := s.Gift(t.Context(), want.AccountID, want.ID)
		must(t, err)
		byCode, err := s.GiftByCode(t.Context(), want.Card.Code)
		must(t, err)
		for _, got := range []gift.Gift{byID, byCode} {
			diff(t, got, want)
		}
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&want.Voucher)}}, func(st *ledger.State) (_ ledger.Changes) {
			diff(t, *st.Vouchers[ref(&want.Voucher)], want.Voucher)
			return
		})
	}
	for account, want := range map[guid.ID]int{account: 3, other.AccountID: 1} {
		var n int
		ctx := t.Context()
		must(t, db.Each(ctx, s.db.Readers, `SELECT count(*) FROM item_list AS i WHERE i.account_id = $1`,
			[]any{db.KeyOf(account)}, func(rows *sql.Rows) error { return rows.Scan(&n) }))
		if n != want {
			t.Errorf("an account keeps %d lists, want %d", n, want)
		}
	}
}

// testSealedMessages: no table has the message of a gift in clear, and one that an earlier release kept is read.
func testSealedMessages(t *testing.T, open opener) {
	s, _ := open(t)
	const words = "With love, from \u00c9milie"
	g, e := newGift(newID())
	g.Card.Message = words
	save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
	for table, rows := range dump(t, s) {
		for _, row := range rows {
			if strings.Contains(row, words) || strings.Contains(row, fmt.Sprintf("%x", words)) {
				t.Errorf("the message lies in clear in %s: %s", table, row)
			}
		}
	}
	read := func() string {
		t.Helper()
		got, err := s.GiftByToken(t.Context(), g.Card.Token)
		must(t, err)
		return got.Card.Message
	}
	if got := read(); got != words {
		t.Errorf("the message is %q", got)
	}
	spoil(t, s, `UPDATE card SET message = $1, sealed_message = NULL WHERE voucher_id = $2`, words, db.KeyOf(g.ID))
	if got := read(); got != words {
		t.Errorf("the message of an earlier release is %q", got)
	}
}

// testSealedSetup: no table has the hash of a PIN, the address of a webhook or a private key in clear. They are read
// back, also where they stand in clear. Moved to somebody else they open nothing, which verify tells.
func testSealedSetup(t *testing.T, open opener) {
	s, _ := open(t)
	const hash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2E$aGFzaA"
	const address = "https://hooks.example.com/T0/B0/secret-path"
	const privateKey = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	account := merchant.Account{ID: newID(), Name: "A", Currency: dollars, Zone: time.UTC, MaxGiftValue: 1,
		People: []merchant.Person{{Name: "Ana", PIN: hash}, {Name: "Ben", PIN: hash + "2"}},
		Wallet: merchant.Wallet{Apple: merchant.AppleWallet{Certificate: "c", Key: privateKey},
			Google: merchant.GoogleWallet{Issuer: "1", Key: privateKey + "2"}}}
	hook := merchant.Webhook{ID: newID(), AccountID: account.ID, URL: address, Secret: "whsec_abc", Enabled: true,
		CreatedAt: noon, ChangedAt: noon}
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{&account}, Webhooks: []*merchant.Webhook{&hook}})
	for table, rows := range dump(t, s) {
		for _, row := range rows {
			if strings.Contains(row, "argon2id") || strings.Contains(row, "hooks.example.com") ||
				strings.Contains(row, "PRIVATE KEY") {
				t.Errorf("%s has it in clear: %s", table, row)
			}
		}
	}
	d, err := s.Directory(t.Context())
	must(t, err)
	if is := d.Accounts[account.ID].People; is[0].PIN != hash || is[1].PIN != hash+"2" {
		t.Errorf("the PINs are %+v", is)
	}
	if is := d.Accounts[account.ID].Wallet.Apple.Key; is != privateKey {
		t.Errorf("the key of passes is %q", is)
	}
	if is := d.Accounts[account.ID].Wallet.Google.Key; is != privateKey+"2" {
		t.Errorf("the service account is %q", is)
	}
	if is := d.Webhooks[account.ID]; len(is) != 1 || is[0].URL != address {
		t.Errorf("the webhooks are %+v", is)
	}
	diff(t, problems(t, s), map[string]int{})
}

// testWorth: a piece is worth what was said when its gift was made, however many were added and taken since.
func testWorth(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	made := func(change func(*gift.Gift)) guid.ID {
		g, e := newGift(account)
		change(&g)
		e.Balance, e.Status = g.Balance, g.Status
		save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
		return g.ID
	}
	three := func(g *gift.Gift) { g.Item, g.Funded, g.Balance, g.Card.EquivalentValue = true, 3, 3, 1000 }
	adjusted := made(three)
	caller := &merchant.Caller{Account: &merchant.Account{ID: account, Currency: dollars, MaxGiftValue: 10_000}}
	started := engine.Start(s, engine.Options{})
	defer started.Stop()
	for n, by := range slices.Repeat([]money.Amount{5, -4}, 70) { // more than a milestone of a history
		_, err := started.Do(t.Context(), ledger.Call{AccountID: account, Operation: operation.AdjustGift,
			Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{Code: ledger.OK} }},
			&ledger.Change{VoucherID: adjusted, Rule: func(v gift.Voucher, c gift.Context) (gift.Voucher, gift.Entry, error) {
				return v.Adjust(gift.Adjust{Context: c, Caller: caller, Amount: by, ReasonCode: gift.ReasonMistake,
					Reason: fmt.Sprint("adjustment ", n)})
			}})
		must(t, err)
	}
	for name, want := range map[string]struct {
		voucher guid.ID
		worth   gift.ItemWorth
	}{
		"adjusted":        {adjusted, gift.ItemWorth{Money: 1000, Pieces: 3}},
		"nothing is said": {made(func(g *gift.Gift) { three(g); g.Card.EquivalentValue = 0 }), gift.ItemWorth{}},
		"money":           {made(func(g *gift.Gift) {}), gift.ItemWorth{}},
		"there is none":   {newID(), gift.ItemWorth{}},
		"a card that was not sold": {made(func(g *gift.Gift) {
			three(g)
			g.Fixed, g.Funded, g.Balance, g.Status = 2, 0, 0, gift.NotActivated
		}), gift.ItemWorth{Money: 1000, Pieces: 2}},
	} {
		got, err := s.Worth(t.Context(), account, want.voucher)
		must(t, err)
		if got != want.worth {
			t.Errorf("%s: %+v, want %+v", name, got, want.worth)
		}
	}
}

// TestChangedItemsAreFound: who writes into the database to make a gift good for more is found out.
func TestChangedItemsAreFound(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			g, e := newGift(newID())
			g.Items = []merchant.Item{{ID: "LATTE"}}
			save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
			list := tableNamed(t, s, "item_list")
			before := rowsOfTable(t, s, list)[0]
			if _, err := s.db.Writer.ExecContext(t.Context(), `UPDATE item_list SET items = '[]'`); err == nil {
				t.Error("a list could be changed")
			}
			unguarded(t, s)
			after := slices.Clone(before)
			after[2] = `[{"id":"CAKE"}]`
			for want, in := range map[string][]tuple{"was changed": {after}, "is lost": nil} {
				swap(t, s, list, []tuple{before}, in)
				var found []string
				for _, p := range s.CheckSince(nil, nil).Parts() {
					must(t, p.Run(t.Context(), func(problem string) { found = append(found, problem) }, func(int64) {}))
				}
				if !slices.ContainsFunc(found, func(p string) bool { return strings.Contains(p, want) }) {
					t.Errorf("want a problem that says %q, found %q", want, found)
				}
				swap(t, s, list, in, []tuple{before})
			}
		})
	}
}
