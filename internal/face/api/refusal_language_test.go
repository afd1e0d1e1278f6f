package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// asked sends a request in a language, and gives the answer with its headers. header has one line for each time that
// it is sent.
func (w *world) asked(accept []string, path, body, key string) (*http.Response, map[string]any) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.TB.Context(), http.MethodPost, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {harborKey}, "Content-Type": {"application/json"}}
	if accept != nil {
		r.Header["Accept-Language"] = accept
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := w.server.Client().Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer answer.Body.Close()
	var document map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
		w.Fatal(err)
	}
	return answer, document
}

// TestRefusalsAreToldInTheCallersLanguage: title and messages are in the language that Accept-Language asks for, with
// the values in them; code, paths and status are the same. Who asks for nothing, or for what is not there, is told in
// English. That each text there is has its translations is for TestRefusalsAreTranslated to show.
func TestRefusalsAreToldInTheCallersLanguage(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	const redeem = "/api/integration/redemption/redeem-gift"
	id := w.promotional("25").id
	body := `{"voucherID":"` + id + `","amount":25.01,"organizationID":"` + pier + `"}`
	const english, german, spanish = "The balance of this gift is 25.00 USD.",
		"Das Guthaben dieses Gutscheins ist 25.00 USD.", "El saldo de este regalo es 25.00 USD."
	for _, tt := range []struct {
		accept         []string
		told, language string
	}{
		{nil, english, "en"},
		{[]string{""}, english, "en"},
		{[]string{"en"}, english, "en"},
		{[]string{"en-GB, de"}, english, "en"},
		{[]string{"*"}, english, "en"},
		{[]string{"fr"}, english, "en"}, // in which guests are written to, and callers are not
		{[]string{"de"}, german, "de"},
		{[]string{"de-AT"}, german, "de"},
		{[]string{"DE-ch;q=0.4, en;q=0.3"}, german, "de"},
		{[]string{"en;q=0.3,de;q=0.4"}, german, "de"},
		{[]string{"de;q=0, es"}, spanish, "es"},
		{[]string{"fr, es;q=0.8, en;q=0.5"}, spanish, "es"},
		{[]string{"es-419"}, spanish, "es"},
		{[]string{"fr", "es"}, spanish, "es"},
		{[]string{strings.Repeat("de-AT,", 3000)}, english, "en"},
	} {
		answer, refused := w.asked(tt.accept, redeem, body, "")
		message := refused["messages"].([]any)[0].(map[string]any)
		if answer.StatusCode != 409 || refused["code"] != string(refusal.InsufficientBalance) ||
			message["path"] != "amount" || message["text"] != tt.told ||
			answer.Header.Get("Content-Language") != tt.language || answer.Header.Get("Vary") != "Accept-Language" {
			t.Errorf("%.40q: %d %v, headers %v", tt.accept, answer.StatusCode, refused, answer.Header)
		}
		if title := refused["title"]; (title == string(refusal.InsufficientBalance.Title())) != (tt.language == "en") {
			t.Errorf("%.40q: the title is %q", tt.accept, title)
		}
	}
	for path, told := range map[string]string{"/api/nothing": "Unter dieser Adresse gibt es nichts.",
		redeem + "?dryRun=maybe": "Sende dryRun=true, um zu erfahren, was der Aufruf antworten würde, oder lass dryRun weg.",
	} {
		answer, refused := w.asked([]string{"de"}, path, "{}", "")
		if text := refused["messages"].([]any)[0].(map[string]any)["text"]; text != told ||
			answer.Header.Get("Content-Language") != "de" {
			t.Errorf("%s: %q, headers %v", path, text, answer.Header)
		}
	}
	for language, told := range map[string]string{"en": "This must be a GUID in quotes, not a number.",
		"de": "Hier muss eine GUID in Anführungszeichen stehen, nicht eine Zahl.",
		"es": "Aquí debe ir un GUID entre comillas, no un número."} {
		_, refused := w.asked([]string{language}, redeem, `{"voucherID":7}`, "")
		if text := refused["messages"].([]any)[0].(map[string]any)["text"]; text != told {
			t.Errorf("%s: %q", language, text)
		}
	}
}

// TestReplaysKeepTheirLanguage: a refusal that is repeated under its Idempotency-Key has the bytes of the first one,
// whatever language the repeat asks for, and says no language that it may not be in.
func TestReplaysKeepTheirLanguage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"voucherID":"` + w.promotional("25").id + `","amount":26,"organizationID":"` + pier + `"}`
	const redeem = "/api/integration/redemption/redeem-gift"
	_, first := w.asked([]string{"de"}, redeem, body, "one")
	for _, accept := range []string{"de", "es", "en"} {
		answer, again := w.asked([]string{accept}, redeem, body, "one")
		if answer.Header.Get("Idempotent-Replayed") != "true" || again["title"] != first["title"] ||
			again["requestID"] != first["requestID"] || answer.Header.Get("Content-Language") != "" {
			t.Errorf("%s: %v, headers %v; the first was %v", accept, again, answer.Header, first)
		}
	}
}
