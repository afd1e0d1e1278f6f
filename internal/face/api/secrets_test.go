package api_test

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/face/api/contract"
	"boon.example/internal/gift/operation"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
)

// tellingCodes are the operations that tell a code or token to a key without the permission codes, and why.
var tellingCodes = map[string]string{
	"sendGift":     "whoever makes a gift hands it over",
	"validateGift": "whoever shows a code or token has the gift",
	"exportStock":  "that is what the permission export is for",
	"replaceGift":  "the new code goes nowhere else, unless it is sent",
	"getRequest":   "it gives the answer of send-gift again, to keys that may send gifts",
}

// moreOf are the members with which operations are asked a second time: those that put a link into the answer.
var moreOf = map[string]string{
	"resendGift":  `,"deliveryMethodID":3}`,
	"replaceGift": `,"deliver":{"deliveryMethodID":3}}`,
}

// TestNoAnswerTellsCodes: no answer of any operation to a key without the permission codes has a gift's code or token,
// in a member, in an address or in a header. Neither has one that was made for a key with the permission, when the call
// is repeated, nor what is told of that call under its Idempotency-Key.
func TestNoAnswerTellsCodes(t *testing.T) {
	racetest.SkipShort(t, "calls one after the other")
	t.Parallel()
	s := newStage(t)
	s.permit(rotatedKey, slices.DeleteFunc(merchant.PermissionNames(),
		func(name string) bool { return name == "codes" })...)
	operations, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range operations {
		for _, r := range rowsOf(op) {
			if r.open {
				continue
			}
			for _, by := range ways(cmp.Or(r.by, "id")) {
				told := s.withoutCodes(t, op, r, by, "")
				if why := tellingCodes[op.OperationID]; (why != "") != told {
					t.Errorf("%s by %s tells codes: %v, and the reason to is %q", op.OperationID, by, told, why)
				}
				if more := moreOf[op.OperationID]; more != "" && s.withoutCodes(t, op, r, by, more) {
					t.Errorf("%s by %s with %s tells codes", op.OperationID, by, more)
				}
			}
		}
	}
}

// TestTheTableSaysWhichAnswersTellCodes: of the operations of the table, those tell codes of whose cards the table says
// that the answer tells them to every key; each of the table is asked above.
func TestTheTableSaysWhichAnswersTellCodes(t *testing.T) {
	t.Parallel()
	operations, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[operation.Name]bool{}
	for _, op := range operations {
		o := operation.Name(path.Base(op.Path))
		if !slices.Contains(operation.All(), o) {
			continue
		}
		asked[o] = len(rowsOf(op)) > 0
		tells := o.CardTold() == operation.NewCard || o.CardTold() == operation.ReplacedCard
		if why := tellingCodes[op.OperationID]; tells != (why != "") {
			t.Errorf("the answer of %s tells codes, by the table: %v, and the reason to is %q", o, tells, why)
		}
	}
	for _, o := range operation.All() {
		if !asked[o] {
			t.Errorf("nobody asks whether an answer of %s tells codes", o)
		}
	}
}

// withoutCodes makes the call of an operation by a key without codes, and once more under the Idempotency-Key of a call
// of the same kind by a key that may see them. It reports whether any of the answers told a code.
func (s *stage) withoutCodes(t *testing.T, op contract.Route, r row, by, more string) (told bool) {
	t.Helper()
	tells := func(answer reply, k known) {
		t.Helper()
		for _, secret := range s.secretsOf(k) {
			told = told || strings.Contains(fmt.Sprint(answer.header)+string(answer.body), secret)
		}
		told = told || strings.Contains(string(answer.body), "/print.pdf")
	}
	ask := func(k known, key string, headers ...string) reply {
		path, body := s.request(op, by, k, key, pier)
		if more != "" {
			body = strings.TrimSuffix(body, "}") + more
		}
		return s.do(op.Method, path, body, append(as(key), headers...)...)
	}
	state := r.usual()
	if op.OperationID == "exportStock" || op.OperationID == "activateGift" {
		state = "not activated"
	}
	k := s.make("anywhere", state)
	tells(ask(k, rotatedKey), k)
	if op.Method == http.MethodGet {
		return told
	}
	k = s.make("anywhere", state)
	named := once(fmt.Sprintf("%s %s %s %d", op.OperationID, by, more, s.calls))
	if first := ask(k, harborKey, named...); first.status < 300 {
		tells(ask(k, rotatedKey, named...), k)
		tells(s.do(http.MethodGet, base+"/requests/"+strings.ReplaceAll(named[1], " ", "%20"), "", as(rotatedKey)...), k)
	}
	return told
}

// secretsOf are code and token of a gift as it was made and as it is now; where it names none, those of all gifts.
func (s *stage) secretsOf(k known) []string {
	s.Helper()
	secrets := []string{k.code, k.token}
	for _, r := range []reply{s.get("/gifting/gifts/" + k.id).want(200), s.get("/gifting/gifts?limit=1").want(200)} {
		at := ""
		if strings.Contains(string(r.body), `"gifts":`) {
			at = "gifts[0]."
		}
		secrets = append(secrets, r.at(at+"voucherCode"), r.at(at+"voucherPublicToken"))
	}
	return secrets
}

// TestOnlySecretMembersTellCodes: what is masked in an answer that is kept is all that is written by writeSecret, and
// nothing else of the interface reads the text of a code or token to answer with it.
func TestOnlySecretMembersTellCodes(t *testing.T) {
	t.Parallel()
	var files []string
	for _, of := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(of)
		if err != nil || len(found) == 0 {
			t.Fatal(of, found, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "payload/secrets.go" || file == "manage/export.go" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if file == "manage/webhooks.go" && strings.Contains(line, `w.Text("secret", `) { // a webhook's
				continue
			}
			if strings.Contains(line, ".Reveal()") || strings.Contains(line, "GiftURL(") {
				t.Errorf("%s:%d: write codes, tokens and links with writeSecret: %s", file, n+1, strings.TrimSpace(line))
			}
		}
	}
}
