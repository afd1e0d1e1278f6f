package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/face/api/manage"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/intake"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

const threeCards = "code,balance\n6006123456789012,25.50\n6006933450000013,11.25\n6006550001110014,25.00\n"

// upload has a file be imported, and check has it be checked.
func (w *world) upload(query, file string, headers ...string) reply {
	w.Helper()
	return w.do("POST", base+"/imports?"+query, file, append(headers, "Content-Type", "text/csv")...)
}

func (w *world) check(query, file string, headers ...string) reply {
	w.Helper()
	return w.do("POST", base+"/imports/check?"+query, file, append(headers, "Content-Type", "text/csv")...)
}

// settles asks for an import until it is in a state.
func (w *world) settles(id, state string) reply {
	w.Helper()
	for {
		if r := w.get("/imports/" + id).want(200); r.at("state") == state {
			return r
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestImportByHTTP: a file is checked without a change; brought in with the count and the total that the check told;
// the same file again is the same import; and it is taken back.
func TestImportByHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declare(merchant.CodeForm{Digits: 16})
	checked := w.check("", threeCards).want(200, "gifts", "3", "total", "61.75", "importable", "true",
		"import", "null", "linesRefused", "0")
	checked.has("columnsNotRead", 0)
	checked.has("warnings", 0)
	w.check("asOf=2001-02-03T12:00:00Z", threeCards).want(200, "importable", "true", "warnings[0]",
		"The gifts begin in the books on 2001-02-03, which is more than a year ago. All reports and journals since then "+
			"change. If the old system's last report is of another day, give that day.")
	byColumn := strings.Replace(strings.Replace(threeCards, "\n", ",tillsOnly\n", 1), "11.25", "11.25,true", 1)
	w.check("", byColumn).want(200, "importable", "true", "tillsOnlyGifts", "1")
	w.check("", strings.Replace(threeCards, "\n", ",<b>Tip\n", 1)).want(200, "columnsNotRead[0]", "<b>Tip",
		"importable", "true")
	w.get("/imports").want(200).has("imports", 0)
	const confirmed = "expectCount=3&expectTotal=61.75&asOf=2026-01-01T00:00:00Z"
	importID := w.upload(confirmed, threeCards).want(200, "import.giftsPlanned", "3").at("import.importID")
	w.settles(importID, "FINISHED").want(200, "giftsWritten", "3", "used", "false", "stopped", "null",
		"fileSHA256", checked.at("fileSHA256"), "asOf", "2026-01-01T00:00:00.000Z")
	validate := func() reply {
		return w.post("validate-gift", `{"voucherCode":"6006123456789012","organizationID":"`+pier+`"}`)
	}
	validate().want(200, "currentBalance", "25.50")
	w.upload(confirmed, threeCards).want(200, "import.importID", importID, "import.state", "FINISHED")
	told := w.get("/imports/" + importID + "/certificate").want(200)
	c, _, err := intake.ReadCertificate(told.body)
	if err != nil || c.Imported != 3 || c.ImportID != importID || len(c.Chains) == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	sheet := w.get("/imports/" + importID + "/certificate?format=pdf").want(200)
	if !bytes.HasPrefix(sheet.body, []byte("%PDF-")) || sheet.header.Get("Content-Type") != "application/pdf" {
		t.Errorf("the page to sign is %.20q, %v", sheet.body, sheet.header)
	}
	w.get("/imports/"+importID+"/certificate?format=xml").refused(400, refusal.ValidationFailure, "format")
	w.do("DELETE", base+"/imports/"+importID, "").want(200)
	validate().refused(404, refusal.NotFound)
	w.settles(importID, "UNDONE")
	for _, format := range []string{"json", "pdf"} {
		undone := w.get("/imports/" + importID + "/certificate?format=" + format).want(200)
		if state := undone.header.Get("Boon-Import-State"); state != "UNDONE" {
			t.Errorf("the certificate of an import that was taken back is said to be %q", state)
		}
	}
	w.do("DELETE", base+"/imports/"+importID, "").want(200, "state", "UNDONE")
	again := w.upload(confirmed, threeCards).want(200).at("import.importID")
	w.settles(again, "FINISHED")
	w.redeem(made{id: validate().at("voucherID")}, "1").want(200)
	w.do("DELETE", base+"/imports/"+again, "").refused(409, refusal.RedemptionNotAllowed)
	w.get("/imports").want(200).has("imports", 2)

	types := map[gift.EventType]int{}
	page, err := w.store.Trail(t.Context(), event.TrailFilter{AccountID: id(harbor), Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Entries {
		types[e.Action]++
		if strings.HasPrefix(string(e.Action), "import.") && (e.RequestID == "" || e.Actor.KeyID.IsZero()) {
			t.Errorf("%+v", e)
		}
	}
	if types[event.ImportStarted] != 2 || types[event.ImportFinished] != 2 || types[event.ImportUndone] != 1 {
		t.Errorf("the audit trail has %v", types)
	}
	left, err := os.ReadDir(w.dir)
	for _, f := range left {
		if strings.Contains(f.Name(), "scratch-") {
			t.Errorf("%s is left", f.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// TestNoLimitCountsImports: gifts of an import use up nothing of a day's limits, and no limit keeps an import away: the
// other system sold these gifts.
func TestNoLimitCountsImports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	w.declare(merchant.CodeForm{Digits: 16})
	limits := merchant.Limits{IssuedPerDay: 10_00, GiftsPerDay: 1}
	w.limit(limits, limits)
	key := as(rotatedKey)
	r := w.upload("expectCount=3&expectTotal=61.75", threeCards, key...).want(200)
	w.settles(r.at("import.importID"), "FINISHED")
	w.post("send-gift", ofMoney("10"), append(once("all of the day"), key...)...).want(201)
	w.post("send-gift", ofMoney("10"), append(once("more"), key...)...).refused(429, refusal.RateLimited)
}

// TestFilesWithoutRoom: a file that the service cannot keep is told as that, and the log names the folder.
func TestFilesWithoutRoom(t *testing.T) {
	t.Parallel()
	folder := ""
	w := newWorld(t, func(c *config) {
		folder = filepath.Join(c.apiConfig.Imports.Folder, "none")
		c.apiConfig.Imports.Folder = folder
	})
	w.declare(merchant.CodeForm{Digits: 16})
	r := w.check("", threeCards).refused(503, refusal.Unavailable)
	if r.header.Get("Retry-After") != "60" || !strings.Contains(r.at("messages[0].text"), "disk may be full") {
		t.Errorf("%v %s", r.header, r.body)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if last := w.events[len(w.events)-1]; last.Err == nil || !strings.Contains(last.Err.Error(), folder) {
		t.Errorf("the log has %v", last.Err)
	}
}

// TestImportRefusals: what is not as it was expected changes nothing, and tells why; no answer quotes a code.
func TestImportRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declare(merchant.CodeForm{Digits: 16})
	const wrong = "code,balance\n6006123456789012,25.50\n6006123456789013,-1\n"
	const confirmed = "expectCount=3&expectTotal=61.75"
	for name, c := range map[string]struct {
		query, file string
		paths       []string
	}{
		"another count":  {"expectCount=4&expectTotal=61.75", threeCards, []string{"file"}},
		"another total":  {"expectCount=3&expectTotal=61.76", threeCards, []string{"file"}},
		"a refused line": {"expectCount=1&expectTotal=25.50", wrong, []string{"file"}},
		"nothing said":   {"", threeCards, []string{"expectCount", "expectTotal"}},
		"nothing sent":   {confirmed, "", []string{"file"}},
		"a workbook":     {confirmed, "PK\x03\x04rest", []string{"file"}},
		"numbers in a row": {"expectCount=2&expectTotal=2",
			"code,balance\n6006123456789012,1\n6006123456789013,1\n", []string{"file"}},
		"the future": {confirmed + "&asOf=2999-01-01T00:00:00Z", threeCards, []string{"asOf"}},
		"long ago":   {confirmed + "&asOf=1970-01-02T00:00:00Z", threeCards, []string{"asOf"}},
		"unknown values": {"expectCount=x&expectTotal=1&from=x&tillsOnly=1", threeCards,
			[]string{"from", "tillsOnly", "expectCount"}},
		"a total of no use": {"expectCount=3&expectTotal=a+lot", threeCards, []string{"file"}},
	} {
		r := w.upload(c.query, c.file).refused(400, refusal.ValidationFailure, c.paths...)
		if bytes.Contains(r.body, []byte("60061234")) {
			t.Errorf("%s: %s", name, r.body)
		}
	}
	r := w.check("", wrong).want(200, "importable", "false", "linesRefused", "1", "problems[0].line", "3",
		"problems[0].column", "balance")
	if bytes.Contains(r.body, []byte("60061234")) {
		t.Errorf("%s", r.body)
	}
	w.check("leaveOutRefused=true", wrong).want(200, "importable", "true", "gifts", "1")
	w.get("/imports").want(200).has("imports", 0)

	w.get("/imports/"+nowhere).refused(404, refusal.NotFound, "importID")
	w.get("/imports/x").refused(400, refusal.ValidationFailure, "importID")
	w.permit(harborKey, "import")
	w.check("", threeCards).refused(403, refusal.NotAuthorized)
	w.permit(harborKey, "codes")
	w.check("", threeCards).refused(403, refusal.NotAuthorized)
	w.permit(harborKey, "import", "codes")
	w.check("", threeCards).want(200)
	w.permit(pierKey, "import", "codes")
	for _, r := range []reply{w.check("", threeCards, as(pierKey)...), w.get("/imports", as(pierKey)...),
		w.get("/imports/"+nowhere, as(pierKey)...), w.do("DELETE", base+"/imports/"+nowhere, "", as(pierKey)...)} {
		r.refused(403, refusal.NotAuthorized)
	}
	for _, r := range []reply{w.check("", threeCards, as(systemKey)...), w.get("/imports", as(systemKey)...),
		w.get("/imports/"+nowhere, as(systemKey)...), w.do("DELETE", base+"/imports/"+nowhere, "", as(systemKey)...),
		w.get("/imports/"+nowhere+"/certificate", as(systemKey)...)} {
		r.refused(422, refusal.NotSupported)
	}
	// Another account has no such import.
	w.permit(harborKey, "import", "codes")
	r = w.upload("expectCount=3&expectTotal=61.75", threeCards).want(200)
	one := "/imports/" + r.at("import.importID")
	w.get(one, as(cornerKey)...).refused(404, refusal.NotFound, "importID")
	w.get(one+"/certificate", as(cornerKey)...).refused(404, refusal.NotFound, "importID")
	w.do("DELETE", base+one, "", as(cornerKey)...).refused(404, refusal.NotFound, "importID")
	w.get("/imports", as(cornerKey)...).want(200).has("imports", 0)
	w.settles(r.at("import.importID"), "FINISHED")
}

// TestImportsAreJudgedInTheCallersLanguage: what is wrong with a file and with its lines is said in the language that
// Accept-Language asks for, with the values in it; in English to whoever asks for none.
func TestImportsAreJudgedInTheCallersLanguage(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	w.declare(merchant.CodeForm{Digits: 16})
	const file = "code,balance,pin\n6006123456789012,\"1,234\",12\n600612345678901,-1,\n"
	for language, told := range map[string][]string{
		"": {"en", "3 gifts were expected, and the file has 0.", "A PIN has 4 to 12 digits.",
			"The code has 15 digits, and importedCodes in the set-up declares 16: a spreadsheet may have taken the zeros at " +
				"its beginning away.", "The amount is negative.", "This is a PDF file, no CSV file"},
		"de-AT": {"de", "3 Gutscheine wurden erwartet, und die Datei hat 0.", "Eine PIN hat 4 bis 12 Ziffern.",
			"Der Code hat 15 Ziffern, und importedCodes in der Einrichtung nennt 16: Eine Tabellenkalkulation hat vielleicht " +
				"die Nullen am Anfang weggelassen.", "Der Betrag ist negativ.", "Das ist eine PDF-Datei, keine CSV-Datei"},
		"es": {"es", "Se esperaban 3 regalos, y el archivo tiene 0.", "Un PIN tiene de 4 a 12 cifras.",
			"El código tiene 15 cifras, e importedCodes en la configuración declara 16: puede que una hoja de cálculo haya " +
				"quitado los ceros del principio.", "El importe es negativo.", "Esto es un archivo PDF, no un archivo CSV"},
	} {
		var headers []string
		if language != "" {
			headers = []string{"Accept-Language", language}
		}
		r := w.check("expectCount=3", file, headers...).want(200, "reasons[0]", told[1], "problems[1].text", told[2],
			"problems[2].text", told[3], "problems[3].text", told[4], "problems[3].column", "balance")
		if r.header.Get("Content-Language") != told[0] || r.header.Get("Vary") != "Accept-Language" {
			t.Errorf("%q: headers %v", language, r.header)
		}
		r = w.check("", "%PDF-1.7", headers...).refused(400, refusal.ValidationFailure, "file")
		if text := r.at("messages[0].text"); !strings.HasPrefix(text, told[5]) {
			t.Errorf("%q: %q", language, text)
		}
		unclosed := "code,balance\n" + strings.Repeat("\"x,1\n", 2_000)
		w.check("", unclosed, headers...).refused(400, refusal.ValidationFailure, "file")
	}
}

// TestImportOfManyProblems: of a file with very many bad lines, the first 1,000 problems are told.
func TestImportOfManyProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.declare(merchant.CodeForm{Digits: 16})
	var b strings.Builder
	b.WriteString("code,balance\n")
	for n := range 3_000 {
		fmt.Fprintf(&b, "%016d,-1\n", n)
	}
	w.check("", b.String()).want(200, "linesRefused", "3000").has("problems", 1_000)
}

// TestImportIsUnderWay: while the gifts are written, nobody sees any of them, the import is not undone, the same file
// is the same import; and a service that stops leaves it to the next one. A file that is too large is refused.
func TestImportIsUnderWay(t *testing.T) {
	t.Parallel()
	const confirmed = "expectCount=3&expectTotal=61.75"
	waiting := make(chan func(context.Context), 10)
	w := newWorld(t, func(c *config) {
		c.Imports.Background, c.Imports.Most = func(run func(context.Context)) { waiting <- run }, 1<<20
	})
	w.declare(merchant.CodeForm{Digits: 16})
	r := w.upload(confirmed, threeCards).want(200, "import.state", "STAGED", "import.giftsWritten", "0")
	importID := r.at("import.importID")
	w.upload(confirmed, threeCards).want(200, "import.importID", importID)
	w.do("DELETE", base+"/imports/"+importID, "").refused(409, refusal.RequestInProgress)
	w.get("/imports/"+importID+"/certificate").refused(404, refusal.NotFound, "importID")
	w.post("validate-gift", `{"voucherCode":"6006123456789012","organizationID":"`+pier+`"}`).refused(404,
		refusal.NotFound)
	if len(waiting) != 1 {
		t.Fatalf("%d are at it", len(waiting))
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	(<-waiting)(stopped)
	w.get("/imports/"+importID).want(200, "state", "STAGED", "stopped", "null")
	w.upload(confirmed, threeCards).want(200, "import.importID", importID)
	(<-waiting)(t.Context())
	w.get("/imports/"+importID).want(200, "state", "FINISHED", "giftsWritten", "3")

	w.check("", strings.Repeat("x", 1<<20+1)).refused(413, refusal.ValidationFailure, "")
	w.upload(confirmed, strings.Repeat("x", 1<<20+1)).refused(413, refusal.ValidationFailure, "")
	chunked, err := http.NewRequestWithContext(t.Context(), "POST", w.server.URL+base+"/imports/check",
		io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20)), strings.NewReader("x")))
	if err != nil {
		t.Fatal(err)
	}
	chunked.Header.Set("Authorization", harborKey)
	answer, err := w.server.Client().Do(chunked)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 413 {
		t.Errorf("a body of unknown length is answered %d", answer.StatusCode)
	}
}

// TestUploadsAreBounded: an account is at one import at a time. Who hangs up in the middle, whose key ends meanwhile
// and who sends too many lines leaves nothing behind.
func TestUploadsAreBounded(t *testing.T) {
	t.Parallel()
	waiting := make(chan func(context.Context), 10)
	w := newWorld(t, func(c *config) {
		c.Imports.Background = func(run func(context.Context)) { waiting <- run }
	})
	w.declare(merchant.CodeForm{Digits: 16})
	const other = "code,balance\n6006123456789099,1.00\n"
	w.upload("expectCount=3&expectTotal=61.75", threeCards).want(200)
	often := w.upload("expectCount=1&expectTotal=1.00", other).refused(409, refusal.RequestInProgress)
	if often.header.Get("Retry-After") == "" {
		t.Error("nobody says when a repeat makes sense")
	}
	w.check("", other).want(200, "importable", "true")
	(<-waiting)(t.Context())
	w.get("/imports").want(200, "imports[0].state", "FINISHED").has("imports", 1)

	half, rest := io.Pipe()
	cut, err := http.NewRequestWithContext(t.Context(), "POST", w.server.URL+base+"/imports/check", half)
	if err != nil {
		t.Fatal(err)
	}
	cut.Header.Set("Authorization", harborKey)
	go func() {
		_, _ = rest.Write([]byte(other))
		rest.CloseWithError(io.ErrUnexpectedEOF)
	}()
	if answer, err := w.server.Client().Do(cut); err == nil {
		answer.Body.Close()
		t.Errorf("half a file is answered %d", answer.StatusCode)
	}
	w.check("", "code,balance\n"+strings.Repeat("1,1\n", 1_000_001)).refused(400, refusal.ValidationFailure, "file")

	server := httptest.NewServer(w.config.handler()) // the judge of the contract would wait for the whole body
	t.Cleanup(server.Close)
	w.permit(harborKey, "import", "codes")
	slow, goesOn := io.Pipe()
	ended, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+base+"/imports/check", slow)
	if err != nil {
		t.Fatal(err)
	}
	ended.Header.Set("Authorization", harborKey)
	go func() {
		_, _ = goesOn.Write(bytes.Repeat([]byte("1,1\n"), 8<<20)) // so the service has begun to read it
		w.permit(harborKey, "look-up")
		goesOn.Close()
	}()
	answer, err := server.Client().Do(ended)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 403 {
		t.Errorf("a key that may no more when its file has arrived is answered %d", answer.StatusCode)
	}
	if left, err := os.ReadDir(w.dir); err != nil || slices.ContainsFunc(left,
		func(f os.DirEntry) bool { return strings.Contains(f.Name(), "scratch") }) {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestImportThatNobodyGoesOnWith: where the instance that writes an import or takes it back was killed, every other
// instance says so after a while, and whoever does it once more goes on.
func TestImportThatNobodyGoesOnWith(t *testing.T) {
	t.Parallel()
	const confirmed = "expectCount=3&expectTotal=61.75"
	waiting := make(chan func(context.Context), 10)
	w := newWorld(t, func(c *config) {
		c.Imports.Background = func(run func(context.Context)) { waiting <- run }
	})
	w.declare(merchant.CodeForm{Digits: 16})
	killed, kill := context.WithCancel(t.Context())
	kill()
	one := "/imports/" + w.upload(confirmed, threeCards).want(200, "import.stopped", "null").at("import.importID")
	(<-waiting)(killed)
	w.get(one).want(200, "state", "STAGED", "stopped", "null")
	abandoned := func(state, code string, do ...string) {
		t.Helper()
		w.skew.Store(int64(3 * time.Minute))
		for n, language := range []string{"en", "de", "es"} {
			r := w.get(one, "Accept-Language", language).want(200, "state", state, "stoppedCode", code)
			if !strings.Contains(r.at("stopped"), do[n]) || r.header.Get("Content-Language") != language {
				t.Errorf("of an import that nobody goes on with is said %q, in %s", r.at("stopped"),
					r.header.Get("Content-Language"))
			}
			w.get("/imports", "Accept-Language", language).want(200, "imports[0].stopped", r.at("stopped"))
		}
		w.skew.Store(0)
	}
	abandoned("STAGED", "WRITER_ENDED", "Send the same file again", "Schick dieselbe Datei noch einmal",
		"Envíe otra vez el mismo archivo")
	w.upload(confirmed, threeCards).want(200, "import.stopped", "null")
	(<-waiting)(t.Context())
	w.get(one).want(200, "state", "FINISHED", "stopped", "null", "stoppedCode", "null")
	w.skew.Store(int64(3 * time.Minute))
	w.get(one).want(200, "stopped", "null") // it is over
	w.skew.Store(0)
	w.do("DELETE", base+one, "").want(200, "state", "UNDOING", "stopped", "null")
	(<-waiting)(killed)
	abandoned("UNDOING", "UNDOER_ENDED", "Undo the import once more", "Nimm die Übernahme noch einmal zurück",
		"Deshaga otra vez la importación")
	w.do("DELETE", base+one, "").want(200, "state", "UNDOING", "stopped", "null")
	(<-waiting)(t.Context())
	w.get(one).want(200, "state", "UNDONE", "stopped", "null")
}

type keptImports = manage.Imports // a field named Imports would hide the method

// elsewhere is a store in which another instance goes on with the import, or which writes none.
type elsewhere struct {
	keptImports
	failed atomic.Pointer[error]
}

func (e *elsewhere) FinishImport(context.Context, *intake.Import, event.TrailEntry) error {
	return *e.failed.Load()
}

// TestImportThatAnotherInstanceWrites: where two instances write one import, the slower one does not have people take
// it back. Where writing failed, that is said, until it is taken back.
func TestImportThatAnotherInstanceWrites(t *testing.T) {
	t.Parallel()
	const confirmed = "expectCount=3&expectTotal=61.75"
	waiting := make(chan func(context.Context), 10)
	var s elsewhere
	var failures []error
	w := newWorld(t, func(c *config) {
		s.keptImports, c.Imports.Store = c.Imports.Store, &s
		c.Imports.Failed = func(_, _ guid.ID, err error) { failures = append(failures, err) }
		c.Imports.Background = func(run func(context.Context)) { waiting <- run }
	})
	w.declare(merchant.CodeForm{Digits: 16})
	for failed, code := range map[error]string{intake.ErrMoved: "null", errors.New("a disk is full"): "WRITING_FAILED"} {
		s.failed.Store(&failed)
		one := "/imports/" + w.upload(confirmed, threeCards).want(200).at("import.importID")
		(<-waiting)(t.Context())
		r := w.get(one, "Accept-Language", "de").want(200, "state", "STAGED", "stoppedCode", code)
		if said := r.at("stopped"); (code == "null") != (said == "null") ||
			code != "null" && !strings.HasPrefix(said, "Die Gutscheine konnten nicht alle geschrieben werden.") {
			t.Errorf("after %v, it stopped as %q", failed, said)
		}
		w.do("DELETE", base+one, "").want(200, "state", "UNDOING", "stopped", "null", "stoppedCode", "null")
		(<-waiting)(t.Context())
		w.get(one).want(200, "state", "UNDONE", "stopped", "null")
	}
	if len(failures) != 1 {
		t.Errorf("the operator is told of %v", failures)
	}
}

// twice is a store in which something happens while a file is checked.
type twice struct {
	keptImports
	meanwhile atomic.Pointer[func()]
}

func (s *twice) TakenCodes(ctx context.Context, account guid.ID, wanted []codes.VoucherCode) (
	map[codes.VoucherCode]intake.Taken, error) {
	if do := s.meanwhile.Swap(nil); do != nil {
		(*do)()
	}
	return s.keptImports.TakenCodes(ctx, account, wanted)
}

// TestImportIsConfirmedTwiceAtOnce: whoever confirms a file twice is told of the one import, and not that the file is
// wrong, wherever the first one is meanwhile.
func TestImportIsConfirmedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	const confirmed = "expectCount=3&expectTotal=61.75"
	waiting := make(chan func(context.Context), 10)
	var s twice
	w := newWorld(t, func(c *config) {
		s.keptImports, c.Imports.Store = c.Imports.Store, &s
		c.Imports.Background = func(run func(context.Context)) { waiting <- run }
	})
	a := w.declare(merchant.CodeForm{Digits: 16})
	while := func(do func()) { s.meanwhile.Store(&do) }

	one := w.upload(confirmed, threeCards).want(200, "import.state", "STAGED").at("import.importID")
	while(func() { (<-waiting)(t.Context()) })
	w.upload(confirmed, threeCards).want(200, "import.importID", one, "import.state", "FINISHED", "importable", "true",
		"gifts", "3").has("reasons", 0)
	w.do("DELETE", base+"/imports/"+one, "").want(200)
	(<-waiting)(t.Context())

	while(func() {
		o := &intake.Order{Account: a, From: merchant.FromOther, Count: -1, Progress: func(string, int, int) {}}
		file := strings.NewReader(threeCards)
		r, err := intake.Check(t.Context(), s.keptImports, o, file)
		if err == nil {
			_, err = intake.Bring(t.Context(), s.keptImports, o, r, file)
		}
		if err != nil {
			t.Error(err)
		}
	})
	w.upload(confirmed, threeCards).refused(409, refusal.RequestInProgress)
	other := w.upload(confirmed, threeCards).want(200, "import.state", "FINISHED").at("import.importID")
	w.get("/imports").want(200, "imports[0].importID", other).has("imports", 2)

	w.do("DELETE", base+"/imports/"+other, "").want(200)
	(<-waiting)(t.Context())
	w.upload(confirmed, threeCards).want(200, "import.state", "STAGED")
	while(func() { (<-waiting)(t.Context()) })
	w.upload("expectCount=4&expectTotal=61.75", threeCards).refused(400, refusal.ValidationFailure, "file", "file")
}

// TestImportOfAKeyThatChangesMeanwhile: while a file is checked, which takes minutes, the key that brought it is
// revoked or changed. Then nothing of the file is brought in, nor told.
func TestImportOfAKeyThatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*merchant.Key)
		status int
		code   refusal.Code
	}{
		"revoked":             {func(k *merchant.Key) { k.RevokedAt = time.Now() }, 401, refusal.Unauthenticated},
		"lost its permission": {func(k *merchant.Key) { k.Permissions &^= merchant.MayImport }, 403, refusal.NotAuthorized},
		"moved":               {func(k *merchant.Key) { k.Locations = []guid.ID{id(wharf)} }, 403, refusal.NotAuthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s twice
			w := newWorld(t, func(c *config) { s.keptImports, c.Imports.Store = c.Imports.Store, &s })
			w.declare(merchant.CodeForm{Digits: 16})
			k := *w.directory.Load().Keys[merchant.HashKey(rotatedKey)]
			was := k
			for _, call := range []func(query, file string, headers ...string) reply{w.check, w.upload} {
				w.addKeys(&was)
				k = was
				c.change(&k)
				do := func() { w.addKeys(&k) }
				s.meanwhile.Store(&do)
				call("expectCount=3&expectTotal=61.75", threeCards, "Authorization", rotatedKey).refused(c.status, c.code)
			}
			w.get("/imports").want(200).has("imports", 0)
		})
	}
}
