package sms

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" // of Twilio's choosing
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"boon.example/internal/guid"
	"boon.example/internal/post/message"
)

// Pattern is where reports arrive. The ids name the message; that a report comes from Twilio is for its signature to
// show.
const Pattern = "POST /hooks/twilio/{account}/{gift}/{job}"

func callbackPath(m *message.Message) string {
	return "/hooks/twilio/" + m.AccountID.String() + "/" + m.GiftID.String() + "/" + m.ID.String()
}

// Report tells that a message which was accepted did not arrive.
type Report struct {
	AccountID, GiftID, JobID guid.ID
	Words                    string
}

// maxReport bounds the body of a report, of which Twilio's have about a kilobyte.
const maxReport = 16 << 10

// Reports answers the reports of what became of messages. failed is told of those that did not arrive; when it returns
// an error, the report is answered with a failure. A report may come many times.
func (c *Carrier) Reports(failed func(context.Context, Report) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, maxReport)
		if err := r.ParseForm(); err != nil {
			http.Error(w, "This is not a report of a message.", http.StatusBadRequest)
			return
		}
		if !c.signed(r) {
			http.Error(w, "The signature of this report is not right.", http.StatusForbidden)
			return
		}
		report, ok := c.read(r)
		if !ok {
			http.NotFound(w, r)
			return
		}
		status := strings.ToLower(r.PostForm.Get("MessageStatus"))
		if status == "undelivered" || status == "failed" {
			if err := failed(r.Context(), report); err != nil {
				w.Header().Set("Retry-After", "5")
				http.Error(w, "This report could not be recorded now.", http.StatusServiceUnavailable)
				return
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

func (c *Carrier) read(r *http.Request) (report Report, ok bool) {
	for name, id := range map[string]*guid.ID{"account": &report.AccountID, "gift": &report.GiftID, "job": &report.JobID} {
		parsed, err := guid.Parse(r.PathValue(name))
		if err != nil {
			return Report{}, false
		}
		*id = parsed
	}
	report.Words = "The message was accepted, but did not arrive: " + r.PostForm.Get("MessageStatus")
	if code := r.PostForm.Get("ErrorCode"); code != "" {
		report.Words += fmt.Sprintf(" (error %.10s)", code)
	}
	return report, true
}

// signed checks the signature: HMAC-SHA1 with the auth token over the address that Twilio was given and the sorted
// members of the form, in constant time. The address is made of what we know ourselves; a proxy may have changed what
// the request says. Twilio signs it now with its port, now without.
func (c *Carrier) signed(r *http.Request) bool {
	given, err := base64.StdEncoding.DecodeString(r.Header.Get("X-Twilio-Signature"))
	if err != nil || c.callback == "" || len(r.Header.Values("X-Twilio-Signature")) != 1 {
		return false
	}
	rest := r.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		rest += "?" + r.URL.RawQuery
	}
	return hmac.Equal(given, signature(c.account.Token, c.callback+rest, r.PostForm)) ||
		hmac.Equal(given, signature(c.account.Token, otherPort(c.callback)+rest, r.PostForm))
}

// otherPort gives an address without its port, or with the usual one where it has none.
func otherPort(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return address
	case u.Port() != "":
		u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
	case u.Scheme == "https":
		u.Host += ":443"
	default:
		u.Host += ":80"
	}
	return u.String()
}

func signature(token, address string, form url.Values) []byte {
	mac := hmac.New(sha1.New, []byte(token))
	mac.Write([]byte(address))
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, value := range slices.Sorted(slices.Values(form[name])) {
			mac.Write([]byte(name + value))
		}
	}
	return mac.Sum(nil)
}

// traced has handed set once the whole request was written.
func traced(r *http.Request, handed *atomic.Bool) *http.Request {
	return r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { handed.Store(info.Err == nil) },
	}))
}
