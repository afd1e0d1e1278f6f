package desk

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// TestAFormIsSentAgainUnderItsKey: where a refusal leaves open whether an operation was done, the member is given the
// very same form, so that nothing is done twice; where it was refused, the page says so itself.
func TestAFormIsSentAgainUnderItsKey(t *testing.T) {
	t.Parallel()
	for _, code := range refusal.Codes() {
		var keys, bodies []string
		operations := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			bodies = append(bodies, r.FormValue("x"))
			if len(keys) == 1 {
				w.WriteHeader(code.Status())
				_, _ = w.Write([]byte(`{"code":"` + string(code) + `","messages":[{"text":"As <it> is."}]}`))
				return
			}
			_, _ = w.Write([]byte(`{}`))
		})
		do := func(r *Request) (View, error) {
			r.Account = &merchant.Account{}
			form := r.HTTP.PostForm
			err := r.Operate(http.MethodPost, "/block-gift?x="+url.QueryEscape(form.Get("reason")), form.Get("key"), form, nil)
			if refused, is := err.(*refusal.Error); is {
				return View{Template: "failed.html", Title: "console.failed", Status: 499,
					Data: failure{Messages: Said(refused)}}, nil
			}
			return View{To: "/done"}, err
		}
		h := Handler(Config{Service: service.New(service.Config{Records: ledgerless{}}), Operations: operations,
			Directory: func() *merchant.Directory { return &merchant.Directory{} }},
			Part{Templates: files, Pages: []Page{{Pattern: "POST " + Path + "/do", Outside: true, Do: do}}})
		send := func(form url.Values) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, Path+"/do", strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		first := send(url.Values{"key": {"K-1"}, "reason": {`"lost" & <found>`}})
		if !code.Undecided() {
			if first.Code != 499 {
				t.Errorf("%s: status %d", code, first.Code)
			}
			continue
		}
		page := first.Body.String()
		if first.Code != code.Status() || !strings.Contains(page, "As &lt;it&gt; is.") {
			t.Errorf("%s: status %d: %s", code, first.Code, page)
		}
		again := url.Values{}
		for _, m := range regexp.MustCompile(`type="hidden" name="(\w+)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			again.Add(m[1], strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&amp;", "&").Replace(m[2]))
		}
		if last := send(again); last.Code != http.StatusSeeOther || keys[1] != "K-1" || bodies[1] != bodies[0] ||
			bodies[0] != `"lost" & <found>` {
			t.Errorf("%s: sent again: status %d, keys %q, bodies %q", code, last.Code, keys, bodies)
		}
	}
}
