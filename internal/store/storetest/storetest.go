// Package storetest gives tests embedded stores that are copied, not made. Most of the time of a test that opens a new
// store goes into the schema: its steps take some sixty milliseconds of processor time, a copy takes one.
package storetest

import (
	"context"

	"boon.example/internal/store"
	"boon.example/internal/store/storetest/template"
)

// NewTemplate is a store that was opened and closed, and then filled; fill may be nil. Its copies have its key file,
// too.
func NewTemplate(fill func(ctx context.Context, dir string) error) *template.Template {
	return template.New(func(ctx context.Context, dir string) error {
		s, err := store.Open(ctx, store.Options{Dir: dir})
		if err == nil {
			err = s.Close()
		}
		if err == nil && fill != nil {
			err = fill(ctx, dir)
		}
		return err
	})
}

var empty = NewTemplate(nil)

// Copy writes a new store into a folder, which is there and empty.
func Copy(t template.TB, dir string) {
	t.Helper()
	empty.Copy(t, dir)
}
