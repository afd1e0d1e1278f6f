package server

import (
	"context"
	"path/filepath"
)

// watchRoom tells once that the disk of the database is full, and once that there is room again.
func (a *app) watchRoom() func(context.Context) error {
	a.metrics.gauge("boon_store_full", "1 while the disk of the database has no room: nothing can be written, and gifts "+
		"can be looked at.", func() float64 {
		if a.store.Full() {
			return 1
		}
		return 0
	})
	where := a.store.Place()
	if a.Database == "" {
		where = filepath.Dir(where)
	}
	told := false
	return func(context.Context) error {
		full := a.store.Full()
		switch {
		case full && !told:
			a.Logger.Error("THE DISK IS FULL: nothing can be written, and gifts can still be looked at. Make room, and it "+
				"goes on by itself", "folder", where)
		case !full && told:
			a.Logger.Info("there is room on the disk again", "folder", where)
		}
		told = full
		return nil
	}
}
