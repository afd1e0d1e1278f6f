package manage

import (
	"context"
	"testing"
	"testing/synctest"

	"boon.example/internal/guid"
)

// TestUploadsLeaveRoom: however long a dozen accounts keep all the files that they can have, the next account has its
// file be taken at once.
func TestUploadsLeaveRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		files := newImporting().files
		ctx, giveUp := context.WithCancel(t.Context())
		for account := byte(1); account <= 13; account++ {
			held := 0
			for range 10 {
				go func() {
					if done, err := files.Take(ctx, guid.ID{account}, guid.ID{}); err == nil {
						held++
						<-ctx.Done()
						done()
					}
				}()
				synctest.Wait()
			}
			if held == 0 || held > 4 {
				t.Errorf("account %d has %d files", account, held)
			}
		}
		giveUp()
		synctest.Wait()
	})
}
