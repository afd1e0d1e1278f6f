package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
)

// longAnswer is an answer of so many bytes, of which a part can be packed.
func longAnswer(size int) []byte {
	var b bytes.Buffer
	for b.Len() < size {
		fmt.Fprintf(&b, `{"voucherCode":"%012d","terms":"One per guest."},`, rand.Int64N(1e12))
	}
	return b.Bytes()[:size]
}

func testLongAnswers(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	places := make([]guid.ID, 3000)
	for i := range places {
		places[i] = newID()
	}
	record := func(operation operation.Name, key string, size int, places []guid.ID) ledger.Request {
		return ledger.Request{RequestKey: ledger.RequestKey{AccountID: account, Operation: operation, Key: key}, At: noon,
			Answer: ledger.Answer{Code: refusal.InsufficientBalance, Body: longAnswer(size)}, Locations: places}
	}
	long := []ledger.Request{
		record(operation.SendGift, "order", 8<<20, places[:1]),
		record(operation.RedeemGift, "order", 4000, places[:2]),
		record(operation.CancelGift, "everywhere", 2, places),
		record(operation.ReverseRedemption, strings.Repeat("k", 255), 600, places[:2]),
	}
	short := record(operation.RedeemGift, "short", 500, places[:1])
	save(t, s, ledger.Changes{Requests: append([]ledger.Request{short}, long...)})

	for _, want := range append(long, short) {
		found, err := s.Requests(t.Context(), account, want.Operation, want.Key)
		if err != nil || len(found) != 1 {
			t.Fatalf("%d records, %v", len(found), err)
		}
		diff(t, found[0].Locations, want.Locations)
		var known *ledger.Request // by who decides last
		runGroup(t, s, ledger.Want{Requests: []ledger.RequestKey{want.RequestKey, short.RequestKey}},
			func(st *ledger.State) ledger.Changes {
				known = st.Requests[want.RequestKey]
				return ledger.Changes{}
			})
		diff(t, known, &found[0])
		got := found[0].Answer
		if want.Key != short.Key {
			if got.Body != nil || got.Long != (ledger.Long{RequestKey: want.RequestKey, Size: len(want.Answer.Body)}) {
				t.Fatalf("%.9s: the answer is %d bytes, and elsewhere %+v", want.Key, len(got.Body), got.Long)
			}
			if got.Body, err = s.LongAnswer(t.Context(), got.Long); err != nil {
				t.Fatal(err)
			}
		}
		if got.Code != want.Answer.Code || !bytes.Equal(got.Body, want.Answer.Body) {
			t.Errorf("%.9s: another answer came back", want.Key)
		}
	}
	if _, err := s.ForgetRequests(t.Context(), account, noon.Add(time.Second), 100); err != nil {
		t.Fatal(err)
	}
	for _, r := range long {
		_, err := s.LongAnswer(t.Context(), ledger.Long{RequestKey: r.RequestKey, Size: len(r.Answer.Body)})
		if kept := r.Operation == operation.RedeemGift || r.Operation == operation.ReverseRedemption; kept != (err == nil) {
			t.Errorf("the answer to %s is kept: %v; %v", r.Operation, !kept, err)
		}
	}
}

func testVerifyLongAnswers(t *testing.T, open opener) {
	s, _ := open(t)
	var all []ledger.Request
	for _, operation := range []operation.Name{operation.SendGift, operation.CancelGift, operation.ResendGift} {
		all = append(all, ledger.Request{RequestKey: ledger.RequestKey{AccountID: newID(), Operation: operation, Key: "k"},
			At:     noon,
			Answer: ledger.Answer{Code: ledger.Created, Body: longAnswer(5000)}})
	}
	save(t, s, ledger.Changes{Requests: all})
	diff(t, problems(t, s), map[string]int{})
	spoil(t, s, `UPDATE answer SET body = (SELECT b.body FROM answer AS b WHERE b.operation = 'cancel-gift') WHERE operation = 'send-gift'`)
	spoil(t, s, `DELETE FROM answer WHERE operation = 'resend-gift'`)
	diff(t, problems(t, s), map[string]int{"what idempotency records say was done": 2})
	if _, err := s.LongAnswer(t.Context(), ledger.Long{RequestKey: all[0].RequestKey, Size: 5000}); err == nil {
		t.Error("the answer of another request was given")
	}
}

// TestRecordsStayOnTheirPages: however long the answers, the locations and the keys of records are, a row fits on its
// page. SQLite reads all of a row that does not, each time a look-up passes it on its way to another.
func TestRecordsStayOnTheirPages(t *testing.T) {
	t.Parallel()
	s, _ := openSQLiteForTest(t)
	account, n := newID(), 0
	var all []ledger.Request
	for _, key := range []int{1, 36, 255, 456} {
		for _, body := range []int{0, 2, 300, 550, 800, 821, 850, 1000, 5000, 2 << 20} {
			for _, places := range []int{0, 1, 10, 3000} {
				for _, operation := range []operation.Name{operation.SendGift, operation.RedeemGift, operation.ReverseRedemption} {
					n++
					all = append(all, ledger.Request{RequestKey: ledger.RequestKey{AccountID: account, Operation: operation,
						Key: fmt.Sprintf("%0*d", key, n)}, At: noon, EntryID: newID(), Spent: true, Locations: make([]guid.ID, places),
						Answer: ledger.Answer{Code: refusal.MissingOrInvalidGiftProgram, Body: make([]byte, body)}})
				}
			}
		}
	}
	for i := range all {
		if len(all[i].Key) < len(fmt.Sprint(n)) {
			all[i].Key = fmt.Sprint(i)
		}
	}
	save(t, s, ledger.Changes{Requests: all})
	// Of a row, what is longer than 1,002 bytes goes on to pages of its own; the headers take less than 40.
	var longest int
	must(t, s.db.Readers.QueryRow(`SELECT max(length(account_id) + length(CAST(key AS BLOB)) + length(operation) + length(fingerprint) + length(code) + length(answer)
		+ length(entry_id) + length(locations) + 7 + 8 + 4 + 2) FROM request`).Scan(&longest))
	if most := 1002 - 40; longest > most {
		t.Errorf("a row has %d bytes, more than %d", longest, most)
	}
}
