package sms

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/post/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "t0ken-of-the-account"

func TestParseAccount(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]Account{
		"twilio://AC1:" + token + "@api.twilio.com?from=+14155550100": {"AC1", token, "api.twilio.com",
			"+14155550100", false},
		"twilio://AC1:" + token + "@api.twilio.com/?from=%2B14155550100": {"AC1", token, "api.twilio.com",
			"+14155550100", false},
		"twilio://AC1:" + token + "@127.0.0.1:99?from=+14155550100&insecure=1": {"AC1", token, "127.0.0.1:99",
			"+14155550100", true},
		"twilio://AC1:" + token + "@localhost:8443?insecure=1&from=+4915112345": {"AC1", token, "localhost:8443",
			"+4915112345", true},
	} {
		if got, err := ParseAccount(address); err != nil || *got != want {
			t.Errorf("%s: %+v, %v", address, got, err)
		}
	}
	for _, bad := range []string{
		"", "https://AC1:" + token + "@h?from=+14155550100", "twilio://AC1@h?from=+14155550100", "twilio://AC1:" + token +
			"@?from=+14155550100",
		"twilio://AC1:" + token + "@h", "twilio://AC1:" + token + "@h?from=4155550100", "twilio://AC1:" + token +
			"@h?from=+1" + token,
		"twilio://AC1:" + token + "@h?from=+14155550100&insecure=1", "twilio://AC1:" + token + "@h/2010?from=+14155550100",
		"twilio://AC1:" + token + "@h?from=+14155550100&x=" + token, "twilio://AC1:%" + token + "@h?from=+14155550100",
	} {
		if got, err := ParseAccount(bad); err == nil {
			t.Errorf("%s was taken as %+v", bad, got)
		} else if strings.Contains(err.Error(), token) {
			t.Errorf("%s: the refusal repeats the secret: %v", bad, err)
		}
	}
}

// twilio serves answers as Twilio does.
func twilio(t *testing.T, answer http.HandlerFunc) *Carrier {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sid, pass, _ := r.BasicAuth()
		if r.Method != http.MethodPost || r.URL.Path != "/2010-04-01/Accounts/AC1/Messages.json" || sid != "AC1" ||
			pass != token {
			t.Errorf("asked %s %s as %s", r.Method, r.URL, sid)
		}
		answer(w, r)
	}))
	a, err := ParseAccount("twilio://AC1:" + token + "@" + strings.TrimPrefix(server.URL, "http://") +
		"?from=+14155550100&insecure=1")
	if err != nil {
		t.Fatal(err)
	}
	c := NewCarrier(*a, "https://gifts.example.com")
	t.Cleanup(func() { c.Close(); server.Close() })
	return c
}

var text = message.Message{
	ID: guid.ID{7}, GiftID: guid.ID{8}, AccountID: guid.ID{9}, Method: contact.SMS, To: "+14155550132",
	Text: "Your gift " +
		"& more: é + 100%",
}

func TestCarry(t *testing.T) {
	t.Parallel()
	var got url.Values
	c := twilio(t, func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		got = r.PostForm
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"sid":"SM1","status":"queued"}`)
	})
	if err := c.Carry(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	want := url.Values{"To": {text.To}, "From": {"+14155550100"}, "Body": {text.Text},
		"StatusCallback": {"https://gifts.example.com" + callbackPath(&text)}}
	if got.Encode() != want.Encode() {
		t.Errorf("sent %v, want %v", got, want)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	says := func(status, code int, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"code":%d,"message":%q,"more_info":"https://www.twilio.com/docs/errors/%d","status":%d}`, code,
				message, code, status)
		}
	}
	page := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	cutOff := func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		panic(http.ErrAbortHandler)
	}
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"not a number":   {says(400, 21211, "The 'To' number is not a valid phone number."), "refusal"},
		"unsubscribed":   {says(400, 21610, "Attempt to send to unsubscribed recipient"), "refusal"},
		"a landline":     {says(400, 21614, "'To' number is not a valid mobile number"), "refusal"},
		"queue full":     {says(400, 21611, "This 'From' number has exceeded the maximum number of queued messages"), "now"},
		"not our number": {says(400, 21606, "The From phone number is not a valid number"), "now"},
		"too many":       {says(429, 20429, "Too Many Requests"), "later 0s"},
		"too many, a minute": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "60")
			says(429, 20429, "Too Many")(w, r)
		}, "later 1m0s"},
		"wrong token":                    {says(401, 20003, "Authenticate: "+token), "unreachable"},
		"broken":                         {says(500, 20500, "Internal Server Error"), "unreachable"},
		"broken, as a proxy says it":     {says(502, 20500, "Internal Server Error"), "unreachable"},
		"a proxy's 503":                  {page(503, "<html>"), "unreachable"},
		"a proxy's 500":                  {page(500, "<html>"), "doubt"},
		"a proxy's 502":                  {page(502, "<html>AC1"), "unreachable"},
		"a proxy's 504":                  {page(504, `{"error":"timeout"}`), "doubt"},
		"a page to sign in to a network": {page(200, "<html>"), "doubt"},
		"nothing":                        {page(204, ""), "doubt"},
		"another's JSON":                 {page(201, `{"id":7}`), "doubt"},
		"taken":                          {page(200, `{"sid":"SM1","status":"accepted","error_code":null}`), "nil"},
		"failed at once":                 {page(201, `{"sid":"SM1","status":"failed","error_code":30006}`), "refusal"},
		"undelivered at once":            {page(201, `{"sid":"SM1","status":"undelivered"}`), "refusal"},
		"canceled":                       {page(201, `{"sid":"SM1","status":"canceled"}`), "refusal"},
		"failed, suspended":              {page(201, `{"sid":"SM1","status":"failed","error_code":30002}`), "now"},
		"no such account":                {says(404, 20404, "not found"), "now"},
		"moved": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/", http.StatusFound)
		}, "now"},
		"400 of an unknown format": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "bad",
				http.StatusBadRequest)
		},
			"now"},
		"answer lost": {cutOff, "doubt"},
		"no answer":   {func(w http.ResponseWriter, r *http.Request) { r.ParseForm(); <-r.Context().Done() }, "doubt"},
		"answer cut short": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, "{")
		}, "doubt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := twilio(t, tc.answer)
			limit := time.Minute
			if name == "no answer" {
				limit = 500 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			err := c.Carry(ctx, text)
			if got := kind(err); got != tc.want {
				t.Errorf("%s (%v), want %s", got, err, tc.want)
			}
			if err != nil && (strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "AC1")) {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		c := NewCarrier(Account{SID: "AC1", Token: token, Host: "127.0.0.1:1", From: "+14155550100", Plain: true}, "")
		if err := c.Carry(t.Context(), text); kind(err) != "unreachable" {
			t.Errorf("%v", err)
		}
	})
}

func kind(err error) string {
	var refusal *message.Refusal
	var doubt *message.Doubt
	var unreachable *message.Unreachable
	var later *message.Later
	switch {
	case err == nil:
		return "nil"
	case errors.As(err, &refusal):
		return "refusal"
	case errors.As(err, &doubt):
		return "doubt"
	case errors.As(err, &later):
		return "later " + later.After.String()
	case errors.As(err, &unreachable):
		return "unreachable"
	}
	return "now"
}

// TestSignature is the example of Twilio's documentation.
func TestSignature(t *testing.T) {
	t.Parallel()
	form := url.Values{"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+14158675310"}, "Digits": {"1234"},
		"From": {"+14158675310"}, "To": {"+18005551212"}}
	got := base64.StdEncoding.EncodeToString(signature("12345", "https://example.com/myapp.php?foo=1&bar=2", form))
	if want := "L/OH5YylLD5NRKLltdqwSvS0BnU="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestSignatureOfAPort: Twilio signs an address now with its port, now without, as its own libraries know.
func TestSignatureOfAPort(t *testing.T) {
	t.Parallel()
	for public, signed := range map[string][]string{
		"https://gifts.example.com:8443": {"https://gifts.example.com:8443", "https://gifts.example.com"},
		"https://gifts.example.com":      {"https://gifts.example.com", "https://gifts.example.com:443"},
		"http://gifts.example.com/boon":  {"http://gifts.example.com/boon", "http://gifts.example.com:80/boon"},
		"https://[2001:db8::1]:8443":     {"https://[2001:db8::1]:8443", "https://[2001:db8::1]"},
	} {
		c := NewCarrier(Account{SID: "AC1", Token: token, Host: "api.twilio.com", From: "+14155550100"}, public)
		for _, base := range append(signed, "https://evil.example", "https://gifts.example.com:8444") {
			r := httptest.NewRequest(http.MethodPost, "http://10.0.0.1"+callbackPath(&text), http.NoBody)
			r.Header.Set("X-Twilio-Signature",
				base64.StdEncoding.EncodeToString(signature(token, base+callbackPath(&text), nil)))
			if got := c.signed(r); got != slices.Contains(signed, base) {
				t.Errorf("%s: a signature of %s is taken: %t", public, base, got)
			}
		}
	}
}

func TestReports(t *testing.T) {
	t.Parallel()
	c := NewCarrier(Account{SID: "AC1", Token: token, Host: "api.twilio.com", From: "+14155550100"},
		"https://gifts.example.com")
	form := func(status string) url.Values {
		return url.Values{"MessageSid": {"SM1"}, "MessageStatus": {status}, "ErrorCode": {"30003"}, "To": {text.To}}
	}
	sign := func(address string, f url.Values) string {
		return base64.StdEncoding.EncodeToString(signature(token, address, f))
	}
	right := "https://gifts.example.com" + callbackPath(&text)
	for name, tc := range map[string]struct {
		path, signature string
		form            url.Values
		failed          error
		status, told    int
	}{
		"undelivered":      {"", sign(right, form("undelivered")), form("undelivered"), nil, 204, 1},
		"failed":           {"", sign(right, form("failed")), form("failed"), nil, 204, 1},
		"delivered":        {"", sign(right, form("delivered")), form("delivered"), nil, 204, 0},
		"sent":             {"", sign(right, form("sent")), form("sent"), nil, 204, 0},
		"not recorded":     {"", sign(right, form("failed")), form("failed"), errors.New("busy"), 503, 1},
		"unsigned":         {"", "", form("failed"), nil, 403, 0},
		"of another form":  {"", sign(right, form("delivered")), form("failed"), nil, 403, 0},
		"of another place": {"", sign(right+"x", form("failed")), form("failed"), nil, 403, 0},
		"of plain http": {"", sign(strings.Replace(right, "https", "http", 1), form("failed")), form("failed"), nil, 403,
			0},
		"cut short":        {"", sign(right, form("failed"))[:20], form("failed"), nil, 403, 0},
		"no base64":        {"", "*", form("failed"), nil, 403, 0},
		"with a query":     {"?x=1", sign(right+"?x=1", form("failed")), form("failed"), nil, 204, 1},
		"query not signed": {"?x=1", sign(right, form("failed")), form("failed"), nil, 403, 0},
	} {
		told := 0
		mux := http.NewServeMux()
		mux.Handle(Pattern, c.Reports(func(_ context.Context, r Report) error {
			if told++; r.AccountID != text.AccountID || r.GiftID != text.GiftID || r.JobID != text.ID ||
				!strings.Contains(r.Words, "30003") {
				t.Errorf("%s: told of %+v", name, r)
			}
			return tc.failed
		}))
		r := httptest.NewRequest(http.MethodPost, "http://10.0.0.1"+callbackPath(&text)+tc.path,
			strings.NewReader(tc.form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if tc.signature != "" {
			r.Header.Set("X-Twilio-Signature", tc.signature)
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if w.Code != tc.status || told != tc.told {
			t.Errorf("%s: %d, told %d times; want %d and %d", name, w.Code, told, tc.status, tc.told)
		}
	}
}
