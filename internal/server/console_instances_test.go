package server_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"boon.example/internal/server"
	"boon.example/internal/staff"
)

// dying carries a request to an instance that dies after it did what it was asked to: nobody gets the answer.
type dying struct {
	http.RoundTripper
	stop func() error
}

var errDied = errors.New("the instance died")

// RoundTrip implements http.RoundTripper.
func (d dying) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := d.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	return nil, errors.Join(errDied, answer.Body.Close(), d.stop())
}

// TestStaffGoOnAtAnotherInstance: one of two instances dies in the middle of a form. At the other one the member is
// signed in, the same form does nothing twice, and a list that was confirmed goes on.
func TestStaffGoOnAtAnotherInstance(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	other := s.beside(server.Config{Outbox: true})
	mia := s.joined("mia@example.com", staff.Manager)
	list := mia.uploads(mia.manyForm(nil), "contact,value\nana@example.com,5\nben@example.com,7\n")
	const send = harborConsole + "send"
	form := mia.keyed(send, url.Values{"value": {"25"}, "to": {"paper"}, "recipient": {"Cleo"}, "how": {"paid"},
		"when": {"now"}, "reference": {"R-9"}, "first": {"Carla"}, "last": {"Diaz"}, "email": {"carla@example.com"},
		"storefront": {mia.manyForm(nil).Get("storefront")}})
	mia.want(http.StatusSeeOther, list+"/confirm", url.Values{})
	mia.Transport = dying{http.DefaultTransport, s.stop}
	if _, err := mia.PostForm(s.url+send, form); !errors.Is(err, errDied) {
		t.Fatalf("the instance is still there: %v", err)
	}
	mia.Transport = nil
	mia.service = other
	for range 2 {
		if page := mia.want(http.StatusOK, send, form).body; !strings.Contains(page, "/print") {
			t.Errorf("the same form says at the other instance %s", page)
		}
	}
	if page := mia.settled(list); !strings.Contains(page, "Sent: 2 of 2") {
		t.Errorf("the list is %s", page)
	}
	if all := other.made(); len(all) != 3 {
		t.Errorf("there are the gifts of %q", all)
	}
	if page := mia.want(http.StatusOK, harborConsole+"you", nil).body; strings.Count(page, "you/end") > 0 {
		t.Errorf("she has more than one session: %s", page)
	}
}
