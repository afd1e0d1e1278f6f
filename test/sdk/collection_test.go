package sdk_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/store/pgtest"
)

// TestCollection has newman, which is Postman without its windows, play the collection of /docs from its first call to
// its last. Each is about what was made before it, so that most are done. Bruno 4.1.0, which is 275 MB, was given the
// collection by hand, on Debian 12, with the office's key alone, and carried the values from call to call, too.
func TestCollection(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	newman := tool(t, ".bin/newman")
	s := boontest.Example(t, server.Config{Outbox: true})
	folder := t.TempDir()
	write(t, folder, "collection.json", collection(t, s.URL))
	report := filepath.Join(folder, "report.json")
	run(t, os.Environ(), folder, newman, "run", "collection.json", "--color", "off",
		"--env-var", "baseUrl="+s.URL, "--env-var", "key="+examples.HarborOfficeKey,
		"--reporters", "json", "--reporter-json-export", report)
	var played struct {
		Run struct {
			Failures   []any
			Executions []struct {
				Item     struct{ Name string }
				Response struct{ Code int }
			}
		}
	}
	if err := json.Unmarshal([]byte(read(t, report)), &played); err != nil {
		t.Fatal(err)
	}
	if len(played.Run.Failures) > 0 { // of its script, too
		t.Errorf("newman tells of %v", played.Run.Failures)
	}
	// What cannot be done with what there is: a printed gift that was delivered and paid for, too much left for cash, an
	// account that is live, a webhook deleted by the call before, pages without a name, a person and a till of nobody,
	// accounts of a ledger that the set-up does not name, two gifts where there is one, a file that nobody has chosen.
	refused := map[string]int{"cancelGift": 404, "resendGift": 400, "rescheduleGift": 409, "transferBalance": 404,
		"extendGift": 422, "releaseHold": 409, "cashOutGift": 422, "activateGift": 409, "reverseActivation": 404,
		"getRequest": 404, "rotateWebhook": 404, "replayWebhook": 404, "listAttempts": 404, "getClock": 422,
		"advanceClock": 422, "getDocsPage": 404, "getOperationDocs": 404, "getDocsAsset": 404,
		"revokeTill": 404, "setPIN": 404, "bookBreakage": 409, "redeemGifts": 404,
		"checkImport": 400, "importGifts": 400, "getNewCard": 404, "getImport": 404,
		"undoImport": 404, "getImportCertificate": 404}
	if n := len(played.Run.Executions); n < 45 {
		t.Errorf("%d calls were made", n)
	}
	for _, e := range played.Run.Executions {
		want, known := refused[e.Item.Name]
		if got := e.Response.Code; known && got != want || !known && got/100 != 2 {
			t.Errorf("%s is answered %d", e.Item.Name, got)
		}
	}
}

// collection is the one of a service. What redeems gets a key of one location, as those of a till have.
func collection(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get(address + "/docs/collection.json") //nolint:noctx // it is here
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(b, &whole); err != nil {
		t.Fatal(err)
	}
	for _, folder := range whole["item"].([]any) {
		for _, one := range folder.(map[string]any)["item"].([]any) {
			call := one.(map[string]any)
			if atTheTill[call["name"].(string)] {
				call["request"].(map[string]any)["auth"] = map[string]any{"type": "apikey", "apikey": []map[string]string{
					{"key": "key", "value": "Authorization"}, {"key": "value", "value": examples.HarborTillKey},
					{"key": "in", "value": "header"}}}
			}
		}
	}
	if b, err = json.Marshal(whole); err != nil {
		t.Fatal(err)
	}
	return string(b)
}
