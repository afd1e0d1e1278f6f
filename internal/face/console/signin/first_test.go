package signin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
	"boon.example/internal/setup"
	"boon.example/internal/staff"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// installation is one without an account, on a real store; while the first one is made, interrupt is called.
type installation struct {
	*store.Store

	directory atomic.Pointer[merchant.Directory]
	interrupt func()
	failing   error // of every change of the staff after that
	begun     bool
}

// CheckFirst implements Beginner.
func (*installation) CheckFirst(First) []FirstProblem { return nil }

// BeginFirst implements Beginner.
func (i *installation) BeginFirst(ctx context.Context, q First) (guid.ID, string, error) {
	i.interrupt()
	first := setup.First{Name: q.Name, Currency: q.Currency, Zone: q.Zone, Language: q.Language, Location: q.Location,
		Till: q.Till}
	id, token, err := first.Begin(ctx, i.Store, time.Now())
	if err != nil {
		return id, "", err
	}
	d, err := i.Directory(ctx)
	i.directory.Store(d)
	i.begun = true
	return id, "https://gifts.example.com/till/pair#" + token, err
}

// ChangeStaff implements Store.
func (i *installation) ChangeStaff(ctx context.Context, account guid.ID,
	change func([]staff.Member) (staff.Changes, error)) error {
	if i.begun && i.failing != nil {
		return i.failing
	}
	return i.Store.ChangeStaff(ctx, account, change)
}

// begin sends the form of the first account, and gives the answer.
func (i *installation) begin(ctx context.Context, t *testing.T) *httptest.ResponseRecorder {
	t.Helper()
	token, nobody := staff.NewToken(), staff.Member{}
	err := i.ChangeStaff(t.Context(), guid.ID{}, func([]staff.Member) (staff.Changes, error) {
		return staff.Changes{Invite: &staff.Invited{Invitation: nobody.Invite(time.Now()), Token: token}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	calls := service.New(service.Config{Records: i.Store, Directory: i.directory.Load, Now: time.Now,
		ClientAddress: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") }})
	h := desk.Handler(desk.Config{PublicURL: "https://gifts.example.com", Service: calls, Store: i,
		Directory: i.directory.Load}, Part(Config{PublicURL: "https://gifts.example.com", Store: i,
		Directory: i.directory.Load, Keys: i.Keys(), Beginner: i}))
	form := url.Values{"name": {"Café Nord"}, "currency": {"EUR"}, "zone": {"Europe/Berlin"}, "location": {"Hafen"},
		"till": {"Theke 1"}, "owner": {"Nora"}, "email": {"nora@example.com"}}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, joinPath+token, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Database: pgtest.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	i := &installation{Store: db, interrupt: func() {}}
	i.directory.Store(&merchant.Directory{})
	return i
}

// TestAFirstAccountIsWhole: a browser that goes away while the first account is made leaves an account with its owner.
func TestAFirstAccountIsWhole(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	ctx, leave := context.WithCancel(t.Context())
	i.interrupt = leave
	w := i.begin(ctx, t)
	accounts := i.directory.Load().Accounts
	if len(accounts) != 1 {
		t.Fatalf("there are %d accounts: %s", len(accounts), w.Body)
	}
	for id := range accounts {
		if members, err := i.Members(t.Context(), id); err != nil || len(members) != 1 || members[0].Role != staff.Owner {
			t.Errorf("the staff are %+v, %v", members, err)
		}
	}
}

// TestAFirstAccountWithoutOwner: where the account is made and nobody can be let in, the page says how to let somebody
// in.
func TestAFirstAccountWithoutOwner(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.failing = errors.New("the disk is gone")
	if w := i.begin(t.Context(), t); w.Code < 500 || !strings.Contains(w.Body.String(), "boon staff invite") ||
		strings.Contains(w.Body.String(), "disk") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
