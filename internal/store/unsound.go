//go:build torture

package store

import "os"

// A build for tests of tests can be told by BOON_UNSOUND=syncs to leave the write-ahead log unsynced when it commits.
func init() {
	if os.Getenv("BOON_UNSOUND") != "syncs" {
		return
	}
	for i, pragma := range sqlitePragmas {
		if pragma == "synchronous(FULL)" {
			sqlitePragmas[i] = "synchronous(NORMAL)"
		}
	}
}
