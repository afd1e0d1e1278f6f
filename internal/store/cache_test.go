package store

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
)

// cached opens the store of a folder with a cache of gifts, as boon serve does.
func cached(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir, GiftCache: 1 << 20})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// lookedUp gives a gift as each of the look-ups finds it, which have to agree.
func lookedUp(t *testing.T, s *Store, g *gift.Gift) (found gift.Gift) {
	t.Helper()
	for _, look := range []func() (gift.Gift, error){
		func() (gift.Gift, error) { return s.GiftByCode(t.Context(), g.Card.Code) },
		func() (gift.Gift, error) { return s.GiftByToken(t.Context(), g.Card.Token) },
		func() (gift.Gift, error) { return s.Gift(t.Context(), g.AccountID, g.ID) },
	} {
		one, err := look()
		must(t, err)
		if found.Seq > 0 {
			diff(t, one, found)
		}
		found = one
	}
	return found
}

const redeemFor = "BOON_TEST_REDEEM_FOR"

// TestRedeemForAnotherProcess is the other process of TestCacheOfManyProcesses: for each line that it reads, it takes
// a cent from a gift.
func TestRedeemForAnotherProcess(t *testing.T) {
	told := strings.Fields(os.Getenv(redeemFor))
	if len(told) != 3 {
		return // it is not the other process
	}
	account, err := guid.Parse(told[1])
	must(t, err)
	id, err := guid.Parse(told[2])
	must(t, err)
	s := cached(t, told[0])
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		v := gift.Voucher{AccountID: account, ID: id}
		fmt.Printf("left %d\n", redeem(t, s, &v, 1).Balance)
	}
}

// TestCacheOfManyProcesses: what another process changes is seen by the next look-up, while this process commits, too.
func TestCacheOfManyProcesses(t *testing.T) {
	t.Parallel()
	s := cached(t, t.TempDir())
	gifts := issue(t, s, newID(), 2)
	theirs, ours := &gifts[0], &gifts[1]
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRedeemForAnotherProcess$")
	other.Stderr = os.Stderr
	other.Env = append(os.Environ(), redeemFor+"="+strings.Join([]string{s.db.Dir, theirs.AccountID.String(),
		theirs.ID.String()}, " "))
	in, err := other.StdinPipe()
	must(t, err)
	out, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	said := bufio.NewScanner(out)
	next := func() (left int) {
		_, err := fmt.Fprintln(in)
		must(t, err)
		for said.Scan() {
			if n, _ := fmt.Sscanf(said.Text(), "left %d", &left); n == 1 {
				return left
			}
		}
		t.Fatal("the other process has ended")
		return 0
	}
	lookedUp(t, s, theirs)
	for range 25 {
		var commits sync.WaitGroup
		commits.Go(func() {
			for range 3 {
				if _, err := tryRedeem(t.Context(), s, &ours.Voucher, 1); err != nil {
					t.Error(err)
				}
			}
		})
		left := next()
		if found := lookedUp(t, s, theirs); int(found.Balance) != left {
			t.Errorf("another process left %d, and the next look-up finds %d", left, found.Balance)
		}
		commits.Wait()
	}
	must(t, in.Close())
	must(t, other.Wait())
	before, _ := s.CacheUse()
	lookedUp(t, s, theirs)
	lookedUp(t, s, theirs)
	if after, _ := s.CacheUse(); after-before < 3 {
		t.Errorf("%d look-ups of six were found in memory", after-before)
	}
}

// TestCacheIsAsNewAsAnswers: no look-up finds an older gift than a redemption that was answered before the look-up
// began, whichever of two stores on one folder did it.
func TestCacheIsAsNewAsAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stores := []*Store{cached(t, dir), cached(t, dir)}
	gifts := issue(t, stores[0], newID(), 5)
	answered := make([]atomic.Int64, len(gifts)) // the newest entry of each that was answered
	var redeemers, lookers sync.WaitGroup
	var end atomic.Bool
	for n, s := range stores {
		for i := range gifts {
			redeemers.Go(func() {
				for range 25 {
					e, err := tryRedeem(t.Context(), s, &gifts[i].Voucher, 1)
					if err != nil {
						t.Error(err)
						return
					}
					for was := answered[i].Load(); was < int64(e.Seq) && !answered[i].CompareAndSwap(was, int64(e.Seq)); {
						was = answered[i].Load()
					}
				}
			})
		}
		lookers.Go(func() {
			for i := n; !end.Load(); i++ {
				which := i % len(gifts)
				g, floor := &gifts[which], answered[which].Load()
				found, err := s.GiftByCode(t.Context(), g.Card.Code)
				if i%2 == 0 {
					found, err = s.Gift(t.Context(), g.AccountID, g.ID)
				}
				if err != nil || int64(found.Seq) < floor {
					t.Errorf("entry %d was answered, and a look-up finds %d: %v", floor, found.Seq, err)
					return
				}
			}
		})
	}
	redeemers.Wait()
	end.Store(true)
	lookers.Wait()
}

// TestCacheOfACodeOfSeveralGifts: where a code comes to be that of a gift that is meant more, it is found, though the
// gift that was found before has not changed.
func TestCacheOfACodeOfSeveralGifts(t *testing.T) {
	t.Parallel()
	s := cached(t, t.TempDir())
	mine := &merchant.Account{ID: newID(), ImportedCodes: []merchant.CodeForm{{Digits: 12}}}
	theirs := issue(t, s, newID(), 1)[0]
	typed, err := codes.Read(mine, theirs.Card.Code.Reveal())
	must(t, err)
	finds := func(want guid.ID) {
		t.Helper()
		for range 2 {
			found, err := s.GiftByCode(t.Context(), typed)
			if must(t, err); found.ID != want {
				t.Errorf("the code leads to gift %s, want %s", found.ID, want)
			}
		}
	}
	finds(theirs.ID)
	if hits, _ := s.CacheUse(); hits != 1 {
		t.Errorf("%d look-ups of two were found in memory", hits)
	}
	finds(brought(t, s, mine, theirs.Card.Code.Reveal()).ID)
}

// TestImportsForgetNoOtherGifts: while an import is written, gifts that were looked up stay in memory; the gifts of the
// import are there at once when it is finished, and gone when it is undone.
func TestImportsForgetNoOtherGifts(t *testing.T) {
	t.Parallel()
	s := cached(t, t.TempDir())
	account := newID()
	known := &issue(t, s, account, 1)[0]
	lookedUp(t, s, known)
	m := beginImport(t, s, account, noon)
	var brought []gift.Gift
	before, missed := s.CacheUse()
	const groups, looks = 10, 3 // three look-ups a time
	for range groups {
		brought = append(brought, stageGifts(t, s, m, 5)...)
		must(t, s.NoteAlive(t.Context(), m))
		lookedUp(t, s, known)
	}
	if hits, misses := s.CacheUse(); hits-before != groups*looks || misses != missed {
		t.Errorf("of %d look-ups beside an import, %d were found in memory and %d were not", groups*looks, hits-before,
			misses-missed)
	}
	find := func(is bool) {
		t.Helper()
		for range 2 {
			if _, err := s.GiftByCode(t.Context(), brought[0].Card.Code); (err == nil) != is {
				t.Errorf("a gift of the import is found: %v", err)
			}
		}
	}
	find(false)
	must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	find(true)
	must(t, s.HideImport(t.Context(), m))
	find(false)
	lookedUp(t, s, known)
}

// TestEveryChangeOfAGiftIsSeen: a change of any row that a gift is read from is seen by the next look-up, whoever makes
// it, and by whatever statement.
func TestEveryChangeOfAGiftIsSeen(t *testing.T) {
	t.Parallel()
	s := cached(t, t.TempDir())
	beside, err := sql.Open("sqlite", db.SQLiteDSN(s.db.File))
	must(t, err)
	defer beside.Close()
	g := &saveOrder(t, s, newID(), 2, "One per guest.", "")[0]
	writers := map[string]func(text string, args ...any) error{
		"a transaction of this process": func(text string, args ...any) error {
			return s.db.Write(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.ExecContext(t.Context(), text, args...)
				return err
			})
		},
		"a statement of this process": func(text string, args ...any) error {
			_, err := s.db.Writer.ExecContext(t.Context(), text, args...)
			return err
		},
		"another connection": func(text string, args ...any) error {
			_, err := beside.ExecContext(t.Context(), text, args...)
			return err
		},
	}
	n := 0
	for who, write := range writers {
		for text, of := range map[string]func(*gift.Gift) string{
			`UPDATE voucher SET blocked = $1 WHERE account_id = $2 AND id = $3`: func(g *gift.Gift) string {
				return string(g.Blocked)
			},
			`UPDATE card SET notes = $1 WHERE account_id = $2 AND voucher_id = $3`: func(g *gift.Gift) string {
				return g.Card.Notes
			},
			`UPDATE order_terms SET terms = $1 WHERE account_id = $2 AND $3 = $3`: func(g *gift.Gift) string {
				return g.Card.Terms
			},
		} {
			lookedUp(t, s, g)
			n++
			is := fmt.Sprintf("change %d", n)
			must(t, write(text, is, g.AccountID[:], g.ID[:]))
			if found := lookedUp(t, s, g); of(&found) != is {
				t.Errorf("after %q by %s, a look-up finds %q", text, who, of(&found))
			}
		}
		lookedUp(t, s, g)
		const take = `UPDATE secret SET hash = zeroblob(33) WHERE account_id = $1 AND voucher_id = $2 AND kind = 'code'`
		must(t, write(take, g.AccountID[:], g.ID[:]))
		if _, err := s.GiftByCode(t.Context(), g.Card.Code); !errors.Is(err, refusal.NotFound) {
			t.Errorf("after its code was taken away by %s, a gift is found by it: %v", who, err)
		}
		must(t, write(`UPDATE secret SET hash = $1 WHERE hash = zeroblob(33)`, s.db.Keys.CodeHash(g.Card.Code)))
		lookedUp(t, s, g)
	}
}

// TestCacheAfterFailedCommits: where it is not known whether a commit took effect, the database is asked.
func TestCacheAfterFailedCommits(t *testing.T) {
	t.Parallel()
	s := cached(t, t.TempDir())
	g := &issue(t, s, newID(), 1)[0]
	transact := s.transact
	for n := range 3 {
		lookedUp(t, s, g)
		s.transact = func(ctx context.Context, fn func(db.Runner) error) error {
			return cmp.Or(transact(ctx, fn), db.ErrUnknownOutcome)
		}
		if _, err := tryRedeem(t.Context(), s, &g.Voucher, 1); err == nil {
			t.Fatal("the commit did not fail")
		}
		s.transact = transact
		if found := lookedUp(t, s, g); found.Seq != n+2 {
			t.Errorf("after a commit that is there though it failed, a look-up finds entry %d", found.Seq)
		}
	}
}

// TestCacheAfterRolledBackGroups: what a group announced and did not commit is no part of the next commit.
func TestCacheAfterRolledBackGroups(t *testing.T) {
	t.Parallel()
	s := cached(t, t.TempDir())
	g := &issue(t, s, newID(), 1)[0]
	lookedUp(t, s, g)
	transact, errLate := s.transact, errors.New("it fails after all is saved")
	s.transact = func(ctx context.Context, fn func(db.Runner) error) error {
		return transact(ctx, func(run db.Runner) error { return cmp.Or(fn(run), errLate) })
	}
	if _, err := tryRedeem(t.Context(), s, &g.Voucher, 1); !errors.Is(err, errLate) {
		t.Fatal(err)
	}
	s.transact = transact
	must(t, s.db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `UPDATE voucher SET blocked = 'LOST' WHERE id = $1`, g.ID[:])
		return err
	}))
	if found := lookedUp(t, s, g); found.Seq != 1 || found.Balance != g.Balance || found.Blocked != "LOST" {
		t.Errorf("a look-up finds entry %d, balance %d, blocked %q", found.Seq, found.Balance, found.Blocked)
	}
}
