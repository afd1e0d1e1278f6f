// Package setup reads the set-up file and applies it.
package setup

import (
	"context"

	"boon.example/internal/gift"
)

// Store is what the set-up needs of a database.
type Store interface {
	// Directory reads the whole set-up.
	Directory(ctx context.Context) (*gift.Directory, error)
	// Configure changes the set-up in one transaction: it hands the current one to change and saves what it returns, all or
	// nothing. A running server sees it within 2 seconds. change may run again; when it fails or returns no change, nothing is written.
	Configure(ctx context.Context, change func(current *gift.Directory, uses Uses) (Changes, error)) error
}

// Uses tells which records of an account gifts refer to, so that they cannot be taken away.
type Uses func(account gift.ID) (map[gift.ID]bool, error)

// Changes is what is to be saved.
type Changes struct {
	Accounts []*gift.Account // new or changed, each whole
	Keys     []*gift.Key     // new or changed
}
