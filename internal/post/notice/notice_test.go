package notice

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/message"
	"boon.example/internal/staff"
)

// TestRender: in each language of the console; names that attack the mail stay names.
func TestRender(t *testing.T) {
	t.Parallel()
	const hostile = "<script>x</script>\r\nBcc: all@example.com"
	a := &merchant.Account{ID: guid.ID{1}, Name: hostile, Zone: time.UTC}
	for _, l := range locale.ConsoleLanguages() {
		m, err := Render(&staff.Notice{ID: guid.ID{2}, Name: hostile, Email: "ann@example.com", Language: l,
			Address: "192.0.2.1", At: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}, a, "https://gifts.example.com/")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(m.HTML, "<script") || strings.ContainsAny(m.Subject+m.ToName+m.FromName, "\r\n") ||
			m.Language != l || m.To != "ann@example.com" {
			t.Errorf("%s: %+v", l, m)
		}
		for _, text := range []string{m.Text, m.HTML} {
			if !strings.Contains(text, "https://gifts.example.com/console/"+a.ID.String()+"/you") ||
				!strings.Contains(text, "192.0.2.1") || !strings.Contains(text, "12:00") || strings.Contains(text, "\r") {
				t.Errorf("%s: %s", l, text)
			}
		}
	}
}

// waiting is one mail that waits.
type waiting struct {
	staff.Notice

	due  time.Time
	gone bool
}

func (w *waiting) ClaimNotice(context.Context, time.Time, time.Time) (staff.Notice, bool, error) {
	return w.Notice, !w.gone, nil
}

func (w *waiting) PostponeNotice(_ context.Context, n staff.Notice, due time.Time) error {
	w.Notice, w.due = n, due
	return nil
}

func (w *waiting) ForgetNotice(context.Context, guid.ID) error { w.gone = true; return nil }

type away struct{}

func (away) Carry(context.Context, message.Message) error {
	return errors.New("the mail server is away")
}

// TestAMailServerThatIsAway: a mail waits longer after each attempt, at most for an hour, and is given up when its time
// is over; so is one of an account that there is not any more.
func TestAMailServerThatIsAway(t *testing.T) {
	t.Parallel()
	a := &merchant.Account{ID: guid.ID{1}, Zone: time.UTC}
	d := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{a.ID: a}}
	w := &waiting{Notice: staff.Notice{ID: guid.ID{2}, AccountID: a.ID, At: time.Now()}}
	s := Sender{Store: w, Email: away{}, Directory: func() *merchant.Directory { return d }, RetryFor: 24 * time.Hour,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	try := func() {
		t.Helper()
		if _, _, err := s.Batch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for n, least := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute} {
		begun := time.Now()
		if try(); w.Attempts != n+1 || w.due.Sub(begun) < least || w.due.Sub(begun) > least+time.Minute {
			t.Errorf("after attempt %d the mail waits for %v", w.Attempts, w.due.Sub(begun))
		}
	}
	w.Attempts = 1000
	if try(); time.Until(w.due) > longestPause {
		t.Errorf("a mail waits for %v", time.Until(w.due))
	}
	w.At = w.At.Add(-25 * time.Hour)
	if try(); !w.gone {
		t.Error("a mail is tried after its time")
	}
	w.gone, w.At, d.Accounts = false, time.Now(), nil
	if try(); !w.gone {
		t.Error("a mail of no account waits")
	}
}
