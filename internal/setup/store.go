// Package setup applies set-up files, and makes and revokes API keys.
//
// Package document reads a file, and tells everything that is wrong with it at once, each problem with its line. To
// apply a file is to compare it with the set-up there is, by a pure function, inside the transaction that saves the
// difference. A key's text leaves this package once, in the report of its making; what is
// stored is its hash.
//
// It knows no SQL and no command line.
package setup

import (
	"context"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// Store is what the set-up needs of a database.
type Store interface {
	// Directory reads the whole set-up.
	Directory(ctx context.Context) (*merchant.Directory, error)
	// Configure changes the set-up in one transaction: it hands the current one to change and saves what it returns, all
	// or nothing. A running server sees it within 2 seconds. change may run again; when it fails or returns no change,
	// nothing is written.
	Configure(ctx context.Context, change func(current *merchant.Directory, uses Uses) (Changes, error)) error
	// EventsEnd is the place after the newest event of an account; one that is not there has none.
	EventsEnd(ctx context.Context, account guid.ID) (merchant.EventPlace, error)
}

// Uses and Changes belong to the domain, so that the store need not know this package.
type (
	Uses    = merchant.Uses
	Changes = merchant.Changes
)
