package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/command/load"
	"boon.example/test/rig"
)

// shop makes orders over HTTP.
type shop struct {
	url, key string
	sale     string // members of a request
	client   *rig.Client
}

func newShop(service *child, key, storefront string) *shop {
	return &shop{"http://" + service.address + rig.SendGift, key, load.Sale("10000", storefront, "bench-order"),
		rig.NewClient(parallel, 0)}
}

// mix is what a stock is made of, over and over: of 100,000 gifts, 1,000 are sold alone, 9,000 by tens and 90,000 by
// thousands.
var mix = []struct{ calls, size int }{{1000, 1}, {900, 10}, {90, 1000}}

// fromThousands is the share of a stock of n gifts that is sold by thousands.
func fromThousands(n int) float64 {
	in := 0
	for left := n; left > 0; {
		for _, m := range mix {
			sold := min(m.calls*m.size, left)
			if left -= sold; m.size == 1000 {
				in += sold
			}
		}
	}
	return float64(in) / float64(n)
}

// parallel is how many orders of a stock are under way at once.
const parallel = 16

// stock makes n gifts in orders of mixed sizes, and hands on those of each order. Every order has an Idempotency-Key:
// one half of them keys that grow with time, the other half numbers as tills count them.
func (s *shop) stock(ctx context.Context, n int, made func([]load.Gift)) error {
	var mu sync.Mutex
	orders, done := 0, 0
	for left := n; left > 0; {
		for _, m := range mix {
			var sizes []int
			for range m.calls {
				if size := min(m.size, left); size > 0 {
					sizes, left = append(sizes, size), left-size
				}
			}
			err := inParallel(len(sizes), func(i int) error {
				gifts, err := s.orderSurely(ctx, sizes[i], stockKey(orders+i))
				mu.Lock()
				defer mu.Unlock()
				done += len(gifts)
				made(gifts)
				return err
			})
			if err != nil {
				return err
			}
			orders += len(sizes)
		}
		if done%200_000 == 0 {
			progress("%s gifts", thousands(done))
		}
	}
	return nil
}

// stockKey is the Idempotency-Key of the nth order of a stock.
func stockKey(n int) string {
	if n%2 == 0 {
		return uuid.Must(uuid.NewV7()).String()
	}
	return fmt.Sprintf("till-%04d-%06d", n/2%50, n/100)
}

// inParallel does n things, some of them at once, and gives what went wrong.
func inParallel(n int, do func(int) error) error {
	var all sync.WaitGroup
	next, failed := make(chan int), make([]error, n)
	for range min(n, parallel) {
		all.Go(func() {
			for i := range next {
				failed[i] = do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
	return errors.Join(failed...)
}

// orderSurely makes an order, again under its key when the machine has other work.
func (s *shop) orderSurely(ctx context.Context, n int, idempotencyKey string) (gifts []load.Gift, err error) {
	for range 240 { // two minutes: others, who come again at once, may be first many times
		if gifts, err = s.order(ctx, n, idempotencyKey); !errors.Is(err, errAway) {
			return gifts, err
		}
		time.Sleep(500 * time.Millisecond)
	}
	return nil, err
}

// errAway is an answer 503.
var errAway = errors.New("the service is away or overloaded")

// order makes so many printed gifts in one call, under an Idempotency-Key, "" none.
func (s *shop) order(ctx context.Context, n int, idempotencyKey string) ([]load.Gift, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answer, err := s.client.Post(s.url, s.key, idempotencyKey, s.body(n))
	switch {
	case err != nil:
		return nil, err
	case answer.Status == http.StatusServiceUnavailable:
		return nil, fmt.Errorf("%w: %.300s", errAway, answer.Body)
	case answer.Status != http.StatusCreated:
		return nil, fmt.Errorf("send-gift answered %d: %.300s", answer.Status, answer.Body)
	}
	var made struct {
		Gifts []struct {
			VoucherID   uuid.UUID `json:"voucherID"`
			VoucherCode uint64    `json:"voucherCode,string"`
		} `json:"gifts"`
	}
	err = json.Unmarshal(answer.Body, &made)
	gifts := make([]load.Gift, len(made.Gifts))
	for i, g := range made.Gifts {
		gifts[i] = load.Gift{ID: g.VoucherID, Code: g.VoucherCode}
	}
	return gifts, err
}

// body is a request for so many printed gifts.
func (s *shop) body(n int) string {
	const recipient = `{"recipientDescription":"Ana","message":"Enjoy!"}`
	body := "{" + s.sale + `,"recipients":[` + strings.Repeat(recipient+",", n-1) + recipient + "]}"
	return strings.Replace(body, `,"recipientDescription":"Ana","message":"Enjoy!"`, "", 1) // theirs, not the gift's
}
