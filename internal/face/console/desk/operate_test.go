package desk

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"boon.example/internal/base/admission"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
	"boon.example/internal/wire"
)

// TestOperate: an operation is called as the member, with what the member may do, under the key and the name of the
// request, in the language of the page; what it refuses comes back as it was told.
func TestOperate(t *testing.T) {
	t.Parallel()
	s := service.New(service.Config{Records: ledgerless{}})
	operations := s.Handler(func(c *service.Call) service.Reply {
		err := c.Admit(service.Terms{Priority: admission.Write, Within: service.OtherDeadline, Needs: merchant.MayBlock,
			Body: 1 << 10})
		if err != nil {
			return c.Reply(ledger.Answer{}, err)
		}
		return c.Reply(c.Answer(ledger.OK, func(w *wire.Writer) {
			w.Text("person", c.Actor(guid.ID{}).Actor.Person)
			w.Text("key", c.HTTP.Header.Get("Idempotency-Key"))
			w.Text("body", string(c.Body))
			w.Text("path", c.HTTP.URL.String())
			w.Text("language", c.HTTP.Header.Get("Accept-Language"))
			w.Text("from", c.HTTP.Header.Get("X-Forwarded-For"))
		}), nil)
	})
	f := &desk{Config: Config{Service: s, Operations: operations}}
	type called struct{ Person, Key, Body, Path, From, Language, RequestID string }
	call := func(role staff.Role, l merchant.Language) (is called, name string, err error) {
		asked := httptest.NewRequest(http.MethodPost, "/console", nil)
		asked.Header.Set("X-Forwarded-For", "192.0.2.7")
		s.Handler(func(c *service.Call) service.Reply {
			r := &Request{Call: c, desk: f, Locale: locale.For(l), Account: &merchant.Account{ID: guid.ID{1}},
				Member: staff.Member{Name: "Ann", Role: role}}
			name = c.RequestID
			err = r.Operate(http.MethodPost, "/block-gift?x=1", "K-1", map[string]string{"reason": "lost"}, &is)
			return c.Reply(ledger.Answer{Code: ledger.OK}, nil)
		}).ServeHTTP(httptest.NewRecorder(), asked)
		return is, name, err
	}
	is, name, err := call(staff.Manager, merchant.German)
	if err != nil || is.Person != "Ann" || is.Key != "K-1" || is.Body != `{"reason":"lost"}` ||
		is.Path != "/block-gift?x=1" || is.From != "192.0.2.7" || is.Language != "de" || is.RequestID != name {
		t.Errorf("the call was %+v, of request %s: %v", is, name, err)
	}
	_, _, err = call(staff.Bookkeeper, merchant.English)
	refused, ok := errors.AsType[*refusal.Error](err)
	if !ok || refused.Code != refusal.NotAuthorized || Said(refused)[0] !=
		"Ann may not block gifts: the permission block is missing." {
		t.Errorf("a bookkeeper is told %v", err)
	}
}

// ledgerless are the records of calls that ask for none.
type ledgerless struct{ service.Records }
