package server

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"boon.example/internal/jobs"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store"
)

const (
	// sumEvery is about how often what gifts hold is summed up. Where the statement takes long, it comes so much more
	// rarely that it takes a fiftieth of the time.
	sumEvery = time.Minute
	sumShare = 50
	// mostSums are told of one by one, each in three series; the smaller ones together, by currency.
	mostSums = 500
)

// values are the gauges of what gifts hold, for whoever runs the business: of all accounts but test accounts.
type values struct {
	read      func(context.Context, time.Time) ([]store.Value, error)
	directory func() *merchant.Directory
	next      time.Time // when they may be read again; the job's own
	seen      atomic.Pointer[[]sum]

	issued, redeemed, outstanding *prometheus.Desc
}

// sum is what is told of the gifts of one account, or of many small ones.
type sum struct {
	account, name, currency, kind string
	issued, redeemed, outstanding float64
}

// watchValues adds the gauges, and gives the job that reads them.
func (a *app) watchValues() jobs.Job {
	desc := func(what, help string) *prometheus.Desc {
		return prometheus.NewDesc("boon_gifts_"+what+"_value", help+" In units of the currency; test accounts are left out. "+
			"Every instance tells the same.", []string{"account", "name", "currency", "kind"}, nil)
	}
	v := &values{read: a.store.Values, directory: a.directory.Load,
		issued:      desc("issued", "What was put into gifts, less what of that was taken back."),
		redeemed:    desc("redeemed", "What was taken out of gifts, in cash too, less what was given back."),
		outstanding: desc("outstanding", "What can still be taken out of gifts that are neither cancelled nor expired.")}
	a.metrics.registry.MustRegister(v)
	return jobs.Job{Name: "sum-gifts", Every: sumEvery, Batch: jobs.Whole(v.sum),
		Failed: "what gifts hold could not be summed up"}
}

// sum reads what gifts hold, if enough time has passed.
func (v *values) sum(ctx context.Context) error {
	now := time.Now()
	if now.Before(v.next) {
		return nil
	}
	read, err := v.read(ctx, now)
	v.next = time.Now().Add(sumShare * time.Since(now))
	if err == nil {
		sums := sumsOf(read, v.directory(), mostSums)
		v.seen.Store(&sums)
	}
	return err
}

// sumsOf tells of the largest sums one by one, at most so many, and of the others together.
func sumsOf(read []store.Value, d *merchant.Directory, most int) (sums []sum) {
	slices.SortFunc(read, func(a, b store.Value) int {
		return cmp.Or(cmp.Compare(b.Issued, a.Issued), slices.Compare(a.AccountID[:], b.AccountID[:]))
	})
	others := map[sum]int{}
	for _, v := range read {
		account := d.Accounts[v.AccountID]
		if account == nil || account.Test {
			continue
		}
		s := sum{account: v.AccountID.String(), name: account.Name, currency: v.Currency.Code, kind: "purchased"}
		if v.Promotional {
			s.kind = "promotional"
		}
		if len(sums) >= most {
			s.account, s.name = "", "all others"
		}
		at, known := others[s]
		if !known {
			at = len(sums)
			others[s], sums = at, append(sums, s)
		}
		sums[at].issued += units(v.Currency, v.Issued)
		sums[at].redeemed += units(v.Currency, v.Redeemed)
		sums[at].outstanding += units(v.Currency, v.Outstanding)
	}
	return sums
}

func units(c money.Currency, amount money.Amount) float64 {
	return float64(amount) / math.Pow10(c.Decimals)
}

// Describe implements prometheus.Collector.
func (v *values) Describe(to chan<- *prometheus.Desc) {
	to <- v.issued
	to <- v.redeemed
	to <- v.outstanding
}

// Collect implements prometheus.Collector. Until the sums were read once there are none.
func (v *values) Collect(to chan<- prometheus.Metric) {
	seen := v.seen.Load()
	if seen == nil {
		return
	}
	for _, s := range *seen {
		gauge := func(d *prometheus.Desc, is float64) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, is, s.account, s.name, s.currency, s.kind)
		}
		gauge(v.issued, s.issued)
		gauge(v.redeemed, s.redeemed)
		gauge(v.outstanding, s.outstanding)
	}
}
