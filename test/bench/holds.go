package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	"boon.example/internal/command/load"
	"boon.example/test/rig"
)

// holds are amounts that are held to be captured or released, each once.
type holds struct {
	trial *trial
	gifts []load.Gift // each has one, as long as there are enough
	ids   []string
	made  atomic.Int64 // of all measurements, each of another gift than the one before
	used  atomic.Int64
}

// next is the next of them. Where all are used, the calls fail, and with them the measurement.
func (h *holds) next() string {
	if n := h.used.Add(1) - 1; n < int64(len(h.ids)) {
		return h.ids[n]
	}
	return ""
}

// make holds as many amounts as a service can capture or release in a measurement, half as many again. What the
// measurement before left open counts: else gifts would gather holds, and each call would read and write them all.
func (h *holds) make() error {
	const perSecond = 15_000
	d := h.trial.options.duration
	left := h.ids[min(h.used.Swap(0), int64(len(h.ids))):]
	h.ids = make([]string, max(len(left), int((d+d/5).Seconds()*perSecond)))
	copy(h.ids, left)
	client := rig.NewClient(parallel, 0)
	defer client.Close()
	return inParallel(len(h.ids)-len(left), func(n int) error {
		n += len(left)
		g := h.gifts[int(h.made.Add(1))%len(h.gifts)]
		a, err := client.Post("http://"+h.trial.service.address+rig.Hold, key, "",
			fmt.Sprintf(`{"voucherID":%q,"amount":0.01,"expiresInSeconds":3600}`, g.ID))
		if err != nil {
			return err
		}
		var hold struct{ HoldID string }
		if err = json.Unmarshal(a.Body, &hold); err != nil || a.Status != http.StatusOK {
			return fmt.Errorf("hold-gift answered %d: %.300s", a.Status, a.Body)
		}
		h.ids[n] = hold.HoldID
		return nil
	})
}
