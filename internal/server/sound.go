//go:build !torture

package server

import (
	"boon.example/internal/ledger"
	"boon.example/internal/store"
)

// under is what lies under the engine: the store itself. A build with the tag torture can put something unsound in its place, to show that
// the tests under test/torture notice.
func under(s *store.Store) ledger.Store { return s }
