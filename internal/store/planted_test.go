package store

import (
	"database/sql"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/chain"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/setup"
)

// TestASetUpFromPastBoonIsNotTaken: whoever can write to the database, and lacks the key file, plants an API key, or
// changes any column of the set-up. Nobody takes it, whether
// they have served before or not, nothing writes it into the log as if it were right, and boon verify names it also
// when all is as it was again.
func TestASetUpFromPastBoonIsNotTaken(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, again := open(t)
			account := guid.ID{}
			setUp(t, s, "first")
			setUp(t, s, "second")
			must(t, s.Configure(t.Context(), func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
				for _, k := range d.Keys {
					account = k.AccountID
				}
				w := &merchant.Webhook{AccountID: account, ID: newID(), URL: "https://a.example", Enabled: true, CreatedAt: noon,
					ChangedAt: noon, Secret: "secret"}
				return merchant.Changes{Webhooks: []*merchant.Webhook{w}, What: "added a webhook"}, nil
			}))
			before, err := s.Directory(t.Context())
			must(t, err)
			unguarded(t, s)
			keys := tableNamed(t, s, "api_key")
			planted := slices.Clone(rowsOfTable(t, s, keys)[0])
			id, hash := newID(), merchant.HashKey("the thief's")
			planted[columnOf(keys, "id")], planted[columnOf(keys, "hash")] = db.KeyOf(id), hash[:]
			planted[columnOf(keys, "name")] = "planted"
			named := refusedSetUp(t, s, again, damage{keys, nil, []tuple{planted}})
			if !strings.Contains(named, id.String()) || !strings.Contains(named, "planted") {
				t.Errorf("the planted key %s is not named: %s", id, named)
			}
			tried := 0
			for _, table := range []string{"api_key", "account", "webhook"} {
				of := tableNamed(t, s, table)
				for i, column := range of.Columns {
					was := rowsOfTable(t, s, of)[0]
					is := slices.Clone(was)
					if is[i] = otherThan(was[i], of.Types[i]); column == "id" || column == "account_id" {
						continue // another row
					}
					if column == "enabled" && is[i] != false {
						is[i] = int64(0) // as the embedded database has it
					}
					refusedSetUp(t, s, again, damage{of, []tuple{was}, []tuple{is}})
					tried++
				}
			}
			if tried < 25 {
				t.Errorf("only %d columns were changed", tried)
			}
			after, err := s.Directory(t.Context())
			must(t, err)
			diff(t, after, before)
			// What was not taken is named until somebody accepts it.
			if found, _ := chainProblems(t, s); len(found) == 0 || !strings.Contains(found[0], id.String()) {
				t.Errorf("boon verify does not name the planted key: %q", found)
			}
			accepted, err := s.Accept(t.Context(), "a thief was here")
			must(t, err)
			if again, err := s.Accept(t.Context(), "twice"); !accepted || again || err != nil {
				t.Errorf("accepted %t, and once more %t, %v", accepted, again, err)
			}
			chainsHold(t, s)
			// One that is accepted is taken.
			run(t, s, `UPDATE api_key SET name = 'renamed'`)
			accepted, err = s.Accept(t.Context(), "we renamed them ourselves")
			d, read := s.Directory(t.Context())
			must(t, errors.Join(err, read))
			for _, k := range d.Keys {
				if !accepted || k.Name != "renamed" {
					t.Errorf("accepted %t, and a key is called %q", accepted, k.Name)
				}
			}
			chainsHold(t, s)
		})
	}
}

// TestASetUpThatAnOlderReleaseChanged: release 0.1.0 proves accounts and keys, and knows neither networks nor tills. A
// set-up without these that it changed is taken; with them it is not, and who refuses it names the release and the way.
func TestASetUpThatAnOlderReleaseChanged(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, again := open(t)
			setUp(t, s, "key")
			// as release 0.1.0 changes a name: it hashes what it knows
			older := func(name string) {
				t.Helper()
				err := s.db.Write(t.Context(), func(tx *sql.Tx) error {
					before, err := setup.OlderHash(t.Context(), tx)
					must(t, err)
					_, err = tx.ExecContext(t.Context(), `UPDATE api_key SET name = $1`, name)
					must(t, err)
					_, err = tx.ExecContext(t.Context(), `UPDATE setup_version SET version = version + 1`)
					must(t, err)
					after, err := setup.OlderHash(t.Context(), tx)
					must(t, err)
					version, err := setup.Version(t.Context(), tx)
					must(t, err)
					var last chain.SetupChange
					must(t, setup.EachChange(t.Context(), tx, func(c chain.SetupChange) { last = c }))
					c := chain.SetupChange{Number: last.Number + 1, Version: version, At: noon, By: "ops", What: "renamed a key",
						Before: before, After: after}
					c.Authenticate(s.db.Keys.Authenticator(), last.MAC)
					_, err = tx.ExecContext(t.Context(), `INSERT INTO setup_change (number, version, made_at, made_by, what, before,
						after, mac) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, c.Number, c.Version, c.At.UnixMicro(), c.By, c.What,
						c.Before[:], c.After[:], c.MAC[:])
					return err
				})
				must(t, err)
			}
			older("renamed by 0.1.0")
			chainsHold(t, s)
			_, err := again().Directory(t.Context())
			must(t, err)
			must(t, s.Configure(t.Context(), func(d *merchant.Directory, _ merchant.Uses) (c merchant.Changes, _ error) {
				for _, k := range d.Keys {
					limited := *k
					limited.Networks = merchant.Networks{netip.MustParsePrefix("10.0.0.0/8")}
					c.Keys, c.What = append(c.Keys, &limited), "networks"
				}
				return c, nil
			}))
			chainsHold(t, s)
			older("renamed once more")
			if _, err = again().Directory(t.Context()); !errors.Is(err, ErrPastBoon) ||
				!strings.Contains(err.Error(), "Release 0.1.0") || !strings.Contains(err.Error(), "--accept-set-up") {
				t.Errorf("it is refused with %v", err)
			}
			found, _ := chainProblems(t, s)
			if all := strings.Join(found, "\n"); strings.Count(all, "elease 0.1.0") != len(found) || len(found) == 0 ||
				!strings.Contains(all, "--accept-set-up") || !strings.Contains(all, "--acknowledge") {
				t.Errorf("boon verify says %q", found)
			}
			accepted, err := s.Accept(t.Context(), "we ran 0.1.0 beside it")
			if must(t, err); !accepted {
				t.Error("it is not accepted")
			}
			found, _ = chainProblems(t, s)
			must(t, s.Acknowledge(t.Context(), found, "we ran 0.1.0 beside it"))
			chainsHold(t, s)
		})
	}
}

// refusedSetUp changes the set-up past boon, and back, and gives what those say who refuse it.
func refusedSetUp(t *testing.T, s *Store, again func() *Store, d damage) string {
	t.Helper()
	d.do(t, s)
	run(t, s, `UPDATE setup_version SET version = version + 1`)
	_, err := s.Directory(t.Context())
	fresh := again()
	_, anew := fresh.Directory(t.Context())
	for what, err := range map[string]error{
		"taken by who serves": err,
		"taken by who starts": anew,
		"made right by a change": s.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes,
			error) {
			a := &merchant.Account{ID: newID(), Name: "x", Currency: dollars, Zone: time.UTC}
			return merchant.Changes{Accounts: []*merchant.Account{a}, What: "added x"}, nil
		}),
		"made right by an export": s.LogExport(t.Context(), event.TrailEntry{Action: event.CodesExported, What: "codes"}),
	} {
		if !errors.Is(err, ErrPastBoon) || !s.Away(err) {
			t.Errorf("a changed %s is %s: %v: %v instead of %v", d.of.Name, what, err, d.in, d.out)
		}
	}
	d.undo(t, s)
	run(t, s, `UPDATE setup_version SET version = version - 1`)
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestALogThatIsNotOurs: entries of the log that the key file did not write prove nothing.
func TestALogThatIsNotOurs(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, again := open(t)
			setUp(t, s, "first")
			unguarded(t, s)
			log := tableNamed(t, s, "setup_change")
			all := rowsOfTable(t, s, log)
			newest := all[len(all)-1]
			for column, i := range map[string]int{"after": columnOf(log, "after"), "mac": columnOf(log, "mac")} {
				other := slices.Clone(newest)
				other[i] = otherThan(newest[i], log.Types[i])
				wrong := damage{log, []tuple{newest}, []tuple{other}}
				wrong.do(t, s)
				if _, err := again().Directory(t.Context()); !errors.Is(err, ErrPastBoon) {
					t.Errorf("with another %s: %v", column, err)
				}
				wrong.undo(t, s)
			}
			empty := damage{log, all, nil}
			empty.do(t, s)
			if _, err := again().Directory(t.Context()); !errors.Is(err, ErrPastBoon) {
				t.Errorf("without a log: %v", err)
			}
			empty.undo(t, s)
			_, err := again().Directory(t.Context())
			must(t, err)
		})
	}
}

// TestExportsProveNothing: an export, for which all who write wait, does not read the set-up again that was proven when
// it was read. Its entry of the log says what the one before says, so that it makes no forged set-up right.
func TestExportsProveNothing(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			setUp(t, s, "first")
			unguarded(t, s)
			_, err := s.Directory(t.Context())
			must(t, err)
			before, err := s.SetupChanges(t.Context())
			must(t, err)
			run(t, s, `UPDATE api_key SET name = name || ' of a thief'`)
			export := event.TrailEntry{Action: event.CodesExported, What: "codes"}
			must(t, s.LogExport(t.Context(), export))
			must(t, s.LogExport(t.Context(), export))
			after, err := s.SetupChanges(t.Context())
			must(t, err)
			if n := len(before); len(after) != n+2 || after[n+1].After != before[n-1].After ||
				after[n].Before != before[n-1].After {
				t.Errorf("the log has %d entries after %d", len(after), n)
			}
			if found, _ := chainProblems(t, s); len(found) == 0 {
				t.Error("boon verify does not name the forged keys")
			}
		})
	}
}
