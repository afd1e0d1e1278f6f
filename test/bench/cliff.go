package main

import (
	"errors"

	"github.com/google/uuid"

	"boon.example/internal/command/load"
)

// cliff redeems under keys that grow with time in a store whose gifts came in twenty orders of a thousand: once the
// orders had no Idempotency-Key, once they had one. What is kept of an order must not slow down what looks for
// another key.
func (h *trial) cliff() error {
	var rates [2]float64
	for round := range h.options.repeat {
		for i, keyed := range []bool{false, true} {
			rate, err := h.afterOrders(keyed)
			if err != nil {
				return err
			}
			progress("cliff %d: keyed %v: %.0f redemptions/s", round, keyed, rate)
			rates[i] += rate / float64(h.options.repeat)
		}
	}
	h.report.note("**redeem after twenty orders of 1,000**: %s calls/s where the orders had keys, %s where they had "+
		"none; **%.2f of it**.",
		thousands(int(rates[1])), thousands(int(rates[0])), rates[1]/rates[0])
	return nil
}

// afterOrders is how many redemptions a second there are in a new store after twenty orders.
func (h *trial) afterOrders(keyed bool) (rate float64, err error) {
	beside := &trial{ctx: h.ctx, options: h.options, name: h.name}
	if beside.place, err = newPlace(h.options.stock); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, beside.close()) }()
	if err = beside.place.start(h.name); err != nil {
		return 0, err
	}
	if err = beside.place.setUp(h.ctx); err != nil {
		return 0, err
	}
	if beside.service, err = beside.place.serve(); err != nil {
		return 0, err
	}
	if beside.target, err = load.NewTarget("http://"+beside.service.address, key); err != nil {
		return 0, err
	}
	shop := newShop(beside.service, key, storefront)
	for range 20 {
		k := ""
		if keyed {
			k = uuid.Must(uuid.NewV7()).String()
		}
		gifts, err := shop.order(h.ctx, 1000, k)
		if err != nil {
			return 0, err
		}
		beside.gifts = append(beside.gifts, gifts...)
	}
	redeem := beside.target.Redeem(beside.asked(beside.gifts))
	run, err := load.Start(h.ctx, load.Plan{Target: beside.target, Next: redeem, Connections: 64,
		Duration: h.options.duration})
	if err != nil {
		return 0, err
	}
	run.Wait()
	return float64(run.Stats().OK.Count()) / run.Took().Seconds(), failure(run.Stats())
}
