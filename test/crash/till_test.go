package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// worth is what every gift is sold for, in cents.
const worth = 1_000_000

// tills are clients that redeem one cent at a time and never give up: an unanswered call is repeated with the same key, at any of the
// instances, until somebody says what became of it. Every call is recorded.
type tills struct {
	urls  []string // of the instances
	gifts []string
	hot   int           // one call in so many takes from the first gift
	pause time.Duration // of a writer between two calls
	// strict tills take nothing for an answer but a success, 503, or a connection that was cut.
	strict bool

	mu      sync.Mutex
	history []porcupine.Operation
	repeats int
	slowest time.Duration // until a call was answered, or cut off
}

// taken is what a call was answered: the redemption, and the balance after it in cents.
type taken struct {
	id      string
	balance int
}

// work keeps writers busy until stop is closed and their last call is answered.
func (l *tills) work(t *testing.T, writers int, stop <-chan struct{}) (wait func()) {
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if !l.redeem(t, w, fmt.Sprintf("till-%d-%d", w, n)) {
					return
				}
				time.Sleep(l.pause)
			}
		})
	}
	return wg.Wait
}

// redeem makes one call and sees it through.
func (l *tills) redeem(t *testing.T, writer int, key string) bool {
	gift := rand.IntN(len(l.gifts))
	if l.hot > 0 && rand.IntN(l.hot) == 0 {
		gift = 0
	}
	body := fmt.Sprintf(`{"voucherID":%q,"amount":0.01}`, l.gifts[gift])
	begun := time.Now()
	for try := 0; time.Since(begun) < 2*time.Minute; try++ {
		asked := time.Now()
		answer, err := redeemOnce(l.urls[rand.IntN(len(l.urls))], key, body)
		l.mu.Lock()
		l.slowest = max(l.slowest, time.Since(asked))
		l.mu.Unlock()
		if err != nil {
			if e, ok := errors.AsType[*refusal](err); l.strict && ok && e.status != http.StatusServiceUnavailable {
				t.Errorf("%s was refused: %v", key, err)
			}
			time.Sleep(time.Duration(5+rand.IntN(20)) * time.Millisecond)
			continue
		}
		l.record(writer, gift, answer, begun)
		l.mu.Lock()
		l.repeats += try
		l.mu.Unlock()
		return true
	}
	t.Errorf("nobody told within two minutes what became of %s", key)
	return false
}

// record notes what was answered to a call that began then.
func (l *tills) record(writer, gift int, answer taken, begun time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history = append(l.history, porcupine.Operation{
		ClientId: writer, Input: gift, Output: answer, Call: begun.UnixNano(), Return: time.Now().UnixNano(),
	})
}

// refusal is an answer that is no success.
type refusal struct {
	status int
	answer []byte
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.status, r.answer) }

// redeemOnce asks once. An error means that nobody knows what became of it, and that the call may be repeated.
func redeemOnce(url, key, body string) (taken, error) {
	status, answer, err := post(url, "/api/integration/redemption/redeem-gift", key, body)
	if err != nil {
		return taken{}, err
	}
	if status != http.StatusOK {
		return taken{}, &refusal{status, answer}
	}
	var redeemed struct {
		RedemptionID   string
		CurrentBalance json.Number
	}
	if err := json.Unmarshal(answer, &redeemed); err != nil {
		return taken{}, err
	}
	cents, err := strconv.Atoi(strings.Replace(string(redeemed.CurrentBalance), ".", "", 1))
	return taken{redeemed.RedemptionID, cents}, err
}

// aGift is what the history of one gift must be explained by: each redemption takes one cent off the balance that the one before
// it left.
var aGift = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byGift := map[int][]porcupine.Operation{}
		for _, op := range history {
			byGift[op.Input.(int)] = append(byGift[op.Input.(int)], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byGift {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return worth },
	Step: func(state, _, output any) (bool, any) {
		after := output.(taken).balance
		return after == state.(int)-1, after
	},
}

// check holds what the service says of its gifts against what it answered: each acknowledged redemption there, each once, none
// besides, the balances fallen by just that, and every history linearizable. It counts those that are missing and those that are
// there and should not be: as every call was answered in the end, they are calls that took twice.
func (l *tills) check(t *testing.T, url string) (lost, doubled int) {
	t.Helper()
	found := map[string]int{}
	for _, id := range l.gifts {
		redemptions := historyOf(t, url, id)
		for _, r := range redemptions {
			found[r]++
		}
		var gift struct{ CurrentBalance json.Number }
		get(t, url, "/api/integration/gifting/gifts/"+id, &gift)
		left := worth - len(redemptions)
		if want := fmt.Sprintf("%d.%02d", left/100, left%100); string(gift.CurrentBalance) != want {
			t.Errorf("gift %s: balance %s after %d redemptions of 0.01, want %s", id, gift.CurrentBalance, len(redemptions), want)
		}
	}
	there := 0
	for _, n := range found {
		there += n
	}
	for _, op := range l.history {
		id := op.Output.(taken).id
		if found[id] != 1 {
			t.Errorf("redemption %s was acknowledged and is there %d times", id, found[id])
		}
		if found[id] == 0 {
			lost++
		}
	}
	doubled = there - (len(l.history) - lost)
	if doubled != 0 {
		t.Errorf("%d redemptions are there, %d were acknowledged and %d of them are lost", there, len(l.history), lost)
	}
	if result := porcupine.CheckOperationsTimeout(aGift, l.history, time.Minute); result != porcupine.Ok {
		t.Errorf("the history of %d calls is not linearizable: %s", len(l.history), result)
	}
	return lost, doubled
}

// historyOf lists the redemptions in the history of a gift.
func historyOf(t *testing.T, url, gift string) (redemptions []string) {
	t.Helper()
	for next := ""; ; {
		var page struct {
			Entries    []struct{ Kind, RedemptionID string }
			NextCursor string
		}
		get(t, url, "/api/integration/gifting/gifts/"+gift+"/history?limit=200"+next, &page)
		for _, e := range page.Entries {
			if e.Kind == "REDEMPTION" {
				redemptions = append(redemptions, e.RedemptionID)
			}
		}
		if page.NextCursor == "" {
			return redemptions
		}
		next = "&cursor=" + page.NextCursor
	}
}

// sendBody asks for n gifts.
func sendBody(n int) string {
	return fmt.Sprintf(`{"monetaryGift":{"value":%d,"deliveryMethodID":3},
		"recipients":[{}%s],"paymentMethodID":2,"externalTransactionReferenceNumber":"r","externalTransactionCustomerFirstName":"A",
		"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com",
		"externalStorefrontID":"0199a000-0000-7000-8000-000000000003"}`, worth/100, strings.Repeat(",{}", n-1))
}

// sell makes n gifts in one call.
func sell(t *testing.T, url string, n int) (ids []string) {
	t.Helper()
	status, answer, err := post(url, "/api/integration/gifting/send-gift", "", sendBody(n))
	var order struct{ Gifts []struct{ VoucherID string } }
	if err != nil || status != http.StatusCreated || json.Unmarshal(answer, &order) != nil {
		t.Fatalf("send-gift: %d %s %v", status, answer, err)
	}
	for _, g := range order.Gifts {
		ids = append(ids, g.VoucherID)
	}
	return ids
}

var client = &http.Client{Timeout: 6 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func post(url, path, idempotency, body string) (int, []byte, error) {
	req, err := http.NewRequest(http.MethodPost, url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if idempotency != "" {
		req.Header.Set("Idempotency-Key", idempotency)
	}
	return do(req)
}

func do(req *http.Request) (int, []byte, error) {
	req.Header.Set("Authorization", key)
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

func get(t *testing.T, url, path string, into any) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	status, answer, err := do(req)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET %s: %d %s %v", path, status, answer, err)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatal(err)
	}
}
