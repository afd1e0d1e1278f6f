package books

import (
	"fmt"
	"time"

	"boon.example/internal/merchant"
)

// Asked is what is asked of the books of an account: what moved from an instant on and before another one.
type Asked struct {
	Account *merchant.Account
	From    time.Time // zero: since the first entry
	Until   time.Time
	Cubes   []Cube
	ByDay   bool // each day by itself
	Most    int  // entries of the open day that are read one by one; where there are more, the error is a Behind; 0: all
}

// Behind tells that too many days of an account are not closed yet to read their entries for a report.
type Behind struct {
	Closed int // the newest closed day, as 20261122; 0: none is
}

func (b *Behind) Error() string {
	if b.Closed == 0 {
		return "no day of the account is closed in the books yet, and it has too many entries to read them all"
	}
	return fmt.Sprintf("the days of the account after %d are not closed in the books yet, and have too many entries to "+
		"read them all", b.Closed)
}
