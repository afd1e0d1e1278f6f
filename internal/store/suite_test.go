package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"boon.example/internal/base/ratelimit"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/message"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
	"boon.example/internal/store/record"
	"boon.example/internal/store/tables"
)

// TestStore runs the suite that every database must pass: what the interfaces of ledger, api, delivery and setup
// promise. On PostgreSQL it reads the statements, too: see namingAccounts.
func TestStore(t *testing.T) {
	t.Parallel()
	if pgtest.Embedded() {
		t.Run("sqlite", func(t *testing.T) { runSuite(t, suiteTests(), openSQLiteForTest) })
	}
	if pgtest.Available() {
		t.Run("postgres", namingAccounts)
	}
}

func suiteTests() map[string]func(*testing.T, opener) {
	return map[string]func(*testing.T, opener){
		"a gift comes back whole":                   testGiftRoundTrip,
		"verification codes are sealed":             testVerificationCodes,
		"webhooks come back whole":                  testWebhooks,
		"events of test accounts go by one clock":   testEventsOfOneClock,
		"a time is found beside another clock":      testEventsOfTwoClocks,
		"how far webhooks came is kept":             testWebhookProgress,
		"many attempts":                             testManyAttempts,
		"webhooks are delivered by one":             testWebhookLeases,
		"phones with passes are kept":               testPasses,
		"gifts that changed are told of":            testTouched,
		"passes that Google has are kept":           testGooglePasses,
		"gifts that Google was not told of":         testGoogleWithout,
		"books follow entries":                      testBooksFollowEntries,
		"Google is told of what is taken back":      testGoogleTakenBack,
		"new events are noticed":                    testNewEvents,
		"what a gift is good for comes back":        testItems,
		"PINs and addresses are sealed":             testSealedSetup,
		"messages are sealed":                       testSealedMessages,
		"what a piece is worth comes back":          testWorth,
		"terms are kept once for an order":          testTerms,
		"a request comes back whole":                testRequestRoundTrip,
		"a long answer lies elsewhere":              testLongAnswers,
		"keys of providers are found":               testProviderKeys,
		"the set-up comes back whole":               testSetupRoundTrip,
		"a group loads what it wants":               testGroupLoads,
		"a group is all or nothing":                 testGroupIsAtomic,
		"a group outlives its caller":               testGroupOutlivesItsCaller,
		"known requests are told in time":           testKnownRequests,
		"a stale voucher is not written":            testStaleVoucher,
		"constraints bite":                          testConstraints,
		"gifts are found by their secrets":          testSecrets,
		"swapped secrets open nothing":              testSwapped,
		"links to sheets live and die":              testSheets,
		"look-ups at once see what was answered":    testLookUpsAtOnce,
		"gifts are selected":                        testFilter,
		"pages stay right while gifts are added":    testPages,
		"activity is listed":                        testActivity,
		"history is paged":                          testHistory,
		"events come in the order of commits":       testEvents,
		"events of a commit come in their order":    testEventsOfACommit,
		"small pages of events take few look-ups":   testSmallPages,
		"followers miss nothing":                    testFollowers,
		"old events are forgotten":                  testForgetEvents,
		"events of a wrong clock keep no others":    testForgetEventsBehind,
		"the books of closed days":                  testBooks,
		"books that are closed late":                testBehind,
		"days are closed once":                      testClosing,
		"breakage is booked once":                   testBreakage,
		"verify finds wrong sums":                   testClosedDays,
		"what closed months come to is kept":        testTotalsOfMonths,
		"verify finds lost events":                  testVerifyEvents,
		"verify knows what is forgotten":            testVerifyForgotten,
		"who did what is kept":                      testTrail,
		"ends of gifts are told of once":            testExpiry,
		"places of a later state are refused":       testLostPlaces,
		"pages end early where time runs out":       testPagesEndEarly,
		"a change of the set-up is seen everywhere": testConfigure,
		"the set-up is changed beside tills":        testConfigureBeside,
		"what gifts refer to is known":              testUses,
		"what gifts refer to stays":                 testUsesStay,
		"jobs are leased":                           testJobs,
		"a gift goes another way":                   testRedirect,
		"claimants never share a job":               testClaimants,
		"jobs of a wrong clock are freed":           testJobsOfAWrongClock,
		"the outbox keeps messages":                 testOutbox,
		"wrong codes are counted":                   testGuesses,
		"shifts end":                                testShifts,
		"guests come in once":                       testGuestsComeInOnce,
		"links of guests are counted":               testGuestLinksAreCounted,
		"guests are forgotten":                      testGuestsAreForgotten,
		"gifts of buyers are found":                 testGiftsOfBuyers,
		"staff is kept":                             testStaffIsKept,
		"mails to the staff":                        testNotices,
		"mails to the staff that cannot be read":    testNoticesThatCannotBeRead,
		"stocks are listed":                         testStocks,
		"activation codes sell cards":               testActivationCodes,
		"lists to send are kept":                    testSendLists,
		"lists of people are searched":              testSendListsAreSearched,
		"lists to send are claimed by one":          testSendListsAreClaimed,
		"lists sent in part are left":               testSendListsAreLeft,
		"planted lists send nothing":                testPlantedSendLists,
		"sessions of staff end":                     testSessionsEnd,
		"invitations are good once":                 testInvitations,
		"planted staff lets nobody in":              testPlantedStaff,
		"who may come in is logged":                 testStaffIsLogged,
		"redemptions give attempts back":            testRewards,
		"and to what no other location takes":       testRewardsOfMany,
		"what became of an entry":                   testParts,
		"days are counted":                          testCounts,
		"a day's limit holds over midnight":         testLimitOverMidnight,
		"anonymous clients are counted":             testAnonymous,
		"what was given back is kept":               testGivenBack,
		"what was loaded is kept":                   testLoads,
		"what was cashed out is kept":               testCashOuts,
		"customers of gifts are kept":               testCustomers,
		"holds are kept":                            testHolds,
		"cards that were replaced are known":        testReplaced,
		"codes of other systems find their gifts":   testImportedCodes,
		"the use of keys is kept":                   testKeyUses,
		"old records are forgotten":                 testForget,
		"the schema knows the table of kinds":       testSchemaKnowsKinds,
		"the schema knows what undoes what":         testSchemaKnowsUndoings,
		"two handles write at once":                 testTwoWriters,
		"a reversal that is answered elsewhere":     testOvertaken,
		"gifts are counted":                         testCountVouchers,
		"an import is there at once, or not":        testImports,
		"an import that is used is not undone":      testImportUsed,
		"an import is undone beside a redemption":   testImportUndoneMeanwhile,
		"an import is begun once":                   testImportBegunTwice,
		"an import that is undone is erased":        testImportUndoneIsErased,
		"verify finds gifts of other imports":       testVerifyImports,
		"older states of imports are noticed":       testImportSteps,
		"undoing an import goes on":                 testUndoingGoesOn,
		"an import opens closed days":               testImportReopensDays,
		"a day is not closed beside an import":      testClosingBesideAnImport,
		"days are checked beside imports":           testCheckingBesideImports,
		"open days are summed up":                   testOpenDays,
		"the first day is summed up":                testFirstDay,
		"an entry comes into what is summed up":     testOvertakenDays,
		"ids run ahead of clocks":                   testLateIDs,
		"what has late ids is found by its time":    testIDsAhead,
		"days of imports are closed again":          testDaysOfImportsAreClosedAgain,
		"open days of a database that went back":    testOpenDaysWentBack,
		"what gifts hold is summed up":              testValues,
		"what was erased is gone":                   testErase,
		"an erasure hides nothing":                  testEraseHidesNothing,
		"a number of 0.1.0 is found and erased":     testEarlierNumbers,
		"an erasure reads no messages of others":    testEraseOutbox,
		"a gift that waits is not erased":           testEraseWaiting,
		"an answer is changed once for its gifts":   testEraseOrder,
		"an erasure that was cut off is repeated":   testEraseCutOff,
		"what comes meanwhile is erased":            testEraseBeside,
		"answers are changed by two at once":        testEraseAtOnce,
		"an answer that is damaged is not passed":   testEraseDamaged,
		"gifts that ended are found":                testEnded,
		"a gift that goes on is not erased":         testEraseEnded,
		"verify walks and finds":                    testVerify,
		"verify finds long answers":                 testVerifyLongAnswers,
	}
}

func runSuite(t *testing.T, tests map[string]func(*testing.T, opener), open opener) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

// equal compares whole values; codes and tokens by what they hold, zones by name.
var equal = cmp.Options{
	cmp.Comparer(func(a, b codes.VoucherCode) bool { return a == b }),
	cmp.Comparer(func(a, b codes.Token) bool { return a == b }),
	cmp.Comparer(func(a, b codes.ActivationCode) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() }),
}

func diff(t *testing.T, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, equal); d != "" {
		t.Errorf("it came back otherwise (-want +got):\n%s", d)
	}
}

// fill sets every field of a struct to a value of its own, so that two columns that are mixed up, and one that is
// forgotten, are noticed. It fails when it meets a kind of field that it does not know.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Interface().(type) {
	case guid.ID:
		v.Set(reflect.ValueOf(newID()))
		return
	case codes.VoucherCode:
		v.Set(reflect.ValueOf(newCode()))
		return
	case codes.Token:
		v.Set(reflect.ValueOf(newToken()))
		return
	case codes.ActivationCode:
		v.Set(reflect.ValueOf(newNumber()))
		return
	case time.Time:
		v.Set(reflect.ValueOf(noon.Add(time.Duration(*n) * time.Microsecond)))
		return
	case *time.Location:
		zone, err := time.LoadLocation("America/New_York")
		if err != nil {
			t.Fatal(err)
		}
		v.Set(reflect.ValueOf(zone))
		return
	case merchant.Permissions:
		v.Set(reflect.ValueOf(merchant.Permissions(*n) & merchant.AllPermissions))
		return
	case merchant.Translations:
		v.Set(reflect.ValueOf(merchant.Translations{merchant.German: fmt.Sprintf("text %d", *n)}))
		return
	case merchant.TillKey:
		v.Set(reflect.ValueOf(merchant.PairedTill))
		return
	case merchant.Item: // by its id, or without one by its group
		item := merchant.Item{ID: fmt.Sprintf("item %d", *n), Name: "é"}
		if *n%2 == 0 {
			item = merchant.Item{Group: fmt.Sprintf("group %d", *n), Name: "é"}
		}
		v.Set(reflect.ValueOf(item))
		return
	case netip.Prefix:
		v.Set(reflect.ValueOf(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(*n >> 8), byte(*n)}), 32)))
		return
	case []byte:
		v.SetBytes(fmt.Appendf(nil, "bytes %d", *n))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).SetUint(uint64(*n + i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d “é”\n", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	default:
		t.Fatalf("a %s cannot be filled yet", v.Type())
	}
}

func filled[T any](t *testing.T) (v T) {
	t.Helper()
	n := 0
	fill(t, reflect.ValueOf(&v).Elem(), &n)
	return v
}

func testGiftRoundTrip(t *testing.T, open opener) {
	s, _ := open(t)
	g := filled[gift.Gift](t)
	g.Currency, g.Funded, g.Balance, g.Status, g.Seq = money.Currency{Code: "KWD", Decimals: 3}, 9e15, 9e15, gift.Pending,
		1
	g.Card.Method, g.Card.VATTreatment, g.Holds = contact.SMS, merchant.SinglePurpose, nil
	g.Tells, g.GraceDays = gift.TellArrival|gift.TellFirstUse, gift.MaxGraceDays
	g.Card.Attachment, g.BuyerLanguage = gift.AsCSV, "de" // a tag has no spaces
	g.TillsOnly = false                                   // which a card with a verification code is not
	issued := filled[gift.Entry](t)
	issued.AccountID, issued.VoucherID, issued.Seq, issued.Previous, issued.Kind = g.AccountID, g.ID, 1, guid.ID{},
		gift.Issued
	issued.Delta, issued.Balance, issued.Status, issued.Reverses = 0, g.Balance, g.Status, guid.ID{}
	issued.HoldID, issued.Held, issued.Until = guid.ID{}, 0, time.Time{}
	bare, first := newGift(newID())
	bare.Card.Purchase, bare.TillsOnly = gift.Purchase{}, true
	save(t, s, ledger.Changes{Gifts: []gift.Gift{g, bare}, Entries: []gift.Entry{issued, first}})

	for _, want := range []gift.Gift{g, bare} {
		got, err := s.Gift(t.Context(), want.AccountID, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		want.Card.Activation = codes.ActivationCode{} // no look-up has it: see testActivationCodes
		diff(t, got, want)
	}
	// The rest of an entry's fields: those of a hold, of its capture, and of a reversal.
	before, balance := issued, g.Balance
	next := func(kind gift.Kind, delta money.Amount) gift.Entry {
		e := filled[gift.Entry](t)
		balance += delta
		e.ID, e.Previous, e.AccountID, e.VoucherID, e.Seq = newID(), before.ID, g.AccountID, g.ID, before.Seq+1
		e.Kind, e.Delta, e.Balance, e.Status, e.Reverses = kind, delta, balance, gift.Claimed, guid.ID{}
		e.HoldID, e.Held, e.Until = guid.ID{}, 0, time.Time{}
		before = e
		return e
	}
	held := next(gift.HoldMade, 0)
	held.Held, held.Until = 9e15, held.At.Add(time.Hour)
	taken := next(gift.Redemption, -4e15)
	taken.HoldID, taken.Held = held.ID, -4e15
	given := next(gift.Reversal, 1e15)
	given.Reverses = taken.ID
	v := g.Voucher
	v.Balance, v.Status, v.Seq, v.Last = 6e15, gift.Claimed, 4, given.ID
	v.Holds = []gift.OpenHold{{ID: held.ID, Left: 5e15, Until: held.Until}}
	runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&g.Voucher)}}, func(st *ledger.State) ledger.Changes {
		diff(t, *st.Vouchers[ref(&g.Voucher)], g.Voucher)
		return ledger.Changes{Vouchers: []gift.Voucher{v}, Entries: []gift.Entry{held, taken, given}}
	})
	history, err := s.History(t.Context(), g.AccountID, g.ID, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, history, []gift.Entry{issued, held, taken, given})
	got, err := s.Gift(t.Context(), g.AccountID, g.ID)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, got.Voucher, v)
}

func testRequestRoundTrip(t *testing.T, open opener) {
	s, _ := open(t)
	var want []ledger.Request
	account := newID()
	for _, operation := range []operation.Name{operation.SendGift, operation.RedeemGift, operation.ReverseRedemption,
		operation.CancelGift, operation.ReinstateGift, operation.ResendGift, operation.RescheduleGift,
		operation.TransferBalance, operation.ReplaceGift} {
		r := filled[ledger.Request](t)
		r.RequestKey = ledger.RequestKey{AccountID: account, Operation: operation, Key: "one key"}
		r.Answer.Replayed, r.Answer.Dry, r.Answer.Long, r.Answer.Left = false, false, ledger.Long{}, nil
		want = append(want, r)
	}
	spent := ledger.Request{RequestKey: ledger.RequestKey{AccountID: account, Operation: operation.RedeemGift,
		Key: "spent"},
		Spent: true, At: noon}
	save(t, s, ledger.Changes{Requests: append(slices.Clone(want), spent)})

	slices.SortFunc(want, func(a, b ledger.Request) int {
		return strings.Compare(string(a.Operation), string(b.Operation))
	})
	all, err := s.Requests(t.Context(), account, "", "one key")
	if err != nil {
		t.Fatal(err)
	}
	diff(t, all, want)
	for _, w := range want {
		one, err := s.Requests(t.Context(), account, w.Operation, w.Key)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, one, []ledger.Request{w})
	}
	got, err := s.Requests(t.Context(), account, "", "spent")
	if err != nil || len(got) != 1 || !got[0].Spent || len(got[0].Answer.Body) != 0 || !got[0].EntryID.IsZero() {
		t.Errorf("the spent key is %+v, %v", got, err)
	}
	if none, err := s.Requests(t.Context(), newID(), "", "one key"); err != nil || len(none) != 0 {
		t.Errorf("another account has %d records under the key, %v", len(none), err)
	}
	var known map[ledger.RequestKey]*ledger.Request // by who decides last
	runGroup(t, s, ledger.Want{Requests: []ledger.RequestKey{want[0].RequestKey, want[0].RequestKey, spent.RequestKey}},
		func(st *ledger.State) ledger.Changes {
			known = st.Requests
			return ledger.Changes{}
		})
	diff(t, known, map[ledger.RequestKey]*ledger.Request{want[0].RequestKey: &want[0], spent.RequestKey: &got[0]})
}

func testSetupRoundTrip(t *testing.T, open opener) {
	s, _ := open(t)
	a, k := filled[merchant.Account](t), filled[merchant.Key](t)
	// by the key's limits
	k.Kind, k.AccountID, k.RevokedAt, a.KeysLimitMoney = merchant.AccountKey, a.ID, time.Time{}, true
	least := merchant.Account{ID: newID(), Name: "Least", Currency: dollars, Zone: time.UTC, MaxGiftValue: 1}
	system := merchant.Key{ID: newID(), Kind: merchant.SystemKey, Name: "partner", Hash: merchant.HashKey("partner"),
		CreatedAt: noon}
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{&a, &least}, Keys: []*merchant.Key{&k, &system}})
	d, err := s.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	diff(t, d, &merchant.Directory{Version: 1,
		Accounts: map[guid.ID]*merchant.Account{a.ID: &a, least.ID: &least},
		Keys:     map[merchant.KeyHash]*merchant.Key{k.Hash: &k, system.Hash: &system}})

	changed := k
	changed.RevokedAt, changed.Locations, changed.Name = noon, nil, "gone"
	least.Name = "Less"
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{&least}, Keys: []*merchant.Key{&changed}})
	if d, err = s.Directory(t.Context()); err != nil {
		t.Fatal(err)
	}
	diff(t, d.Keys[k.Hash], &changed)
	diff(t, d.Accounts[least.ID], &least)
}

func configure(t testing.TB, s *Store, c merchant.Changes) {
	t.Helper()
	err := s.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) { return c, nil })
	if err != nil {
		t.Fatal(err)
	}
}

func testGroupLoads(t *testing.T, open opener) {
	s, _ := open(t)
	a, b := newID(), newID()
	gifts := append(issue(t, s, a, 40), issue(t, s, b, 3)...) // more than one statement carries
	taken := redeem(t, s, &gifts[0].Voucher, 500)
	other := redeem(t, s, &gifts[1].Voucher, 10_000)
	undone := ledger.RequestKey{AccountID: a, Operation: operation.RedeemGift, Key: "k"}
	save(t, s, ledger.Changes{Requests: []ledger.Request{{RequestKey: undone, EntryID: taken.ID, At: noon}}})
	give := func(amount money.Amount) {
		runGroup(t, s, ledger.Want{Undoable: []ledger.Ref{{AccountID: a, ID: taken.ID}}},
			func(st *ledger.State) ledger.Changes {
				redemption := st.Undoable[ledger.Ref{AccountID: a, ID: taken.ID}]
				after, e, err := st.Vouchers[ref(&gifts[0].Voucher)].Reverse(*redemption,
					gift.Reverse{
						Context: gift.Context{EntryID: newID(), Now: noon}, Caller: &merchant.Caller{}, Amount: amount,
					})
				if err != nil {
					t.Fatal(err)
				}
				return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
			})
	}
	give(100)
	give(50)

	want := ledger.Want{
		Undo:     []ledger.RequestKey{undone, {AccountID: a, Operation: operation.RedeemGift, Key: "never made"}},
		Undoable: []ledger.Ref{{AccountID: a, ID: other.ID}, {AccountID: b, ID: other.ID}, {AccountID: a, ID: newID()}},
		Codes:    []codes.VoucherCode{gifts[3].Card.Code, newCode()},
		Vouchers: []ledger.Ref{{AccountID: b, ID: gifts[0].ID}, {AccountID: a, ID: newID()}},
	}
	for i := range gifts[2:] {
		want.Vouchers = append(want.Vouchers, ref(&gifts[2+i].Voucher), ref(&gifts[2+i].Voucher)) // twice
	}
	runGroup(t, s, want, func(st *ledger.State) ledger.Changes {
		if len(st.Vouchers) != len(gifts) {
			t.Errorf("%d vouchers, want %d", len(st.Vouchers), len(gifts))
		}
		for i := range gifts {
			v := st.Vouchers[ref(&gifts[i].Voucher)]
			if v == nil {
				t.Fatalf("voucher %d is missing", i)
			}
		}
		if got := st.Vouchers[ref(&gifts[0].Voucher)]; got.Balance != 9_650 || got.Seq != 4 {
			t.Errorf("the reversed voucher has %d at %d, want 9650 at 4", got.Balance, got.Seq)
		}
		diff(t, st.Undoable, map[ledger.Ref]*gift.Undoable{
			{AccountID: a, ID: taken.ID}: {Entry: taken, Reversed: 150, Parts: 2},
			{AccountID: a, ID: other.ID}: {Entry: other},
		})
		diff(t, st.Codes, map[codes.VoucherCode]bool{gifts[3].Card.Code: true})
		if len(st.Requests) != 1 || st.Requests[undone] == nil {
			t.Errorf("requests %v, want the one that was made", st.Requests)
		}
		return ledger.Changes{}
	})
}

func testGroupIsAtomic(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	old := issue(t, s, account, 1)[0]
	before := dump(t, s)
	fresh, first := newGift(account)
	twin, second := newGift(account)
	twin.Card.Code = old.Card.Code // only its secret's row, far into the saving, cannot be written
	want := ledger.Want{Vouchers: []ledger.Ref{ref(&old.Voucher)}}
	changes := func(st *ledger.State) ledger.Changes {
		after, e, err := st.Vouchers[ref(&old.Voucher)].Redeem(gift.Redeem{Context: gift.Context{EntryID: newID(), Now: noon},
			Amount: 1})
		if err != nil {
			t.Fatal(err)
		}
		return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e, first},
			Gifts: []gift.Gift{fresh}, Jobs: []ledger.Job{{ID: newID(), AccountID: account, VoucherID: fresh.ID, Due: noon}}}
	}
	for name, decide := range map[string]func(*ledger.State) ledger.Changes{
		"a code that exists": func(st *ledger.State) ledger.Changes {
			c := changes(st)
			c.Gifts, c.Entries = append(c.Gifts, twin), append(c.Entries, second)
			return c
		},
		"an entry that does not follow": func(st *ledger.State) ledger.Changes {
			c := changes(st)
			c.Entries[0].Seq++
			return c
		},
		"a job of no gift": func(st *ledger.State) ledger.Changes {
			c := changes(st)
			c.Jobs = append(c.Jobs, ledger.Job{ID: newID(), AccountID: account, VoucherID: newID(), Due: noon})
			return c
		},
		"a delivery of no gift": func(st *ledger.State) ledger.Changes {
			c := changes(st)
			c.Done = append(c.Done, ledger.Done{JobID: newID(), AccountID: account, VoucherID: newID(), DeliveredAt: noon})
			return c
		},
	} {
		err := s.Group(t.Context(), want, decide)
		if err == nil || errors.Is(err, ledger.ErrUnknown) {
			t.Errorf("%s: %v, want a plain error", name, err)
		}
		if !errors.Is(err, ledger.ErrRejected) {
			t.Errorf("%s: not rejected: %v", name, err)
		}
		// Of a row that is gone nobody can tell whether another writer was first, nor PostgreSQL of a key that exists.
		passing := name == "a delivery of no gift" || name == "a code that exists" && s.db.File == ""
		if got := errors.Is(err, ledger.ErrInTheWay); got != passing {
			t.Errorf("%s: in the way is %v, want %v", name, got, passing)
		}
		diff(t, dump(t, s), before)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = s.Group(t.Context(), want, func(*ledger.State) ledger.Changes { panic("decide") })
	}()
	diff(t, dump(t, s), before)
	runGroup(t, s, want, changes) // and the store still batches
}

// dump gives every row of every table, for comparison.
func dump(t *testing.T, s *Store) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, listed := range tables.Copied() {
		table := listed.Name
		rows, err := s.db.Readers.QueryContext(t.Context(), `SELECT * FROM `+table)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			columns, to := make([]any, len(names)), make([]any, len(names))
			for i := range columns {
				to[i] = &columns[i]
			}
			if err := rows.Scan(to...); err != nil {
				t.Fatal(err)
			}
			all[table] = append(all[table], fmt.Sprintf("%x", columns))
		}
		slices.Sort(all[table])
	}
	return all
}

func testGroupOutlivesItsCaller(t *testing.T, open opener) {
	s, _ := open(t)
	g, e := newGift(newID())
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Group(ctx, ledger.Want{}, func(*ledger.State) ledger.Changes {
		cancel()
		return ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Gift(t.Context(), g.AccountID, g.ID); err != nil {
		t.Error(err)
	}
}

// testKnownRequests: whoever decides learns of a record before anything is committed, whether the request would
// leave another one, or none; and a group with one known request saves its new one.
func testKnownRequests(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	request := func(key string) ledger.Request {
		k := ledger.RequestKey{AccountID: account, Operation: operation.RedeemGift, Key: key}
		return ledger.Request{RequestKey: k, Answer: ledger.Answer{Code: ledger.OK, Body: []byte(key)}, At: noon}
	}
	first := request("first")
	save(t, s, ledger.Changes{Requests: []ledger.Request{first}})
	for _, recorded := range []bool{true, false} {
		for range 2 { // the first group takes all for new, the one after it does not
			next := request(newID().String())
			leaves := []ledger.Request{next}
			if recorded {
				leaves = append(leaves, first)
			}
			var known *ledger.Request
			runGroup(t, s, ledger.Want{Requests: []ledger.RequestKey{first.RequestKey, next.RequestKey}},
				func(st *ledger.State) ledger.Changes {
					if known = st.Requests[first.RequestKey]; known != nil {
						return ledger.Changes{Requests: []ledger.Request{next}}
					}
					return ledger.Changes{Requests: leaves}
				})
			if known == nil || string(known.Answer.Body) != "first" {
				t.Errorf("a request that is recorded (%t) was decided on %v", recorded, known)
			}
		}
		s.readFirst.Store(0)
	}
}

func testStaleVoucher(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 1)[0]
	before := dump(t, s)
	after, e, err := g.Voucher.Redeem(gift.Redeem{Context: gift.Context{EntryID: newID(), Now: noon}, Amount: 1})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Group(t.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes {
		return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
	})
	if err == nil || !strings.Contains(err.Error(), "without having been loaded") {
		t.Errorf("a voucher that was not loaded: %v", err)
	}
	diff(t, dump(t, s), before)
	err = s.db.Transact(t.Context(), func(run db.Runner) error {
		return run(t.Context(), []db.Batch{{Query: updateBalance, Account: g.AccountID,
			Rows: [][]any{{1, 5, 2, db.KeyOf(newID()), db.KeyOf(g.ID), 7}}}})
	})
	if !errors.Is(err, db.ErrMissed) {
		t.Errorf("a voucher was written over another state than the loaded one: %v", err)
	}
	diff(t, dump(t, s), before)
}

func testConstraints(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 2)
	taken := redeem(t, s, &g[0].Voucher, 500)
	a, v, last := db.KeyOf(g[0].AccountID), db.KeyOf(g[0].ID), db.KeyOf(taken.ID)
	naked := g[0].Voucher // with nothing that refers to it
	naked.ID = newID()
	if _, err := s.db.Writer.ExecContext(t.Context(), record.InsertVoucher.Each, record.VoucherRow(s.db.Keys, &naked,
		guid.ID{}, guid.ID{})...); err != nil {
		t.Fatal(err)
	}
	save(t, s, ledger.Changes{Requests: []ledger.Request{
		{RequestKey: ledger.RequestKey{AccountID: g[0].AccountID, Operation: operation.RedeemGift, Key: "k"},
			EntryID: taken.ID,
			At:      noon}}})
	held := hold(t, s, &g[1].Voucher, 100, time.Hour)
	before := dump(t, s)
	const columns = `INSERT INTO entry (account_id, voucher_id, seq, previous, id, kind, delta, balance, status, made_at, `
	entry := columns + `reverses, reference, reason, request_id, writer, n) VALUES `
	ofHold := columns + `reference, reason, request_id, writer, n, hold_id, held, held_until) VALUES ($1, $2, 3, $3, $4, `
	for name, test := range map[string]struct {
		query string
		args  []any
	}{
		"a balance below zero": {`UPDATE voucher SET balance = -1 WHERE account_id = $1 AND id = $2`, []any{a, v}},
		"a balance above the value": {`UPDATE voucher SET balance = loaded + 1 WHERE account_id = $1 AND id = $2`,
			[]any{a, v}},
		"REDEEMED with a balance":   {`UPDATE voucher SET status = 6 WHERE account_id = $1 AND id = $2`, []any{a, v}},
		"CLAIMED without a balance": {`UPDATE voucher SET balance = 0 WHERE account_id = $1 AND id = $2`, []any{a, v}},
		"an unknown status":         {`UPDATE voucher SET status = 8 WHERE account_id = $1 AND id = $2`, []any{a, v}},
		"another fixed worth of a voucher": {`UPDATE voucher SET fixed = 1 WHERE account_id = $1 AND id = $2`,
			[]any{a, v}},
		"a longer validity":        {`UPDATE voucher SET valid_until = 1 WHERE account_id = $1 AND id = $2`, []any{a, v}},
		"deleting a voucher":       {`DELETE FROM voucher WHERE account_id = $1 AND id = $2`, []any{a, v}},
		"deleting a naked voucher": {`DELETE FROM voucher WHERE account_id = $1 AND id = $2`, []any{a, db.KeyOf(naked.ID)}},
		"a history of another value": {entry + `($1, $2, 1, NULL, $3, 'ISSUED', 0, 9999, 3, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, db.KeyOf(naked.ID), db.KeyOf(newID())}},
		"deleting a redemption's key": {`DELETE FROM request WHERE account_id = $1 AND key = 'k'`, []any{a}},
		"a key twice": {`INSERT INTO request (account_id, key, operation, fingerprint, code, answer, sealed, spent, made_at)
			VALUES ($1, 'k', 'redeem-gift', $2, 'OK', $2, FALSE, FALSE, 0)`, []any{a, make([]byte, 32)}},
		"changing an entry": {`UPDATE entry SET delta = -1 WHERE account_id = $1 AND voucher_id = $2`, []any{a, v}},
		"changing an entry's words": {`UPDATE entry SET reason = 'x' WHERE account_id = $1 AND voucher_id = $2`,
			[]any{a, v}},
		"deleting an entry": {`DELETE FROM entry WHERE account_id = $1 AND voucher_id = $2`, []any{a, v}},
		"an entry after itself": {entry + `($1, $2, 3, $3, $3, 'REDEMPTION', -1, 9499, 5, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(newID())}},
		"an entry after none": {entry + `($1, $2, 3, NULL, $3, 'REDEMPTION', -1, 9499, 5, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(newID())}},
		"an entry after a younger": {entry + `($1, $2, 3, $4, $3, 'REDEMPTION', -1, 9499, 5, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, make([]byte, 16), last}},
		"a number that does not fit": {entry + `($1, $2, 2, $4, $3, 'REDEMPTION', -500, 9000, 5, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(newID()), last}},
		"the same entry id twice": {entry + `($1, $2, 3, $4, $3, 'REDEMPTION', -1, 9499, 5, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(taken.ID), last}},
		"a gap in the history": {entry + `($1, $2, 4, $4, $3, 'REDEMPTION', -1, 9499, 5, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(newID()), last}},
		"a balance out of nowhere": {entry + `($1, $2, 3, $4, $3, 'REDEMPTION', -1, 9500, 5, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(newID()), last}},
		"a history that begins again": {entry + `($1, $2, 3, $4, $3, 'ISSUED', 0, 9500, 5, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(newID()), last}},
		"a redemption that gives": {entry + `($1, $2, 3, $4, $3, 'REDEMPTION', 1, 9501, 5, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(newID()), last}},
		"a cancellation that takes": {entry + `($1, $2, 3, $4, $3, 'CANCELLATION', -1, 9499, 7, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(newID()), last}},
		"an unknown kind of entry": {entry + `($1, $2, 3, $4, $3, 'GIFT', 0, 9500, 5, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(newID()), last}},
		"a reversal of nothing": {entry + `($1, $2, 3, $4, $3, 'REVERSAL', 1, 9501, 5, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(newID()), last}},
		"a reversal above its redemption": {entry +
			`($1, $2, 3, $4, $3, 'REVERSAL', 501, 10001, 5, 0, $4, '', '', '', $1, 1)`,
			[]any{a, v, db.KeyOf(newID()), db.KeyOf(taken.ID)}},
		"reversals above their redemption": {entry + `($1, $2, 3, $5, $3, 'REVERSAL', 300, 9800, 5, 0, $5, '', '', '', $1, 1),
			($1, $2, 4, $3, $4, 'REVERSAL', 201, 10001, 5, 0, $5, '', '', '', $1, 1)`, []any{a, v, db.KeyOf(newID()), db.KeyOf(newID()), db.KeyOf(taken.ID)}},
		"a reversal on another voucher": {entry + `($1, $2, 2, $5, $3, 'REVERSAL', 1, 10001, 3, 0, $4, '', '', '', $1, 1)`,
			[]any{a, db.KeyOf(g[1].ID), db.KeyOf(newID()), db.KeyOf(taken.ID), db.KeyOf(g[1].Last)}},
		"an entry of no voucher": {entry + `($1, $2, 1, NULL, $3, 'ISSUED', 0, 5, 1, 0, NULL, '', '', '', $1, 1)`,
			[]any{a, db.KeyOf(newID()), db.KeyOf(newID())}},
		"more held than there is": {`UPDATE voucher SET held = 9501, holds = 'x', holds_end = 1 WHERE account_id = $1
			AND id = $2`, []any{a, v}},
		"held by nothing": {`UPDATE voucher SET held = 1 WHERE account_id = $1 AND id = $2`, []any{a, v}},
		"a hold without an end": {ofHold + `'HOLD', 0, 9500, 5, 0, '', '', '', $1, 1, NULL, 1, NULL)`,
			[]any{a, v, last, db.KeyOf(newID())}},
		"a hold that takes": {ofHold + `'HOLD', -1, 9499, 5, 0, '', '', '', $1, 1, NULL, 1, 1)`,
			[]any{a, v, last, db.KeyOf(newID())}},
		"a hold of nothing": {ofHold + `'HOLD', 0, 9500, 5, 0, '', '', '', $1, 1, NULL, 0, NULL)`,
			[]any{a, v, last, db.KeyOf(newID())}},
		"a release of nothing": {ofHold + `'HOLD_RELEASED', 0, 10000, 3, 0, '', '', '', $1, 1, $5, 0, NULL)`,
			[]any{a, db.KeyOf(g[1].ID), db.KeyOf(held.ID), db.KeyOf(newID()), db.KeyOf(held.ID)}},
		"a release above its hold": {ofHold + `'HOLD_RELEASED', 0, 10000, 3, 0, '', '', '', $1, 1, $5, -101, NULL)`,
			[]any{a, db.KeyOf(g[1].ID), db.KeyOf(held.ID), db.KeyOf(newID()), db.KeyOf(held.ID)}},
		"a release of what is no hold": {ofHold + `'HOLD_RELEASED', 0, 9500, 5, 0, '', '', '', $1, 1, $5, -1, NULL)`,
			[]any{a, v, last, db.KeyOf(newID()), last}},
		"a capture of another gift's hold": {ofHold + `'REDEMPTION', -1, 9499, 5, 0, '', '', '', $1, 1, $5, -1, NULL)`,
			[]any{a, v, last, db.KeyOf(newID()), db.KeyOf(held.ID)}},
		"a capture of no hold": {ofHold + `'REDEMPTION', -1, 9499, 5, 0, '', '', '', $1, 1, NULL, -1, NULL)`,
			[]any{a, v, last, db.KeyOf(newID())}},
		"something held by a resend": {ofHold + `'RESENT', 0, 9500, 5, 0, '', '', '', $1, 1, $5, -1, NULL)`,
			[]any{a, db.KeyOf(g[1].ID), db.KeyOf(held.ID), db.KeyOf(newID()), db.KeyOf(held.ID)}},
		"deleting a hold's key": {`DELETE FROM request WHERE account_id = $1 AND operation = 'hold-gift'`, []any{a}},
		"a code twice": {`INSERT INTO secret (hash, kind, account_id, voucher_id) VALUES ($3, 'code', $1, $2)`,
			[]any{a, db.KeyOf(g[1].ID), s.db.Keys.CodeHash(g[0].Card.Code)}},
		"a second code of one voucher": {`INSERT INTO secret (hash, kind, account_id, voucher_id) VALUES ($3, 'code', $1, $2)`,
			[]any{a, v, s.db.Keys.CodeHash(newCode())}},
		"an id of another length": {`INSERT INTO account (id, config, version) VALUES ($1, '{}', 1)`, []any{[]byte("short")}},
		"an account key of no account": {`INSERT INTO api_key (id, kind, name, hint, hash, locations, created_at) VALUES ($1, 'account', '', '', $2, $3, 0)`,
			[]any{a, make([]byte, 32), []byte{}}},
	} {
		if _, err := s.db.Writer.ExecContext(t.Context(), test.query, test.args...); !s.db.Rejected(err) {
			t.Errorf("%s: %v, want a broken constraint", name, err)
		}
	}
	diff(t, dump(t, s), before)
}

func testSecrets(t *testing.T, open opener) {
	s, _ := open(t)
	for _, g := range append(issue(t, s, newID(), 3), issue(t, s, newID(), 3)...) {
		byCode, err := s.GiftByCode(t.Context(), g.Card.Code)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, byCode, g)
		byToken, err := s.GiftByToken(t.Context(), g.Card.Token)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, byToken, g)
		if _, err := s.Gift(t.Context(), newID(), g.ID); !errors.Is(err, refusal.NotFound) {
			t.Errorf("the gift of another account: %v, want NOT_FOUND", err)
		}
	}
	if _, err := s.GiftByCode(t.Context(), newCode()); !errors.Is(err, refusal.NotFound) {
		t.Errorf("an unknown code: %v, want NOT_FOUND", err)
	}
	if _, err := s.GiftByToken(t.Context(), newToken()); !errors.Is(err, refusal.NotFound) {
		t.Errorf("an unknown token: %v, want NOT_FOUND", err)
	}
}

// testLookUpsAtOnce: however many look up at the same time, each finds its own gift, as it is after every redemption
// that had been answered before.
func testLookUpsAtOnce(t *testing.T, open opener) {
	s, _ := open(t)
	var tills sync.WaitGroup
	for _, g := range issue(t, s, newID(), 40) {
		tills.Go(func() {
			for balance := g.Balance - 1; balance > g.Balance-5; balance-- {
				if _, err := tryRedeem(t.Context(), s, &g.Voucher, 1); err != nil {
					t.Error(err)
				}
				byCode, err := s.GiftByCode(t.Context(), g.Card.Code)
				if err != nil || byCode.ID != g.ID || byCode.Balance != balance {
					t.Errorf("gift %s with %d left is found as %s with %d: %v", g.ID, balance, byCode.ID, byCode.Balance, err)
				}
				byToken, err := s.GiftByToken(t.Context(), g.Card.Token)
				if err != nil || byToken.ID != g.ID || byToken.Balance != balance {
					t.Errorf("gift %s with %d left is found as %s with %d: %v", g.ID, balance, byToken.ID, byToken.Balance, err)
				}
			}
			if _, err := s.GiftByCode(t.Context(), newCode()); !errors.Is(err, refusal.NotFound) {
				t.Errorf("an unknown code: %v, want NOT_FOUND", err)
			}
		})
	}
	tills.Wait()
}

func testFilter(t *testing.T, open opener) {
	s, _ := open(t)
	account, here, there, promotion := newID(), newID(), newID(), newID()
	var c ledger.Changes
	var names []string
	add := func(name string, change func(*gift.Gift)) {
		g, e := newGift(account)
		for slices.ContainsFunc(c.Gifts, func(o gift.Gift) bool { return o.Card.Code.LastFour() == g.Card.Code.LastFour() }) {
			g.Card.Code = newCode() // of two with the same four, both are found
		}
		g.Card.Purchase.Reference = ""
		change(&g)
		g.ID = idAt(g.CreatedAt.Add(time.Duration(len(names)) * time.Millisecond))
		e.VoucherID = g.ID
		c.Gifts, c.Entries, names = append(c.Gifts, g), append(c.Entries, e), append(names, name)
	}
	order := newID()
	add("order 1", func(g *gift.Gift) { g.OrderID = order })
	add("order 2", func(g *gift.Gift) { g.OrderID = order })
	add("here", func(g *gift.Gift) { g.LocationID = here })
	add("there", func(g *gift.Gift) { g.LocationID = there })
	add("promotion", func(g *gift.Gift) {
		g.ProgramID, g.Promotional, g.PromotionID = merchant.PromotionalProgram.ID, true, promotion
	})
	add("reference", func(g *gift.Gift) { g.Card.Purchase.Reference = "R-7" })
	shop := newID()
	add("bought", func(g *gift.Gift) { g.Card.Purchase.StorefrontID = shop })
	add("Zoë", func(g *gift.Gift) { g.Card.Recipient, g.Card.Contact = "ZOË O'Neill-Park", "Zoe@Example.com" })
	add("Park", func(g *gift.Gift) { g.Card.Recipient, g.Card.Contact, g.LocationID = "Lee Park", "+14155550132", here })
	add("tomorrow", func(g *gift.Gift) { g.CreatedAt = noon.AddDate(0, 0, 1) })
	save(t, s, c)
	issue(t, s, newID(), 3) // of another account
	redeem(t, s, &c.Gifts[1].Voucher, 1)
	four := c.Gifts[len(c.Gifts)-2].Card.Code.LastFour()

	for name, test := range map[string]struct {
		filter gift.Filter
		want   string
	}{
		"all":          {gift.Filter{}, "tomorrow, Park, Zoë, bought, reference, promotion, there, here, order 2, order 1"},
		"limit":        {gift.Filter{Limit: 2}, "tomorrow, Park"},
		"storefront":   {gift.Filter{StorefrontID: shop}, "bought"},
		"last four":    {gift.Filter{LastFour: four}, "Park"},
		"address":      {gift.Filter{Contacts: []string{contact.FoldEmail("zoe@EXAMPLE.com")}}, "Zoë"},
		"number":       {gift.Filter{Contacts: []string{"+14155550132"}}, "Park"},
		"spellings":    {gift.Filter{Contacts: []string{"+14155550132", "other", "+14155550132"}}, "Park"},
		"a word":       {gift.Filter{Words: contact.SearchWords("park")}, "Park, Zoë"},
		"all words":    {gift.Filter{Words: contact.SearchWords("neill zoë")}, "Zoë"},
		"a beginning":  {gift.Filter{Words: contact.SearchWords("par")}, ""},
		"word, place":  {gift.Filter{Words: contact.SearchWords("PARK"), LocationID: here}, "Park"},
		"four, other":  {gift.Filter{LastFour: four, Words: contact.SearchWords("Zoë")}, ""},
		"four, order":  {gift.Filter{LastFour: four, OrderID: order}, ""},
		"never":        {gift.Filter{Status: gift.PurchaseFailed}, ""},
		"before":       {gift.Filter{Before: c.Gifts[2].ID}, "order 2, order 1"},
		"order":        {gift.Filter{OrderID: order}, "order 2, order 1"},
		"location":     {gift.Filter{LocationID: there}, "there"},
		"enabled here": {gift.Filter{Locations: []guid.ID{here}}, "Park, here"},
		"enabled both": {gift.Filter{Locations: []guid.ID{here, there}, Limit: 2}, "Park, there"},
		"not enabled":  {gift.Filter{Locations: []guid.ID{here}, LocationID: there}, ""},
		"program":      {gift.Filter{ProgramID: merchant.PromotionalProgram.ID}, "promotion"},
		"promotion":    {gift.Filter{PromotionID: promotion}, "promotion"},
		"reference":    {gift.Filter{Reference: "R-7"}, "reference"},
		"status":       {gift.Filter{Status: gift.Claimed}, "order 2"},
		"except":       {gift.Filter{OrderID: order, Except: gift.Claimed}, "order 1"},
		"from":         {gift.Filter{CreatedFrom: noon.AddDate(0, 0, 1)}, "tomorrow"},
		"to":           {gift.Filter{CreatedTo: noon}, ""},
		"to, later":    {gift.Filter{CreatedTo: noon.Add(time.Microsecond), Limit: 1}, "Park"},
		"two at once":  {gift.Filter{OrderID: order, Status: gift.Delivered}, "order 1"},
	} {
		test.filter.AccountID = account
		if test.filter.Limit == 0 {
			test.filter.Limit = 100
		}
		found, err := s.Gifts(t.Context(), test.filter)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range found {
			got = append(got, names[slices.IndexFunc(c.Gifts, func(x gift.Gift) bool { return x.ID == g.ID })])
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q, want %q", name, strings.Join(got, ", "), test.want)
		}
	}
}

// idAt is an id that was drawn at an instant.
func idAt(at time.Time) guid.ID {
	id := newID()
	for i, ms := 5, at.UnixMilli(); i >= 0; i, ms = i-1, ms>>8 {
		id[i] = byte(ms)
	}
	return id
}

func testPages(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	old := issue(t, s, account, 25)
	var got []guid.ID
	f := gift.Filter{AccountID: account, Limit: 4}
	for {
		page, err := s.Gifts(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range page {
			got = append(got, g.ID)
		}
		if len(page) < f.Limit {
			break
		}
		f.Before = page[len(page)-1].ID
		issue(t, s, account, 3) // newer than every page to come
	}
	var want []guid.ID
	for _, g := range slices.Backward(old) {
		want = append(want, g.ID)
	}
	diff(t, got, want)
}

func testHistory(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 1)[0]
	const milestone = 64 // from which the store can read backwards
	const entries = 2*milestone + 9
	var want []int
	for seq := 1; seq <= entries; seq++ {
		if want = append(want, seq); seq > 1 {
			redeem(t, s, &g.Voucher, 1)
		}
	}
	for _, size := range []int{3, milestone - 1, milestone, milestone + 1, entries, 1000} {
		var seqs []int
		for last := 0; ; last = seqs[len(seqs)-1] {
			page, err := s.History(t.Context(), g.AccountID, g.ID, last, size)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				seqs = append(seqs, e.Seq)
			}
		}
		diff(t, seqs, want)
	}
}

func testConfigure(t *testing.T, open opener) {
	s, again := open(t)
	other := again()
	a := merchant.Account{ID: newID(), Name: "First", Currency: dollars, Zone: time.UTC}
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{&a}})
	d, err := other.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d.Version != 1 || d.Accounts[a.ID] == nil {
		t.Fatalf("the other handle sees version %d", d.Version)
	}
	if same, _ := other.Directory(t.Context()); same != d {
		t.Error("nothing changed, and yet the snapshot is another")
	}
	before := dump(t, s)
	refusal := errors.New("refused")
	for name, change := range map[string]func(*merchant.Directory, merchant.Uses) (merchant.Changes, error){
		"a change that fails": func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
			return merchant.Changes{Accounts: []*merchant.Account{{ID: newID(), Zone: time.UTC}}}, refusal
		},
		"no change": func(current *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
			if current.Accounts[a.ID].Name != "First" {
				t.Error("the current set-up is not what was saved")
			}
			return merchant.Changes{}, nil
		},
		"a change that cannot be saved": func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
			key := func() *merchant.Key { return &merchant.Key{ID: newID(), Kind: merchant.SystemKey, CreatedAt: noon} }
			return merchant.Changes{Keys: []*merchant.Key{key(), key()}}, nil // two keys with one hash
		},
	} {
		if err := s.Configure(t.Context(), change); (err == nil) != (name == "no change") || name == "a change that fails" &&
			err != refusal {
			t.Errorf("%s: %v", name, err)
		}
		diff(t, dump(t, s), before)
	}
	b := a
	b.Name = "Second"
	configure(t, other, merchant.Changes{Accounts: []*merchant.Account{&b}})
	if d, err := s.Directory(t.Context()); err != nil || d.Version != 2 || d.Accounts[a.ID].Name != "Second" {
		t.Errorf("the first handle sees version %d, %v", d.Version, err)
	}
	if d.Accounts[a.ID].Name != "First" {
		t.Error("a snapshot that was handed out has changed")
	}
}

func testUses(t *testing.T, open opener) {
	s, again := open(t)
	account, till := newID(), newID()
	g, e := newGift(account)
	g.LocationID, g.Promotional, g.PromotionID, g.Card.DesignID = newID(), true, newID(), newID()
	h, f := newGift(account)
	h.Card.Purchase.StorefrontID, h.Card.DesignID = newID(), g.Card.DesignID
	save(t, s, ledger.Changes{Gifts: []gift.Gift{g, h}, Entries: []gift.Entry{e, f}})
	for range 2 {
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&h.Voucher)}}, func(st *ledger.State) ledger.Changes {
			after, e, err := st.Vouchers[ref(&h.Voucher)].Redeem(gift.Redeem{Amount: 1,
				Context: gift.Context{EntryID: newID(), Now: noon, Actor: merchant.Actor{LocationID: till}}})
			if err != nil {
				t.Fatal(err)
			}
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
		})
	}
	issue(t, s, newID(), 1)
	// a card of a stock names nothing but its program
	want := map[guid.ID]bool{g.ProgramID: true, g.LocationID: true, g.PromotionID: true, g.Card.DesignID: true,
		h.Card.Purchase.StorefrontID: true, till: true}
	err := again().Configure(t.Context(), func(_ *merchant.Directory, uses merchant.Uses) (merchant.Changes, error) {
		got, err := uses(account)
		diff(t, got, want)
		return merchant.Changes{}, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// addJobs saves a job for each gift, due a minute after the other.
func addJobs(t *testing.T, s *Store, gifts []gift.Gift) (jobs []ledger.Job) {
	t.Helper()
	for i, g := range gifts {
		jobs = append(jobs, ledger.Job{ID: newID(), AccountID: g.AccountID, VoucherID: g.ID,
			Due: noon.Add(time.Duration(i) * time.Minute)})
	}
	save(t, s, ledger.Changes{Jobs: jobs})
	return jobs
}

func claim(t *testing.T, s *Store, now time.Time, n int) []ledger.Job {
	t.Helper()
	jobs, err := s.ClaimJobs(t.Context(), now, 30*time.Second, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if !j.Lease.Equal(now.Add(30 * time.Second)) {
			t.Errorf("a lease until %s, taken at %s", j.Lease, now)
		}
	}
	return jobs
}

// unleased gives jobs as they were before they were claimed.
func unleased(jobs []ledger.Job) []ledger.Job {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		jobs[i].Lease = time.Time{}
	}
	return jobs
}

func testJobs(t *testing.T, open opener) {
	s, again := open(t)
	next := func() time.Time {
		t.Helper()
		at, err := s.NextJob(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	if at := next(); !at.IsZero() {
		t.Errorf("an empty queue has a next job at %s", at)
	}
	gifts := issue(t, s, newID(), 4)
	jobs := addJobs(t, s, gifts)
	at := func(d time.Duration) time.Time { return noon.Add(d) }

	diff(t, next(), noon)
	diff(t, claim(t, s, at(-time.Microsecond), 9), []ledger.Job(nil))
	first := claim(t, s, at(61*time.Second), 1)
	diff(t, unleased(first), jobs[:1])
	diff(t, unleased(claim(t, again(), at(61*time.Second), 9)), jobs[1:2])
	diff(t, claim(t, s, at(61*time.Second), 9), []ledger.Job(nil))
	diff(t, next(), at(91*time.Second)) // when the leases end
	for now, want := range map[time.Duration]Backlog{
		-time.Second:     {Waiting: 4},
		90 * time.Second: {Waiting: 4},
		2 * time.Minute:  {Waiting: 4, Overdue: 3, Oldest: at(91 * time.Second)}, // two leases have ended, and one is due
	} {
		got, err := s.Backlog(t.Context(), at(now))
		if err != nil {
			t.Fatal(err)
		}
		diff(t, got, want)
	}
	leased := claim(t, s, at(91*time.Second), 9)
	diff(t, unleased(leased), jobs[:2])

	if err := s.PostponeJob(t.Context(), first[0], "too late"); !errors.Is(err, ledger.ErrTakenBack) {
		t.Errorf("postponing a job that is another's by now: %v, want ErrTakenBack", err)
	}
	later := leased[0]
	later.Due, later.Attempts = at(10*time.Minute), 3
	if err := s.PostponeJob(t.Context(), later, "try again"); err != nil {
		t.Fatal(err)
	}
	if err := s.PostponeJob(t.Context(), later, "again"); !errors.Is(err, ledger.ErrTakenBack) {
		t.Errorf("postponing a job twice: %v, want ErrTakenBack", err)
	}
	save(t, s, ledger.Changes{Done: []ledger.Done{
		{JobID: jobs[1].ID, AccountID: jobs[1].AccountID, VoucherID: gifts[1].ID, DeliveredAt: at(92 * time.Second)},
		{JobID: jobs[2].ID, AccountID: jobs[2].AccountID, VoucherID: gifts[2].ID},
		{JobID: newID(), AccountID: jobs[2].AccountID, VoucherID: gifts[2].ID}, // was finished by another worker
	}})
	diff(t, unleased(claim(t, s, at(time.Hour), 9)), unleased([]ledger.Job{jobs[3], later}))
	if err := s.PostponeJob(t.Context(), leased[1], ""); !errors.Is(err, ledger.ErrTakenBack) {
		t.Errorf("postponing a finished job: %v, want ErrTakenBack", err)
	}
	for i, want := range map[int]time.Time{1: at(92 * time.Second), 2: gifts[2].Card.DeliveredAt} {
		g, err := s.Gift(t.Context(), gifts[i].AccountID, gifts[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, g.Card.DeliveredAt, want)
	}
}

// testJobsOfAWrongClock: what a worker has claimed whose clock was a day ahead does not wait for a day.
func testJobsOfAWrongClock(t *testing.T, open opener) {
	s, _ := open(t)
	gifts := issue(t, s, newID(), 4)
	jobs := addJobs(t, s, gifts)
	claim(t, s, noon.AddDate(0, 0, 1), 2)
	right := claim(t, s, noon.Add(time.Hour), 1)
	must(t, s.FreeJobs(t.Context(), noon.Add(time.Hour)))
	diff(t, unleased(claim(t, s, noon.Add(time.Hour), 9)), unleased([]ledger.Job{jobs[0], jobs[1], jobs[3]}))
	if len(right) != 1 {
		t.Errorf("%d jobs were left", len(right))
	}
}

func testClaimants(t *testing.T, open opener) {
	s, again := open(t)
	addJobs(t, s, issue(t, s, newID(), 60))
	var mu sync.Mutex
	var workers sync.WaitGroup
	claimed := map[guid.ID]int{}
	for _, handle := range []*Store{s, again(), s, again()} {
		workers.Go(func() {
			for {
				jobs, err := handle.ClaimJobs(t.Context(), noon.Add(time.Hour), time.Hour, 3)
				if err != nil {
					t.Error(err)
				}
				if len(jobs) == 0 {
					return
				}
				mu.Lock()
				for _, j := range jobs {
					claimed[j.ID]++
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	if len(claimed) != 60 {
		t.Errorf("%d jobs were claimed, want 60", len(claimed))
	}
	for id, n := range claimed {
		if n != 1 {
			t.Errorf("job %s was claimed %d times", id, n)
		}
	}
}

func testOutbox(t *testing.T, open opener) {
	s, _ := open(t)
	begun := time.Now()
	first, second := filled[message.Message](t), filled[message.Message](t)
	second.At = first.At.Add(time.Second)
	again := first
	again.Text = "another text under the same id"
	for _, m := range []message.Message{first, second, again} {
		if err := s.KeepMessage(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Messages(t.Context(), guid.ID{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, got, []message.Message{second, first})
	if got, err = s.Messages(t.Context(), guid.ID{}, 1); err != nil {
		t.Fatal(err)
	}
	diff(t, got, []message.Message{second})
	if got, err = s.Messages(t.Context(), second.ID, 10); err != nil {
		t.Fatal(err)
	}
	diff(t, got, []message.Message{first})
	for _, none := range []guid.ID{first.ID, newID()} {
		if got, err = s.Messages(t.Context(), none, 10); err != nil || len(got) > 0 {
			t.Errorf("%d messages before %s, %v", len(got), none, err)
		}
	}
	if one, err := s.Message(t.Context(), second.ID); err != nil || one.ID != second.ID {
		t.Errorf("message %s: %v, %v", second.ID, one.ID, err)
	}
	if _, err := s.Message(t.Context(), newID()); !errors.Is(err, refusal.NotFound) {
		t.Errorf("a message that there is not: %v", err)
	}
	for _, step := range []struct {
		before time.Time // by the machine's clock, whatever that of the account said
		n      int64
	}{{begun, 0}, {time.Now().Add(time.Second), 1}, {time.Now().Add(time.Second), 1}, {time.Now().Add(time.Second), 0}} {
		if n, err := s.ForgetMessages(t.Context(), step.before, 1); err != nil || n != step.n {
			t.Errorf("%d messages were forgotten, %v, want %d", n, err, step.n)
		}
	}
}

func testGuesses(t *testing.T, open opener) {
	s, again := open(t)
	till := merchant.Till{AccountID: newID(), KeyID: newID(), LocationID: newID()}
	elsewhere := merchant.Till{AccountID: till.AccountID, KeyID: till.KeyID, LocationID: newID()}
	count := func(at merchant.Till, now time.Time, n int, want ratelimit.Bucket, alarmed bool) {
		t.Helper()
		got, alarm, err := s.CountMisses(t.Context(), at, now, n)
		if err != nil || alarm != alarmed {
			t.Fatalf("an event: %v, want %v; %v", alarm, alarmed, err)
		}
		diff(t, got, want)
		for _, handle := range []*Store{s, again()} { // counts are shared, and survive a restart
			if got, err = handle.TillBucket(t.Context(), at); err != nil {
				t.Fatal(err)
			}
			diff(t, got, want)
		}
	}
	owed := func(now time.Time, n int) ratelimit.Bucket {
		return ratelimit.Bucket{FullAt: now.Add(time.Duration(n) * merchant.GuessRefill), TakenAt: now}
	}
	if got, err := s.TillBucket(t.Context(), till); err != nil || got != (ratelimit.Bucket{}) {
		t.Errorf("before any miss: %+v, %v", got, err)
	}
	count(till, noon, 1, owed(noon, 1), false)
	count(till, noon, 3, owed(noon, 4), false)
	count(elsewhere, noon, 1, owed(noon, 1), false)
	count(merchant.Till{AccountID: newID(), KeyID: till.KeyID, LocationID: till.LocationID}, noon, 1, owed(noon, 1), false)
	count(till, noon, merchant.GuessAlarm-6, owed(noon, merchant.GuessAlarm-2), false)
	count(elsewhere, noon, 1, owed(noon, 2), true) // the two hundredth of the key
	count(elsewhere, noon, 1, owed(noon, 3), false)
	chain := merchant.Till{AccountID: till.AccountID, KeyID: newID(), LocationID: newID(), LocationCount: 5}
	own, refill, _ := chain.Shares()
	count(chain, noon, 20, owed(noon, 20), false)
	count(own, noon, 2, ratelimit.Bucket{FullAt: noon.Add(2 * own.GuessRefill()), TakenAt: noon}, false)
	count(refill, noon, 3, ratelimit.Bucket{FullAt: noon.Add(45 * time.Minute), TakenAt: noon}, false)
	chain.LocationID = newID()
	count(chain, noon, 79, owed(noon, 79), false)
	beside, all, _ := chain.Shares()
	online := chain
	online.Shop = true // has its own count, and so have its shares
	ownOnline, allOnline, _ := online.Shares()
	for at, want := range map[merchant.Till]ratelimit.Bucket{beside: {}, ownOnline: {}, allOnline: {},
		all: {FullAt: noon.Add(45 * time.Minute), TakenAt: noon}} {
		if b, err := again().TillBucket(t.Context(), at); err != nil || b != want {
			t.Errorf("%+v: %+v, %v, want %+v", at, b, err, want)
		}
	}
	count(chain, noon, 1, owed(noon, 80), true) // the hundredth, and five locations have no more
	count(online, noon, 1, owed(noon, 1), false)
	chain.KeyID = newID()
	_, refill, _ = chain.Shares()
	count(refill, noon, 4, ratelimit.Bucket{FullAt: noon.Add(time.Hour), TakenAt: noon}, true) // all that is shared
	count(refill, noon, 1, ratelimit.Bucket{FullAt: noon.Add(75 * time.Minute), TakenAt: noon}, false)
	chain.KeyID = online.KeyID
	if b, err := s.TillBucket(t.Context(), chain); err != nil || b != owed(noon, 80) {
		t.Errorf("the till beside it: %+v, %v", b, err)
	}
	for n := range 10 { // new tills of an account of one location, twenty codes at each
		fresh := merchant.Till{AccountID: till.AccountID, KeyID: newID(), LocationID: newID(), LocationCount: 1, Fresh: 1}
		count(fresh, noon, 19, owed(noon, 19), false)
		count(fresh, noon, 1, owed(noon, 20), n == 9)
	}
	big := merchant.Till{AccountID: newID(), LocationID: newID(), LocationCount: 1, Fresh: 100}
	for n := range 61 { // of one of a hundred locations
		big.KeyID = newID()
		count(big, noon, 20, owed(noon, 20), n == 59)
	}
	later := noon.AddDate(0, 1, 0)
	count(till, later, 1, owed(later, 1), false)
	count(till, noon, 1, owed(noon, 1), false) // the clock was ahead
}

// testRewards redeems gifts at a till that has misses: each gives some back once.
func testRewards(t *testing.T, open opener) {
	s, _ := open(t)
	gifts := issue(t, s, newID(), 3)
	till := merchant.Till{AccountID: gifts[0].AccountID, KeyID: newID(), LocationID: newID()}
	redeemAt := func(g *gift.Gift, key, place guid.ID) {
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&g.Voucher)}}, func(st *ledger.State) ledger.Changes {
			v := st.Vouchers[ref(&g.Voucher)]
			after, e, err := v.Redeem(gift.Redeem{Context: gift.Context{EntryID: newID(), Now: noon,
				Actor: merchant.Actor{KeyID: key, LocationID: place}},
				LocationID: place, Amount: 1})
			if err != nil {
				t.Fatal(err)
			}
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
		})
	}
	rate := ratelimit.Rate{Burst: merchant.GuessBurst, Refill: merchant.GuessRefill}
	missing := func(want int) {
		t.Helper()
		b, err := s.TillBucket(t.Context(), till)
		if got := rate.Burst - rate.Left(b, noon); err != nil || got != want {
			t.Errorf("%d attempts are missing, %v, want %d", got, err, want)
		}
	}
	reward := func(g *gift.Gift, now time.Time) {
		t.Helper()
		if err := s.RewardTill(t.Context(), till, g.ID, now); err != nil {
			t.Fatal(err)
		}
	}
	before := dump(t, s)
	redeemAt(&gifts[0], till.KeyID, till.LocationID)
	reward(&gifts[0], noon)
	if after := dump(t, s); len(after["till_bucket"]) != len(before["till_bucket"]) {
		t.Error("a till without misses was written to")
	}
	if _, _, err := s.CountMisses(t.Context(), till, noon, 10); err != nil {
		t.Fatal(err)
	}
	reward(&gifts[0], noon)
	missing(7)
	redeemAt(&gifts[0], till.KeyID, till.LocationID)
	reward(&gifts[0], noon) // it was redeemed here before
	redeemAt(&gifts[1], newID(), till.LocationID)
	reward(&gifts[1], noon) // not by this key
	redeemAt(&gifts[1], till.KeyID, newID())
	reward(&gifts[1], noon) // not at this location
	reward(&gifts[2], noon) // not at all
	reward(&gift.Gift{Voucher: gift.Voucher{ID: newID()}}, noon)
	missing(7)
	redeemAt(&gifts[1], till.KeyID, till.LocationID)
	reward(&gifts[1], noon)
	missing(4)
	redeemAt(&gifts[2], till.KeyID, till.LocationID)
	if _, _, err := s.CountMisses(t.Context(), till, noon.AddDate(0, 0, 1), 20); err != nil {
		t.Fatal(err)
	}
	reward(&gifts[2], noon) // what a clock that was ahead counted is put right
	if b, err := s.TillBucket(t.Context(), till); err != nil || b != (ratelimit.Bucket{}) {
		t.Errorf("the bucket is %+v, %v", b, err)
	}
}

// testRewardsOfMany redeems gifts with a key of five locations: each gives back what is missing at its own, a quarter
// of one to the share that no other location takes, and nothing of what all locations share.
func testRewardsOfMany(t *testing.T, open opener) {
	s, _ := open(t)
	gifts := issue(t, s, newID(), 5)
	till := merchant.Till{AccountID: gifts[0].AccountID, KeyID: newID(), LocationID: newID(), LocationCount: 5}
	own, refill, _ := till.Shares()
	missing := func(at merchant.Till) (lasts time.Duration) {
		b, err := s.TillBucket(t.Context(), at)
		must(t, err)
		return max(0, b.FullAt.Sub(noon)) * 4 / at.GuessRefill()
	}
	for at, n := range map[merchant.Till]int{till: 8, own: 1, refill: 4} {
		_, _, err := s.CountMisses(t.Context(), at, noon, n)
		must(t, err)
	}
	for n := range gifts {
		g := &gifts[n]
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&g.Voucher)}}, func(st *ledger.State) ledger.Changes {
			after, e, err := st.Vouchers[ref(&g.Voucher)].Redeem(gift.Redeem{Context: gift.Context{EntryID: newID(), Now: noon,
				Actor: merchant.Actor{KeyID: till.KeyID, LocationID: till.LocationID}}, LocationID: till.LocationID, Amount: 1})
			must(t, err)
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
		})
		must(t, s.RewardTill(t.Context(), till, g.ID, noon))
		back := time.Duration(n + 1)
		if missing(till) != max(0, 8*4-12*back) || missing(own) != max(0, 4-back) || missing(refill) != 16 {
			t.Errorf("after %d: %d quarters are missing here, %d of its own, %d of what is shared", n+1, missing(till),
				missing(own), missing(refill))
		}
	}
}

// testParts: what became of a hold or a redemption is found in a long history, with nothing else.
func testParts(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 1)[0]
	v := g.Voucher
	change := func(rule func(gift.Context) (gift.Voucher, gift.Entry, error)) (e gift.Entry) {
		t.Helper()
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&v)}}, func(*ledger.State) ledger.Changes {
			after, made, err := rule(gift.Context{EntryID: newID(), Now: noon})
			must(t, err)
			v, e = after, made
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
		})
		return e
	}
	redeem := func() gift.Entry {
		return change(func(at gift.Context) (gift.Voucher, gift.Entry, error) {
			return v.Redeem(gift.Redeem{Context: at, LocationID: newID(), Amount: 1})
		})
	}
	first := redeem()
	for range 5 {
		redeem()
	}
	back := change(func(at gift.Context) (gift.Voucher, gift.Entry, error) {
		return v.Reverse(gift.Undoable{Entry: first}, gift.Reverse{Context: at, Caller: &merchant.Caller{}})
	})
	for _, c := range []struct {
		account, entry guid.ID
		want           []guid.ID
	}{
		{v.AccountID, first.ID, []guid.ID{first.ID, back.ID}}, {v.AccountID, back.ID, []guid.ID{back.ID}},
		{newID(), first.ID, nil}, {v.AccountID, newID(), nil},
	} {
		parts, err := s.Parts(t.Context(), c.account, c.entry)
		must(t, err)
		var got []guid.ID
		for _, e := range parts {
			got = append(got, e.ID)
		}
		diff(t, got, c.want)
	}
}

// testCounts adds to counts of a day: they add up, another day begins anew, and contacts are not kept in the clear.
func testCounts(t *testing.T, open opener) {
	s, again := open(t)
	account, key := newID(), newID()
	all := map[merchant.CountKey]merchant.Count{}
	for _, owner := range []guid.ID{account, key} {
		all[merchant.CountKey{AccountID: account, Kind: merchant.SentCount, Owner: owner}] = merchant.Count{Amount: 5,
			Gifts: 4, Messages: 3, Texts: 2}
		all[merchant.CountKey{AccountID: account, Kind: merchant.RedeemedCount, Owner: owner}] = merchant.Count{Amount: 9}
		all[merchant.CountKey{AccountID: account, Kind: merchant.ContactCount, Owner: owner,
			Contact: "ann@example.com"}] = merchant.Count{Messages: 7}
		all[merchant.CountKey{AccountID: account, Kind: merchant.KeptCount, Owner: owner}] = merchant.Count{Kept: 6}
	}
	other := merchant.CountKey{AccountID: newID(), Kind: merchant.SentCount, Owner: account}
	want := ledger.Want{Counts: append(slices.Collect(maps.Keys(all)), other)}
	add := func(handle *Store, day int) {
		t.Helper()
		runGroup(t, handle, want, func(*ledger.State) ledger.Changes {
			changes := ledger.Changes{Counts: map[merchant.CountKey]merchant.Count{}}
			for k, n := range all {
				n.Day = day
				changes.Counts[k] = n
			}
			return changes
		})
	}
	check := func(handle *Store, day, times int) {
		t.Helper()
		runGroup(t, handle, want, func(st *ledger.State) ledger.Changes {
			for k, n := range all {
				sum := merchant.Count{Day: day}
				for range times {
					sum = sum.Plus(n)
				}
				if got := st.Counts[k]; got != sum {
					t.Errorf("count %c is %+v, want %+v", k.Kind, got, sum)
				}
			}
			if n := st.Counts[other]; n.Gifts != 0 {
				t.Errorf("another account has %+v", n)
			}
			return ledger.Changes{}
		})
	}
	add(s, 20261122)
	add(s, 20261122)
	check(s, 20261122, 2)
	check(again(), 20261122, 2)
	add(s, 20261123)
	check(s, 20261123, 1)
	check(again(), 20261123, 1)
	add(s, 20261122) // the clock was ahead
	check(again(), 20261122, 1)
	for table, rows := range dump(t, s) {
		if text := fmt.Sprint(rows); strings.Contains(text, "ann@example.com") {
			t.Errorf("a contact stands in %s: %s", table, text)
		}
	}
	if n, err := s.ForgetCounts(t.Context(), account, 20261122, 100); n != 0 || err != nil {
		t.Errorf("%d counts of the day were forgotten, %v", n, err)
	}
	if n, err := s.ForgetCounts(t.Context(), account, 20261123, 1); n != 1 || err != nil {
		t.Errorf("%d counts were forgotten, %v, want 1", n, err)
	}
	if n, err := s.ForgetCounts(t.Context(), account, 20261123, 100); n != 1 || err != nil {
		t.Errorf("%d counts were forgotten, %v, want that of the other contact", n, err)
	}
	if rows := dump(t, s)["day_count"]; len(rows) != 7 { // with that of the other account
		t.Errorf("%d counts are left, want the 7 that are not of contacts", len(rows))
	}
}

// testLimitOverMidnight takes in turn on two instances for which it is not quite the same day.
func testLimitOverMidnight(t *testing.T, open opener) {
	s, again := open(t)
	midnight := time.Date(2026, 6, 2, 0, 0, 0, 0, time.UTC)
	var engines []*engine.Engine
	const half = time.Second / 2
	for handle, at := range map[*Store]time.Time{s: midnight.Add(half), again(): midnight.Add(-half)} {
		e := engine.Start(handle, engine.Options{Now: func() time.Time { return at }})
		defer e.Stop()
		engines = append(engines, e)
	}
	account := &merchant.Account{ID: newID(), Currency: dollars, Zone: time.UTC,
		Limits: merchant.Limits{RedeemedPerDay: 100}}
	taken := 0
	for n, g := range issue(t, s, account.ID, 6) {
		_, err := engines[n%2].Do(t.Context(), ledger.Call{AccountID: account.ID, Operation: operation.RedeemGift,
			Account: account, Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{Code: ledger.OK} }},
			&ledger.Redeem{VoucherID: g.ID, Redeem: gift.Redeem{Amount: 100, Account: account}})
		if err == nil {
			taken++
		} else if !errors.Is(err, refusal.RateLimited) {
			t.Fatal(err)
		}
	}
	if taken < 1 || taken > 2 {
		t.Errorf("the limit of a day was taken %d times within a second", taken)
	}
}

func testAnonymous(t *testing.T, open opener) {
	s, again := open(t)
	const network = "192.0.2.0/24"
	take := func(network string, now time.Time) bool {
		t.Helper()
		b, allowed, err := s.TakeAnonymous(t.Context(), network, now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := again().AnonymousBucket(t.Context(), network)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, got, b)
		return allowed
	}
	for n := range 12 {
		if allowed := take(network, noon); allowed != (n < merchant.AnonymousBurst) {
			t.Errorf("attempt %d is allowed: %v", n+1, allowed)
		}
	}
	if b, err := s.AnonymousBucket(t.Context(), "192.0.3.0/24"); err != nil || b != (ratelimit.Bucket{}) {
		t.Errorf("another network has %v, %v", b, err)
	}
	take("192.0.3.0/24", noon)
	if rows := dump(t, s)["anonymous_bucket"]; len(rows) != 2 {
		t.Errorf("%d buckets, want 2", len(rows))
	}
	take("192.0.4.0/24", noon.Add(time.Hour))
	if rows := dump(t, s)["anonymous_bucket"]; len(rows) != 1 {
		t.Errorf("%d buckets are kept when the old ones are long full, want 1", len(rows))
	}
}

func testTwoWriters(t *testing.T, open opener) {
	s, again := open(t)
	g := issue(t, s, newID(), 1)[0]
	const writers, each = 4, 25
	var workers sync.WaitGroup
	for range writers {
		handle := again()
		workers.Go(func() {
			for range each {
				if _, err := tryRedeem(t.Context(), handle, &g.Voucher, 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	got, err := s.Gift(t.Context(), g.AccountID, g.ID)
	if err != nil {
		t.Fatal(err)
	}
	if want := g.Balance - writers*each; got.Balance != want || got.Seq != 1+writers*each {
		t.Errorf("balance %d after %d entries, want %d after %d", got.Balance, got.Seq, want, 1+writers*each)
	}
}

// testOvertaken: while a group locks the voucher of a redemption, another one under the same key that had it locked
// commits. What is decided on, then, is the whole of that commit: who sees what was given back sees the record of it
// as well. So a repeat is never refused for what it did itself.
func testOvertaken(t *testing.T, open opener) {
	s, again := open(t)
	g := issue(t, s, newID(), 1)[0]
	taken := redeem(t, s, &g.Voucher, 50)
	of := ledger.Ref{AccountID: g.AccountID, ID: taken.ID}
	key := ledger.RequestKey{AccountID: g.AccountID, Operation: operation.ReverseRedemption, Key: "again"}
	want := ledger.Want{Requests: []ledger.RequestKey{key}, Undoable: []ledger.Ref{of}}
	elsewhere := again()
	ended := make(chan error, 1)
	begin := sync.OnceFunc(func() {
		go func() {
			ended <- elsewhere.Group(t.Context(), want, func(st *ledger.State) ledger.Changes {
				if back, known := st.Undoable[of].Reversed, st.Requests[key] != nil; back > 0 && !known {
					t.Errorf("the second group sees %d given back, and nothing of the request that did it", back)
				}
				return ledger.Changes{}
			})
		}()
		time.Sleep(500 * time.Millisecond) // it waits for the lock by then, or there is nothing to be seen
	})
	runGroup(t, s, want, func(st *ledger.State) ledger.Changes {
		begin()
		after, e, err := st.Vouchers[ref(&g.Voucher)].Reverse(*st.Undoable[of],
			gift.Reverse{Context: gift.Context{EntryID: newID(), Now: noon}, Caller: &merchant.Caller{}, Amount: 50})
		if err != nil {
			t.Error(err)
			return ledger.Changes{}
		}
		return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e},
			Requests: []ledger.Request{{RequestKey: key, EntryID: e.ID, At: noon,
				Answer: ledger.Answer{Code: ledger.OK, Body: []byte(`{"id":"` + e.ID.String() + `"}`)}}}}
	})
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func testVerify(t *testing.T, open opener) {
	s, _ := open(t)
	accounts := []guid.ID{newID(), newID()}
	var gifts []gift.Gift
	for _, a := range accounts {
		gifts = append(gifts, issue(t, s, a, 520)...) // more than a page
	}
	taken := redeem(t, s, &gifts[3].Voucher, 5)
	save(t, s, ledger.Changes{Requests: []ledger.Request{{EntryID: taken.ID, At: noon,
		Answer:     ledger.Answer{Code: ledger.OK, Body: []byte(taken.ID.String())},
		RequestKey: ledger.RequestKey{AccountID: accounts[0], Operation: operation.RedeemGift, Key: "k"}}}})
	n := 0
	for from, more := (ledger.Ref{}), true; more; {
		page, histories, err := s.Check(func(problem string) { t.Error(problem) }).Page(t.Context(), from, 500, 10)
		must(t, err)
		for _, v := range page {
			history := histories[v.ID]
			if n < len(gifts) && v.ID != gifts[n].ID {
				t.Errorf("voucher %d is out of order", n)
			}
			if len(history) != v.Seq || history[len(history)-1].Balance != v.Balance || history[0].VoucherID != v.ID {
				t.Errorf("voucher %d has a history of %d entries, want %d of its own", n, len(history), v.Seq)
			}
			n++
			from = ledger.Ref{AccountID: v.AccountID, ID: v.ID.Next()}
		}
		more = len(page) > 0
	}
	if n != len(gifts) {
		t.Errorf("%d vouchers on all pages, want %d", n, len(gifts))
	}
	diff(t, problems(t, s), map[string]int{})

	spoil(t, s,
		`UPDATE card SET secrets = (SELECT secrets FROM card WHERE voucher_id = $1) WHERE voucher_id = $2`,
		db.KeyOf(gifts[0].ID), db.KeyOf(gifts[1].ID))
	diff(t, problems(t, s), map[string]int{"codes and tokens, and what gifts are found by": 1})
	spoil(t, s, `DELETE FROM secret WHERE voucher_id = $1 AND kind = 'token'`, db.KeyOf(gifts[7].ID))
	spoil(t, s, `UPDATE request SET entry_id = $1 WHERE key = 'k'`, db.KeyOf(newID()))
	spoil(t, s, `UPDATE tally SET vouchers = vouchers + 1 WHERE account_id = $1`, db.KeyOf(accounts[1]))
	spoil(t, s, `UPDATE secret SET hash = $1 WHERE voucher_id = $2 AND kind = 'code'`, bytes.Repeat([]byte{1}, 33),
		db.KeyOf(gifts[900].ID))
	diff(t, problems(t, s), map[string]int{
		"codes and tokens, and what gifts are found by": 3, "idempotency records": 1,
		"what idempotency records say was done": 1,
		"the counts of gifts":                   1})
}

func spoil(t *testing.T, s *Store, query string, args ...any) {
	t.Helper()
	result, err := s.db.Writer.ExecContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%d rows were spoiled, %v, want 1", n, err)
	}
}

// problems counts what the checks find.
func problems(t *testing.T, s *Store) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, p := range s.CheckSince(nil, nil).Parts() {
		if err := p.Run(t.Context(), func(string) { found[p.Name]++ }, func(int64) {}); err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
	}
	return found
}

func testCountVouchers(t *testing.T, open opener) {
	s, _ := open(t)
	for _, want := range []int64{0, 3, 5} {
		if n, err := s.CountVouchers(t.Context()); err != nil || n != want {
			t.Errorf("%d gifts, %v, want %d", n, err, want)
		}
		gifts := issue(t, s, newID(), max(2, 3-int(want)))
		redeem(t, s, &gifts[0].Voucher, 0)
	}
}
