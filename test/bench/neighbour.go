package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/command/load"
	"boon.example/internal/refusal"
)

// What the neighbour part does.
const (
	tillRate   = 200         // redemptions a second
	tillTime   = time.Minute // so long that some orders are done meanwhile
	bulkOrders = 1000        // gifts in an order
)

// neighbour compares redemptions at a steady, low rate on an idle service with the same while another merchant's
// senders make one order of a thousand after the other.
func (h *trial) neighbour() error {
	senders := []int{0, 2, 4}
	p50, p99, made := map[int][]float64{}, map[int][]float64{}, map[int][]float64{}
	for round := range h.options.repeat {
		progress("%s: neighbour, %d of %d", h.title(), round+1, h.options.repeat)
		for _, n := range senders {
			tills, gifts, err := h.besideSenders(n)
			if err != nil {
				return fmt.Errorf("%d senders: %w", n, err)
			}
			p50[n], p99[n] = append(p50[n], ms(tills.OK.Quantile(0.5))), append(p99[n], ms(tills.OK.Quantile(0.99)))
			made[n] = append(made[n], gifts)
		}
	}
	figure := func(all []float64) float64 { return median(all, func(f float64) float64 { return f }) }
	worst, told := 0.0, ""
	for _, n := range senders[1:] {
		times := figure(p99[n]) / figure(p99[0])
		worst = max(worst, times)
		told += fmt.Sprintf("; %d senders (%.0f gifts/s): p50 %.2f ms, p99 %.2f ms, **%.1f times** idle",
			n, figure(made[n]), figure(p50[n]), figure(p99[n]), times)
	}
	h.report.note("**tills beside a neighbour's orders of 1,000**: idle p50 %.2f ms, p99 %.2f ms%s.",
		figure(p50[0]), figure(p99[0]), told)
	if most := h.options.neighbour; most > 0 && worst > most {
		return fmt.Errorf("%s: beside a neighbour's orders the p99 of redemptions is %.1f times that of an idle service, "+
			"and %.1f are allowed", h.title(), worst, most)
	}
	return nil
}

// besideSenders measures the tills while so many senders are busy, and the gifts a second that these make meanwhile.
func (h *trial) besideSenders(senders int) (_ *load.Stats, gifts float64, err error) {
	tills := load.Plan{Target: h.target, Next: h.target.Redeem(h.asked(h.gifts)), Connections: 16, Duration: tillTime,
		Rate: tillRate}
	if senders == 0 {
		s, err := h.during(nil, tills)
		return s, 0, err
	}
	target, err := load.NewTarget("http://"+h.service.address, neighbourKey)
	if err != nil {
		return nil, 0, err
	}
	body := newShop(h.service, neighbourKey, neighbourStorefront).body(bulkOrders)
	run, err := load.Start(h.ctx, tills)
	if err != nil {
		return nil, 0, err
	}
	var answered atomic.Int64
	time.Sleep(100 * time.Millisecond) // the tills are there before the orders
	orders, err := load.Start(h.ctx, load.Plan{Target: target, Connections: senders,
		Duration: tillTime - 100*time.Millisecond,
		Next:     target.Order(body, func() uuid.UUID { return uuid.Must(uuid.NewV7()) }),
		Each: func(e load.Event) {
			if e.Status == 201 && time.Since(run.Begun()) < tillTime {
				answered.Add(bulkOrders)
			}
		}})
	if err != nil {
		return nil, 0, err
	}
	run.Wait()
	s := run.Stats()
	orders.Wait()
	refused := orders.Stats().Failures()
	delete(refused, string(refusal.Unavailable)) // orders that waited for too long
	if err = failure(s); err == nil && len(refused) > 0 {
		err = fmt.Errorf("orders failed: %v", refused)
	}
	return s, float64(answered.Load()) / tillTime.Seconds(), err
}
