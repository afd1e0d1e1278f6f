package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"boon.example/internal/chain"
)

// acknowledges begins the words of an entry of the set-up's log that says why somebody accepts what boon verify found;
// each of its other lines is a problem. The log is chained with a key that is not in the database: who can write there
// can acknowledge nothing.
const acknowledges = "acknowledged what boon verify found, because: "

// OneLine is a text as it stands in the log of the set-up.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Acknowledge notes that a person accepts problems that boon verify found, and why: it names them no more. Who it was
// is the operating system's user. A set-up that was changed past boon is to be accepted first: see Accept.
func (s *Setup) Acknowledge(ctx context.Context, problems []string, why string) error {
	lines := []string{acknowledges + OneLine(why)}
	for _, p := range problems {
		lines = append(lines, OneLine(p))
	}
	if err := s.logWords(ctx, strings.Join(lines, "\n"), nil); err != nil {
		return fmt.Errorf("noting what is acknowledged: %w", err)
	}
	return nil
}

// CountAcknowledged is how many problems were acknowledged.
func (s *Setup) CountAcknowledged(ctx context.Context) (n int, err error) {
	changes, err := s.SetupChanges(ctx)
	for i := range changes {
		n += len(Acknowledged(&changes[i]))
	}
	return n, err
}

// logWords writes into the log of the set-up what is no change of it, after what also writes in the transaction; nil:
// nothing.
func (s *Setup) logWords(ctx context.Context, what string, also func(*sql.Tx) error) error {
	return s.LogAfter(ctx, func(tx *sql.Tx) (string, error) {
		if also == nil {
			return what, nil
		}
		return what, also(tx)
	})
}

// LogAfter has do write in a transaction, alone among the changes of the set-up, and then writes into the log of the
// set-up what do says it was; "": nothing. That the set-up is what its log says is proven before, by whoever reads it
// first: the transaction, for which tills wait, reads none of it. The entry says what the one before says, and so makes
// no forged set-up right. Do may be asked again.
func (s *Setup) LogAfter(ctx context.Context, do func(*sql.Tx) (what string, _ error)) error {
	const tries = 5 // the set-up may change in between
	var version int64
	for range tries {
		d, err := s.Directory(ctx)
		if err != nil {
			return err
		}
		err = s.db.Write(ctx, func(tx *sql.Tx) (err error) {
			if version, err = s.lockSetup(ctx, tx); err != nil || version != d.Version {
				return err
			}
			newest, err := newestChange(ctx, tx, s.db.Keys)
			if err != nil {
				return err
			}
			what, err := do(tx)
			if err != nil || what == "" {
				return err
			}
			return addChange(ctx, s.db, tx, newest, what, newest.After, newest.After, version)
		})
		if err != nil || version == d.Version {
			return err
		}
	}
	return errors.New("the set-up changes all the time")
}

// Acknowledged are the problems that an entry of the set-up's log acknowledges; most do none.
func Acknowledged(c *chain.SetupChange) []string {
	lines := strings.Split(c.What, "\n")
	if !strings.HasPrefix(lines[0], acknowledges) {
		return nil
	}
	return lines[1:]
}
