package expiry_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/jobs"
	"boon.example/internal/jobs/expiry"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// BenchmarkTell tells of how many gifts that expired at one midnight gift.expired is told in a second, beside as many
// gift.expiring and with all pauses, as in a service that has nothing else to do:
//
//	go test -run none -bench Tell ./internal/jobs/expiry
func BenchmarkTell(b *testing.B) {
	for name, database := range map[string]func(testing.TB) string{
		"sqlite":   func(testing.TB) string { return "" },
		"postgres": func(t testing.TB) string { pgtest.Need(t); return pgtest.Empty(t) },
	} {
		b.Run(name, func(b *testing.B) { tell(b, database(b)) })
	}
}

func tell(b *testing.B, database string) {
	s, err := store.Open(b.Context(), store.Options{Dir: b.TempDir(), Database: database})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	account := guid.ID(uuid.New())
	const gifts = 2_000
	var told, seconds float64
	for b.Loop() {
		for range gifts / 100 {
			make100(b, s, account, time.Now().Add(-time.Hour))
		}
		n := &expiry.Notifier{Store: s, Directory: func() *merchant.Directory {
			return &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account: {ID: account}}}
		}}
		batch, all := n.Batches(), make(chan bool)
		runner := jobs.New(b.Context(), slog.New(slog.NewTextHandler(os.Stderr, nil)), prometheus.NewRegistry())
		begun := time.Now()
		runner.Start(jobs.Job{Name: "tell", Every: time.Hour, Pause: expiry.Pause,
			Batch: func(ctx context.Context) (int, bool, error) {
				n, more, err := batch(ctx)
				if !more {
					close(all)
				}
				return n, more, err
			}})
		<-all
		seconds += time.Since(begun).Seconds()
		runner.Stop()
		told += gifts
	}
	b.ReportMetric(told/seconds, "gifts/s")
	b.ReportMetric(0, "ns/op")
}

// make100 makes gifts that are valid until an instant.
func make100(b *testing.B, s *store.Store, account guid.ID, until time.Time) {
	b.Helper()
	var c ledger.Changes
	for n := range 100 {
		code, err := codes.NewVoucherCode(rand.Reader)
		if err != nil {
			b.Fatal(err)
		}
		token, err := codes.NewToken(rand.Reader)
		if err != nil {
			b.Fatal(err)
		}
		g, e := gift.Gift{
			Voucher: gift.Voucher{ID: guid.ID(uuid.New()), AccountID: account, OrderID: guid.ID(uuid.New()),
				ProgramID: merchant.BusinessProgram.ID, Currency: money.Currency{Code: "USD", Decimals: 2}, Funded: 100,
				Balance:   100,
				CreatedAt: until.AddDate(0, 0, -40), ValidUntil: until.UTC()},
			Card: gift.Card{Code: code, Token: token, Sender: fmt.Sprint("Ann ", n), Method: contact.Printed,
				DeliveryZone: "UTC"},
		}.Begin(gift.Context{EntryID: guid.ID(uuid.Must(uuid.NewV7())), Now: time.Now()})
		c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
	}
	if err := s.Group(b.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes { return c }); err != nil {
		b.Fatal(err)
	}
}
