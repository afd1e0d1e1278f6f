package sms

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzReports: nothing but a report with the right signature is believed, and none makes the server fail.
func FuzzReports(f *testing.F) {
	const path = "/hooks/twilio/09000000-0000-0000-0000-000000000000/" +
		"08000000-0000-0000-0000-000000000000/07000000-0000-0000-0000-000000000000"
	a, err := ParseAccount("twilio://AC1:" + token + "@127.0.0.1:1?from=+14155550100&insecure=1")
	if err != nil {
		f.Fatal(err)
	}
	c := NewCarrier(*a, "https://gifts.example.com")
	sign := func(path, body string) string {
		form, _ := url.ParseQuery(body)
		return base64.StdEncoding.EncodeToString(signature(token, "https://gifts.example.com"+path, form))
	}
	const form = "application/x-www-form-urlencoded"
	for _, body := range []string{"MessageStatus=undelivered&ErrorCode=30003", "MessageStatus=delivered",
		"MessageStatus=FAILED&MessageStatus=sent", "%zz", "a=1;b=2", ""} {
		f.Add(path, form, body, sign(path, body))
		f.Add(path+"?x=1", "multipart/form-data; boundary=x", body, "")
	}
	f.Fuzz(func(t *testing.T, path, contentType, body, signed string) {
		address, err := url.ParseRequestURI(path)
		if err != nil || !strings.HasPrefix(path, "/") {
			return
		}
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.URL, r.Header = address, http.Header{"Content-Type": {contentType}, "X-Twilio-Signature": {signed}}
		believed := false
		mux := http.NewServeMux()
		mux.Handle(Pattern, c.Reports(func(context.Context, Report) error { believed = true; return nil }))
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, r)
		if answer.Code >= 500 {
			t.Fatalf("%d: %s", answer.Code, answer.Body)
		}
		if believed && !hasSignature(signed, sign(path, body)) {
			t.Errorf("%s %q was believed with the signature %q", path, body, signed)
		}
	})
}

// hasSignature compares two signatures as bytes: base64 can be written in more ways than one.
func hasSignature(given, right string) bool {
	a, err := base64.StdEncoding.DecodeString(given)
	b, _ := base64.StdEncoding.DecodeString(right)
	return err == nil && string(a) == string(b)
}

// FuzzAnswers: whatever the gateway answers, it is judged, and the words that are kept hold no secret.
func FuzzAnswers(f *testing.F) {
	f.Add(400, "400 Bad Request", `{"code":21211,"message":"Invalid 'To' number"}`, "")
	f.Add(429, "429", `{"code":20429}`, "5")
	f.Add(503, "503 "+token, "<html>", "Sat, 21 Nov 2026 11:00:00 GMT")
	f.Add(403, "403", `{"code":-1,"message":"`+token+` AC1"}`, "-1")
	a, err := ParseAccount("twilio://AC1:" + token + "@127.0.0.1:1?from=+14155550100&insecure=1")
	if err != nil {
		f.Fatal(err)
	}
	c := NewCarrier(*a, "")
	f.Fuzz(func(t *testing.T, code int, status, body, after string) {
		answer := &http.Response{StatusCode: code, Status: status, Header: http.Header{"Retry-After": {after}},
			Body: io.NopCloser(strings.NewReader(body))}
		if err := c.judge(answer, []byte(body)); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%d %q is judged %v", code, body, err)
		}
	})
}

// FuzzAccount: a refusal of the gateway's address never repeats it.
func FuzzAccount(f *testing.F) {
	f.Add("twilio://AC1:" + token + "@api.twilio.com?from=+14155550100")
	f.Add("twilio://AC1:%@h?from=+1&insecure=1&x=1")
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAccount(s)
		if err == nil && (a.Host == "" || a.SID == "" || a.Token == "" || !e164.MatchString(a.From)) {
			t.Errorf("%q is read as %+v", s, a)
		}
		if err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("the refusal repeats the secret: %v", err)
		}
	})
}
