package till

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// trail is a Store of which only the audit trail is asked.
type trail struct {
	Store
	broken bool
	rows   []event.TrailEntry
}

func (t *trail) AddTrail(_ context.Context, e event.TrailEntry) error {
	if t.broken {
		return errors.New("broken")
	}
	t.rows = append(t.rows, e)
	return nil
}

// TestSignInsFillNoTrail: whoever signs in again and again at a till writes a row a minute, and a row that could not
// be written is written the next time.
func TestSignInsFillNoTrail(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	rows := &trail{}
	tills := &tills{Config: Config{Store: rows, Service: service.New(service.Config{
		Now: func() time.Time { return now }})}}
	account := &merchant.Account{ID: guid.ID{1}}
	signIn := func(name string, till byte, after time.Duration, want int) {
		t.Helper()
		now = now.Add(after)
		s := &session{caller: &merchant.Caller{Account: account, KeyID: guid.ID{till}}, person: &merchant.Person{Name: name}}
		tills.Service.JSON(func(c *service.Call) (answer, error) {
			return func(*wire.Writer) {}, tills.tellSignIn(c, s)
		}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, personPath, nil))
		if len(rows.rows) != want {
			t.Errorf("%s at till %d: %d rows, want %d", name, till, len(rows.rows), want)
		}
	}
	signIn("Ana", 1, 0, 1)
	signIn("Ana", 1, 0, 1)
	signIn("Ana", 1, 59*time.Second, 1)
	signIn("Ben", 1, 0, 2)
	signIn("Ana", 2, 0, 3)
	signIn("Ana", 1, time.Second, 4)
	rows.broken = true
	signIn("Ana", 1, time.Minute, 4)
	rows.broken = false
	signIn("Ana", 1, 0, 5)
}
