package store

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/sealed"
	"boon.example/internal/staff"
	"boon.example/internal/store/db"
)

// ann is a member of an account's staff.
func ann(account guid.ID) staff.Member {
	return staff.Member{ID: newID(), AccountID: account, Name: "Ann", Email: "ann@example.com", Role: staff.Owner,
		InvitedAt: noon, JoinedAt: noon}
}

// changeStaff makes a change that asks nothing of how it was.
func changeStaff(t *testing.T, s *Store, account guid.ID, c staff.Changes) {
	t.Helper()
	must(t, s.ChangeStaff(t.Context(), account, func([]staff.Member) (staff.Changes, error) { return c, nil }))
}

func fillStaff(t *testing.T, s *Store, account guid.ID) {
	t.Helper()
	m := ann(account)
	begun := m.Begin("Firefox", "192.0.2.1", noon)
	changeStaff(t, s, account, staff.Changes{Save: []staff.Member{m},
		Invite: &staff.Invited{Invitation: m.Invite(noon), Token: "invitation"}, Begin: []staff.Begun{begun},
		Notices: []staff.Notice{m.Notice(&begun.Session)}, Trail: staff.TrailEntry{What: "invited Ann"}})
}

// testStaffIsKept: what is saved is read again, and each token opens what it was made for.
func testStaffIsKept(t *testing.T, open opener) {
	s, _ := open(t)
	account, other := newID(), newID()
	m := ann(account)
	begun := m.Begin("Firefox, Linux", "192.0.2.1", noon)
	changeStaff(t, s, account, staff.Changes{Save: []staff.Member{m}, Begin: []staff.Begun{begun},
		Invite: &staff.Invited{Invitation: m.Invite(noon), Token: "first"}})
	members, err := s.Members(t.Context(), account)
	must(t, err)
	diff(t, members, []staff.Member{m})
	if members, err = s.Members(t.Context(), other); err != nil || len(members) > 0 {
		t.Errorf("another account has the staff %v (%v)", members, err)
	}
	is, err := s.Session(t.Context(), begun.Token, noon)
	must(t, err)
	begun.Session.Key = is.Key
	diff(t, is, begun.Session)
	i, err := s.Invitation(t.Context(), "first", noon)
	must(t, err)
	diff(t, i, m.Invite(noon))
	for _, wrong := range []string{"", "second", begun.Token} {
		if _, err := s.Invitation(t.Context(), wrong, noon); !errors.Is(err, refusal.NotFound) {
			t.Errorf("token %q opens an invitation: %v", wrong, err)
		}
	}
}

// testNoticesThatCannotBeRead: a mail whose row was changed stops none that is due after it.
func testNoticesThatCannotBeRead(t *testing.T, open opener) {
	s, _ := open(t)
	m := ann(newID())
	begun := m.Begin("Firefox", "192.0.2.1", noon)
	n, spoiled := m.Notice(&begun.Session), newID()
	changeStaff(t, s, m.AccountID, staff.Changes{Save: []staff.Member{m}, Notices: []staff.Notice{n}})
	must(t, s.db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO staff_notice (id, due, document) VALUES ($1, $2, $3)`,
			db.KeyOf(spoiled), db.Micros(noon.Add(-time.Hour)), []byte("spoiled"))
		return err
	}))
	if _, is, err := s.ClaimNotice(t.Context(), noon, noon.Add(time.Minute)); is || err == nil {
		t.Errorf("a row that was changed is read: %t, %v", is, err)
	}
	got, is, err := s.ClaimNotice(t.Context(), noon, noon.Add(time.Minute))
	if must(t, err); !is || got.ID != n.ID {
		t.Errorf("the next mail is %s (%t), not %s", got.ID, is, n.ID)
	}
}

// testNotices: a mail is due at once, for one at a time, and stands sealed until it is deleted.
func testNotices(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	m := ann(account)
	begun := m.Begin("Firefox", "192.0.2.1", noon)
	n := m.Notice(&begun.Session)
	failed := errors.New("no change")
	for _, err := range []error{failed, nil} { // without its session there is no mail
		got := s.ChangeStaff(t.Context(), account, func([]staff.Member) (staff.Changes, error) {
			return staff.Changes{Save: []staff.Member{m}, Begin: []staff.Begun{begun}, Notices: []staff.Notice{n}}, err
		})
		if !errors.Is(got, err) {
			t.Fatal(got)
		}
		if left, err := s.CountNotices(t.Context()); err != nil || (left == 1) == errors.Is(got, failed) {
			t.Errorf("after %v %d mails wait, %v", got, left, err)
		}
	}
	claim := func(now time.Time) (staff.Notice, bool) {
		t.Helper()
		got, is, err := s.ClaimNotice(t.Context(), now, now.Add(time.Minute))
		must(t, err)
		return got, is
	}
	if _, is := claim(noon.Add(-1)); is {
		t.Error("a mail is sent before there is a session")
	}
	got, is := claim(noon)
	diff(t, got, n)
	if _, twice := claim(noon.Add(time.Minute - 1)); !is || twice {
		t.Errorf("a mail that is due is leased: %t, and leased again: %t", is, twice)
	}
	got.Attempts = 3
	must(t, s.PostponeNotice(t.Context(), got, noon.Add(time.Hour)))
	if _, early := claim(noon.Add(time.Hour - 1)); early {
		t.Error("a mail that was put off is due")
	}
	if again, is := claim(noon.Add(time.Hour)); !is || again.Attempts != 3 {
		t.Errorf("a mail that was put off is %+v, %t", again, is)
	}
	must(t, s.ForgetNotice(t.Context(), n.ID))
	if _, is := claim(noon.Add(24 * time.Hour)); is {
		t.Error("a mail that was sent is due")
	}
}

// testSessionsEnd: a session is over when it was idle or lasted for too long, when it is ended, and when its member is
// gone.
func testSessionsEnd(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	m := ann(account)
	over := func(b staff.Begun, at time.Time) bool {
		_, err := s.Session(t.Context(), b.Token, at)
		if err != nil && !errors.Is(err, refusal.NotFound) {
			t.Fatal(err)
		}
		return err != nil
	}
	a, b, c := m.Begin("A", "", noon), m.Begin("B", "", noon), m.Begin("C", "", noon)
	changeStaff(t, s, account, staff.Changes{Save: []staff.Member{m}, Begin: []staff.Begun{a, b, c}})
	if over(a, noon.Add(12*time.Hour-1)) || !over(a, noon.Add(12*time.Hour)) {
		t.Error("a session is not over after 12 idle hours")
	}
	found, err := s.Session(t.Context(), a.Token, noon)
	must(t, err)
	for day := range 7 {
		must(t, s.Seen(t.Context(), found.Key, noon.Add(time.Duration(day*24+23)*time.Hour)))
	}
	if over(a, noon.Add(7*24*time.Hour-1)) || !over(a, noon.Add(7*24*time.Hour)) {
		t.Error("a session is not over after 7 days")
	}
	changeStaff(t, s, account, staff.Changes{End: [][]byte{found.Key}})
	if !over(a, noon) || over(b, noon) {
		t.Error("ending one session does not end that one alone")
	}
	kept, err := s.Session(t.Context(), b.Token, noon)
	must(t, err)
	changeStaff(t, s, account, staff.Changes{EndSessions: []guid.ID{m.ID}, Keep: kept.Key})
	if over(b, noon) || !over(c, noon) {
		t.Error("one session does not go on, or another one does")
	}
	changeStaff(t, s, account, staff.Changes{EndSessions: []guid.ID{m.ID}})
	if !over(b, noon) {
		t.Error("a session goes on after all were ended")
	}
	d := m.Begin("D", "", noon)
	changeStaff(t, s, account, staff.Changes{Begin: []staff.Begun{d},
		Invite: &staff.Invited{Invitation: m.Invite(noon), Token: "late"}})
	changeStaff(t, s, account, staff.Changes{Remove: []guid.ID{m.ID}})
	if _, err := s.Invitation(t.Context(), "late", noon); !over(d, noon) || !errors.Is(err, refusal.NotFound) {
		t.Errorf("who is removed comes in: %v", err)
	}
}

// testInvitations: for 72 hours, by the first who uses it, and until there is a newer one.
func testInvitations(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	m := ann(account)
	invite := func(token string) {
		changeStaff(t, s, account, staff.Changes{Save: []staff.Member{m},
			Invite: &staff.Invited{Invitation: m.Invite(noon), Token: token}})
	}
	use := func(token string) error {
		return s.ChangeStaff(t.Context(), account, func([]staff.Member) (staff.Changes, error) {
			return staff.Changes{Use: token}, nil
		})
	}
	invite("first")
	invite("second")
	if err := use("first"); !errors.Is(err, refusal.NotFound) {
		t.Errorf("an invitation with a newer one beside it is used: %v", err)
	}
	if _, err := s.Invitation(t.Context(), "second", noon.Add(72*time.Hour)); !errors.Is(err, refusal.NotFound) {
		t.Errorf("an invitation is good after 72 hours: %v", err)
	}
	must(t, use("second"))
	if err := use("second"); !errors.Is(err, refusal.NotFound) {
		t.Errorf("an invitation is used twice: %v", err)
	}
}

// testPlantedStaff: a row that somebody wrote, changed or moved who lacks the key file lets nobody in.
func testPlantedStaff(t *testing.T, open opener) {
	s, _ := open(t)
	account, other := newID(), newID()
	m := ann(account)
	mine, theirs := m.Begin("A", "", noon), m.Begin("B", "", noon)
	changeStaff(t, s, account, staff.Changes{Save: []staff.Member{m}, Begin: []staff.Begun{mine, theirs}})
	run(t, s, `UPDATE staff_session SET document = (SELECT o.document FROM staff_session AS o WHERE o.hash = $1)
		WHERE hash = $2`, s.db.Keys.StaffHash(theirs.Token), s.db.Keys.StaffHash(mine.Token))
	if _, err := s.Session(t.Context(), mine.Token, noon); !errors.Is(err, sealed.ErrTampered) {
		t.Errorf("a session with another's document: %v", err)
	}
	run(t, s, `INSERT INTO staff_member (account_id, id, document) SELECT $1, id, document FROM staff_member`, other[:])
	if members, err := s.Members(t.Context(), other); !errors.Is(err, sealed.ErrTampered) {
		t.Errorf("another account has the staff %v: %v", members, err)
	}
}

// testStaffIsLogged: who may come in changes with an entry of the chained log and of the audit trail; a sign-in is in
// the trail alone. The set-up stays what its log says.
func testStaffIsLogged(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	before, err := s.SetupChanges(t.Context())
	must(t, err)
	m := ann(account)
	by := merchant.Actor{KeyID: m.ID, Person: "Ann", Address: "192.0.2.1"}
	changeStaff(t, s, account, staff.Changes{Save: []staff.Member{m},
		Trail: staff.TrailEntry{What: "invited Ann", By: by}})
	changeStaff(t, s, account, staff.Changes{Trail: staff.TrailEntry{What: "Ann came in", SignIn: true, By: by}})
	after, err := s.SetupChanges(t.Context())
	must(t, err)
	if len(after) != len(before)+1 || !strings.Contains(after[len(after)-1].What, "invited Ann") {
		t.Errorf("the log of the set-up has %d entries more, the last of them %q", len(after)-len(before),
			after[len(after)-1].What)
	}
	trail, err := s.Trail(t.Context(), event.TrailFilter{AccountID: account, Limit: 10})
	must(t, err)
	var actions []string
	for _, e := range trail.Entries {
		actions = append(actions, string(e.Action)+" "+e.Actor.Person)
	}
	if len(actions) < 2 || actions[0] != "staff.signed_in Ann" || actions[1] != "staff.changed Ann" {
		t.Errorf("the audit trail says %q", actions)
	}
	verifyClean(t, s)
}
