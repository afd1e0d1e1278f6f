package db

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPartsAreSmallBesideMuch: what is copied back at once is little beside work that writes much, and no longer.
func TestPartsAreSmallBesideMuch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c checkpointer
		for _, step := range []struct {
			much bool
			then time.Duration
			want int
		}{{false, 0, copyAt}, {true, 0, smallAt}, {false, smallFor * 3 / 4, smallAt}, {true, smallFor * 3 / 4, smallAt},
			{false, smallFor, copyAt}} {
			if step.much {
				c.keepSmall()
			}
			time.Sleep(step.then)
			if pages, pause := c.part(); pages != step.want || (pause == smallPause) != (pages == smallAt) {
				t.Errorf("%+v: %d pages, a pause of %s", step, pages, pause)
			}
		}
	})
}
