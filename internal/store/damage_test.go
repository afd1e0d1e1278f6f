package store

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sample is a store with one of everything in it.
type sample struct {
	*Store
	whole, spent, waiting gift.Gift // untouched; redeemed and reversed in part; not delivered yet
	taken                 gift.Entry
	giver                 gift.Gift // of which something was moved to another
	toSell                gift.Gift // a card with an activation code
}

func newSample(t *testing.T) *sample {
	t.Helper()
	s, _ := openSQLiteForTest(t)
	k := &sample{Store: s}
	account := &merchant.Account{ID: newID(), Name: "A", Currency: money.Currency{Code: "USD", Decimals: 2},
		Zone:      noon.Location(),
		Locations: []merchant.Location{{ID: newID(), Name: "Here"}}}
	key := &merchant.Key{ID: newID(), Kind: merchant.AccountKey, AccountID: account.ID, Name: "till", CreatedAt: noon,
		Locations: []guid.ID{account.Locations[0].ID}}
	err := s.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
		picture := merchant.Asset{AccountID: account.ID, Hash: merchant.HashAsset([]byte("picture")), Kind: merchant.PNG,
			Bytes: []byte("picture")}
		return merchant.Changes{Accounts: []*merchant.Account{account}, Keys: []*merchant.Key{key},
			Assets: []merchant.Asset{picture}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	gifts := issue(t, s, account.ID, 4)
	k.whole, k.spent, k.giver = gifts[0], gifts[1], gifts[2]
	k.toSell = saveToSell(t, s, account.ID, 2)[0]
	moveSome(t, s, &k.giver.Voucher, &gifts[3].Voucher)
	replaceCard(t, s, &k.giver.Voucher, 1)
	k.taken = redeem(t, s, &k.spent.Voucher, 500)
	request := func(o operation.Name, key string, e guid.ID) ledger.Request {
		return ledger.Request{RequestKey: ledger.RequestKey{AccountID: account.ID, Operation: o, Key: key}, EntryID: e,
			At:     noon,
			Answer: ledger.Answer{Code: ledger.OK, Body: []byte(`{"id":"` + e.String() + `"}`)}}
	}
	save(t, s, ledger.Changes{Requests: []ledger.Request{
		request(operation.RedeemGift, "redeemed", k.taken.ID), request(operation.SendGift, "sent", guid.ID{}),
		{RequestKey: ledger.RequestKey{AccountID: account.ID, Operation: operation.RedeemGift, Key: "spent"}, Spent: true,
			At: noon}}})
	runGroup(t, s, ledger.Want{Undoable: []ledger.Ref{{AccountID: account.ID, ID: k.taken.ID}}},
		func(st *ledger.State) ledger.Changes {
			after, e, err := st.Vouchers[ref(&k.spent.Voucher)].Reverse(*st.Undoable[ledger.Ref{AccountID: account.ID,
				ID: k.taken.ID}],
				gift.Reverse{Context: gift.Context{EntryID: newID(), Now: noon}, Caller: &merchant.Caller{}, Amount: 200})
			if err != nil {
				t.Fatal(err)
			}
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e},
				Requests: []ledger.Request{request(operation.ReverseRedemption, "reversed", e.ID)}}
		})
	var issued gift.Entry
	k.waiting, _ = newGift(account.ID)
	k.waiting.LocationID, k.waiting.Seq, k.waiting.Last, k.waiting.Card.Method = account.Locations[0].ID, 0, guid.ID{},
		contact.Email
	k.waiting, issued = k.waiting.Begin(gift.Context{EntryID: newID(), Now: noon})
	job := ledger.Job{ID: newID(), AccountID: account.ID, VoucherID: k.waiting.ID, Due: noon}
	save(t, s, ledger.Changes{Gifts: []gift.Gift{k.waiting}, Entries: []gift.Entry{issued}, Jobs: []ledger.Job{job}})
	sendAgain(t, s, &k.spent)
	if err := s.KeepMessage(t.Context(), message.Message{ID: newID(), GiftID: k.waiting.ID, At: noon}); err != nil {
		t.Fatal(err)
	}
	return k
}

// moveSome moves a part of one gift to another.
func moveSome(t *testing.T, s *Store, from, to *gift.Voucher) {
	t.Helper()
	runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(from), ref(to)}}, func(st *ledger.State) ledger.Changes {
		less, more, entries, err := from.Transfer(*to, gift.Transfer{Context: gift.Context{EntryID: newID(), Now: noon},
			EntryIn: newID(), Amount: 100, Caller: &merchant.Caller{Account: &merchant.Account{MaxGiftValue: money.NoLimit}}})
		if err != nil {
			t.Fatal(err)
		}
		*from, *to = less, more
		return ledger.Changes{Vouchers: []gift.Voucher{less, more}, Entries: entries[:]}
	})
}

func (k *sample) verify(t *testing.T) []string {
	t.Helper()
	r, err := verify.All(t.Context(), k, 2, func(_, _ int64) {})
	if err != nil {
		return []string{err.Error()} // what cannot be read is a finding, too
	}
	return r.Problems
}

// TestVerifyFindsEveryDamage damages one row after another, past every constraint and trigger, as a bad disk or a bad
// hand would. $1 and $2 are the ids of a gift and of a redemption.
func TestVerifyFindsEveryDamage(t *testing.T) {
	t.Parallel()
	const whole, spent, waiting, giver, toSell = 'w', 's', 'p', 'g', 't'
	damages := map[string]struct {
		gift rune
		sql  string
		want string // in some problem; $1 and $2 stand for the ids
	}{
		"a balance": {whole, `UPDATE voucher SET balance = balance - 1 WHERE id = $1`,
			"gift $1: it says"},
		"a balance above the value": {whole, `UPDATE voucher SET balance = loaded + 1 WHERE id = $1`,
			"gift $1: it says"},
		"a value":             {spent, `UPDATE voucher SET loaded = loaded + 1 WHERE id = $1`, "gift $1: "},
		"a status":            {whole, `UPDATE voucher SET status = 5 WHERE id = $1`, "gift $1: it says"},
		"a number of entries": {whole, `UPDATE voucher SET seq = 2 WHERE id = $1`, "gift $1: it says"},
		"a gift": {whole, `DELETE FROM voucher WHERE id = $1`,
			"has other entries than those of its gifts' histories"},
		"a card": {whole, `DELETE FROM card WHERE voucher_id = $1`, "gift $1 has no card"},
		"a sealed code": {whole, `UPDATE card SET secrets = zeroblob(80) WHERE voucher_id = $1`,
			"gift $1: a sealed value"},
		"a sealed activation code": {toSell, `UPDATE activation_code SET sealed = zeroblob(60) WHERE voucher_id = $1`,
			"gift $1: its activation code: a sealed value"},
		"the hash of an activation code": {toSell,
			`UPDATE activation_code SET hash = zeroblob(33) WHERE voucher_id = $1`, "the activation code of gift $1"},
		"an activation code that leads elsewhere": {toSell,
			`UPDATE activation_code SET voucher_id = $2 WHERE voucher_id = $1`, "which does not exist"},
		"the way from a code": {whole, `DELETE FROM secret WHERE voucher_id = $1 AND kind = 'code'`,
			"gift $1 has not exactly one code"},
		"the hash of a token": {whole,
			`UPDATE secret SET hash = zeroblob(33) WHERE voucher_id = $1 AND kind = 'token'`, "the token of gift $1"},
		"a code that leads elsewhere": {whole, `UPDATE secret SET voucher_id = $2 WHERE voucher_id = $1 AND kind = 'code'`,
			"which does not exist"},
		"an entry": {spent, `DELETE FROM entry WHERE voucher_id = $1 AND seq = 2`,
			"gift $1: entry 1 is numbered 3"},
		"an entry beside the history": {spent,
			`INSERT INTO entry SELECT account_id, zeroblob(16), voucher_id, seq, previous, kind, delta, balance, status, made_at, key_id, location_id, reverses, hold_id, held, held_until, reference, reason, request_id, details, writer, n, held_after, address, till FROM entry WHERE id = $2`, "has other entries than those"},
		"the way to the last entry": {spent, `UPDATE voucher SET last = $2 WHERE id = $1`, "gift $1: it says"},
		"the way to an entry before": {spent, `UPDATE entry SET previous = id WHERE voucher_id = $1 AND seq = 3`,
			"gift $1: entry 1 is numbered 3"},
		"the last entry":         {spent, `DELETE FROM entry WHERE voucher_id = $1 AND seq = 3`, "gift $1: it says"},
		"a history":              {whole, `DELETE FROM entry WHERE voucher_id = $1`, "gift $1: it has no history"},
		"the amount of an entry": {spent, `UPDATE entry SET delta = delta + 1 WHERE id = $2`, "gift $1: entry 2 says"},
		"the balance of an entry": {spent, `UPDATE entry SET balance = balance + 1 WHERE id = $2`,
			"gift $1: entry 2 says"},
		"what is held after an entry": {spent, `UPDATE entry SET held_after = 1 WHERE id = $2`,
			"gift $1: entry 2 says that 1 is held"},
		"the status of an entry": {spent, `UPDATE entry SET status = 7 WHERE id = $2`, "gift $1: entry 2 (REDEMPTION"},
		"the kind of an entry": {spent, `UPDATE entry SET kind = 'REVERSAL' WHERE id = $2`,
			"gift $1: entry 2 (REVERSAL"},
		"what an entry reverses": {spent, `UPDATE entry SET reverses = $1 WHERE reverses = $2`,
			"gift $1: entry 3 (REVERSAL"},
		"the other gift of a transfer": {giver,
			`UPDATE entry SET details = replace(details, 'Gift":"', 'Gift":"00000000-0000-0000-0000-000000000000') WHERE voucher_id = $1 AND seq = 2`, "damaged"},
		"the other entry of a transfer": {giver,
			`UPDATE entry SET details = (SELECT details FROM entry WHERE kind = 'TRANSFER_IN') WHERE voucher_id = $1 AND seq = 2`,
			"gift $1: entry 2 and the one"},
		"what a transfer names": {giver, `UPDATE entry SET details = NULL WHERE voucher_id = $1 AND seq = 2`,
			"gift $1: entry 2 and the one that it names are not one transfer"},
		"what a transfer moved": {giver, `UPDATE entry SET delta = delta - 1 WHERE voucher_id = $1 AND seq = 2`,
			"are not one transfer"},
		"one side of a transfer": {giver, `DELETE FROM entry WHERE voucher_id = $1 AND seq = 2`, "are not one transfer"},
		"a code that was replaced": {giver, `DELETE FROM secret WHERE voucher_id = $1 AND kind = 'code' AND replaced = 3`,
			"gift $1: 1 entries, 0 codes and 1 tokens tell that entry 3 replaced its card"},
		"a replaced code that is good again": {giver,
			`UPDATE OR REPLACE secret SET replaced = 0 WHERE voucher_id = $1 AND kind = 'code' AND replaced = 3`,
			"is not found by what it is"},
		"a code that another entry replaced": {giver,
			`UPDATE secret SET replaced = 2 WHERE voucher_id = $1 AND replaced = 3 AND kind = 'code'`,
			"gift $1: 0 entries, 1 codes and 0 tokens tell that entry 2 replaced its card"},
		"what a gift says of its replacement": {giver, `UPDATE voucher SET replaced = 0 WHERE id = $1`,
			"gift $1: it says that entry 0 gave it its code; its history says 3"},
		"a tally":     {whole, `UPDATE tally SET vouchers = vouchers + 1`, "another number of gifts"},
		"all tallies": {whole, `DELETE FROM tally`, "another number of gifts"},
		"the record of a redemption": {spent, `UPDATE request SET entry_id = NULL WHERE key = 'redeemed'`,
			"a redeem-gift request made at 2"},
		"its answer": {spent, `UPDATE request SET answer = zeroblob(4) WHERE key = 'redeemed'`,
			"does not name its entry"},
		"its code": {spent, `UPDATE request SET code = 'ALREADY_REDEEMED' WHERE key = 'redeemed'`,
			"answered ALREADY_REDEEMED"},
		"its code, to that of nothing": {spent, `UPDATE request SET code = 'NOTHING' WHERE key = 'redeemed'`,
			"answered NOTHING"},
		"its entry": {spent, `UPDATE request SET entry_id = $1 WHERE key = 'redeemed'`,
			"an idempotency record names entry $1"},
		"the record of a reversal": {spent, `UPDATE request SET entry_id = $2 WHERE key = 'reversed'`,
			"a reverse-redemption request made at 2"},
		"one effect under two keys": {spent, `UPDATE request SET entry_id = $2 WHERE key = 'spent'`,
			"entry $2 is named by more than one"},
		"a spent key": {spent, `UPDATE request SET code = 'OK' WHERE key = 'spent'`,
			"spent and done at once"},
		"a sealed answer": {spent, `UPDATE request SET answer = zeroblob(80) WHERE key = 'sent'`,
			"a send-gift request made at 2"},
		"a job":            {waiting, `DELETE FROM job WHERE voucher_id = $1`, "gift $1 is PENDING, and no job"},
		"a job of no gift": {waiting, `UPDATE job SET voucher_id = $2`, "the database reports: job"},
		"a picture":        {whole, `UPDATE asset SET bytes = zeroblob(9)`, "is not what it is found by"},
		"what a gift is found by": {spent, `DELETE FROM gift_search WHERE voucher_id = $1`,
			"gift $1 is not found by something"},
		"what is found is another gift": {spent, `UPDATE gift_search SET voucher_id = account_id WHERE voucher_id = $1`,
			"gift $1 is not found by something"},
		"a resend": {spent, `DELETE FROM resend WHERE voucher_id = $1`,
			"gift $1 says that it was sent again"},
		"the entry of a resend": {spent, `UPDATE resend SET seq = 2 WHERE voucher_id = $1`, "gift $1 was sent again"},
		"a location's use":      {waiting, `DELETE FROM used_record`, "is in use, but is not noted to be"},
		"an account":            {waiting, `DELETE FROM account`, "which does not exist"},
		"an account's document": {waiting, `UPDATE account SET config = '{'`, "document is damaged"},
		"where a key is enabled": {waiting, `UPDATE api_key SET locations = $1`,
			"is limited to location $1, which does not exist"},
		"half a location": {waiting, `UPDATE api_key SET locations = zeroblob(7)`,
			"the database reports: CHECK constraint failed in api_key"},
		"a message": {waiting, `UPDATE outbox SET message = zeroblob(80)`,
			"of the outbox: a sealed value"},
		"a count of wrong codes": {waiting, `INSERT INTO key_miss (account_id, key_id, misses) VALUES ($1, $1, -1)`,
			"the database reports: CHECK constraint failed in key_miss"},
		"an id that is no id": {waiting, `UPDATE voucher SET order_id = zeroblob(3) WHERE id = $1`, "16 bytes"},
		"an index that lacks its entry": {spent,
			`UPDATE sqlite_schema SET sql = replace(sql, 'reverses, account_id)', 'id, account_id)') WHERE name = 'entry_reverses'`, "the database reports"},
	}
	for name, d := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newSample(t)
			if found := k.verify(t); len(found) > 0 {
				t.Fatalf("before the damage: %q", found)
			}
			victim := map[rune]guid.ID{whole: k.whole.ID, spent: k.spent.ID, waiting: k.waiting.ID,
				giver: k.giver.ID, toSell: k.toSell.ID}[d.gift]
			k.damage(t, d.sql, victim, k.taken.ID)
			want := strings.NewReplacer("$1", victim.String(), "$2", k.taken.ID.String()).Replace(d.want)
			if found := strings.Join(k.verify(t), "\n"); !strings.Contains(found, want) {
				t.Errorf("found %q, want something with %q", found, want)
			}
		})
	}
}

// damage runs a statement that no constraint and no trigger stands in the way of.
func (k *sample) damage(t *testing.T, statement string, one, two guid.ID) {
	t.Helper()
	var triggers []string
	rows, err := k.db.Writer.Query(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		triggers = append(triggers, `DROP TRIGGER `+name)
	}
	rows.Close()
	for _, text := range append(triggers, `PRAGMA foreign_keys = 0`, `PRAGMA ignore_check_constraints = 1`,
		`PRAGMA writable_schema = 1`) {
		if _, err := k.db.Writer.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	var args []any
	for n, id := range []guid.ID{one, two} {
		if strings.Contains(statement, []string{"$1", "$2"}[n]) {
			args = append(args, id[:])
		}
	}
	if !strings.Contains(statement, "$1") {
		statement = strings.ReplaceAll(statement, "$2", "$1")
	}
	result, err := k.db.Writer.Exec(statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("nothing was damaged: %v", err)
	}
}
