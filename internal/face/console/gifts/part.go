// Package gifts is where staff find gifts, see what happened to one, do something to it, and send new ones.
package gifts

import (
	"context"
	"embed"
	"slices"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
)

// Store is what the pages about gifts need of a database.
type Store interface {
	ListStore
	// Gift finds a gift of an account; refusal.NotFound where there is none.
	Gift(ctx context.Context, account, voucher guid.ID) (gift.Gift, error)
	// List gives a page of gifts, the newest first.
	List(context.Context, gift.Filter) (gift.Page, error)
	// History gives at most limit entries of a gift after the one numbered seq, the oldest first.
	History(ctx context.Context, account, voucher guid.ID, seq, limit int) ([]gift.Entry, error)
}

//go:embed templates
var templates embed.FS

// pages are the pages of this part.
type pages struct {
	Store
	Sample Sample
	sends  bool // the service sends e-mail or SMS; else gifts are printed, but those of a test account
}

// Part is the pages about gifts. sends tells whether the service sends e-mail or SMS.
func Part(store Store, sample Sample, sends bool) desk.Part {
	f := &pages{store, sample, sends}
	return desk.Part{Begins: true, Pages: slices.Concat(f.giftPages(), f.actionPages(), f.sendPages(),
		f.manyPages()), Templates: templates}
}
