package till

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// importing is a browser of an owner before the form of a file, with a file chosen that has cards in a row.
func importing(t *testing.T) (s *shop, d *device, file string) {
	t.Helper()
	if s = openShop(t); s == nil {
		return nil, nil, ""
	}
	s.apply(fmt.Sprintf(setupFile, "    importedCodes: [{digits: 16}]\n"))
	d = s.staffDevice("ann@example.com")
	file = filepath.Join(t.TempDir(), "cards.csv")
	if err := os.WriteFile(file, []byte(rowOfCards), 0o600); err != nil {
		t.Fatal(err)
	}
	return s, d, file
}

// bringIn chooses a file, and has it be read with its cards for tills only; scripted: by the page's script.
func (d *device) bringIn(file string, scripted bool) {
	d.Helper()
	d.open("/console/" + account + "/imports/new")
	if !scripted {
		js[*string](d, `(form => { form.replaceWith(form.cloneNode(true)); return null })(
			document.querySelector("form[data-keeps-file]"))`) // which the script does not hear of
	}
	d.do(chromedp.SetUploadFiles(`form[data-keeps-file] [name="file"]`, []string{file}))
	d.tap(`form[data-keeps-file] [name="tillsOnly"]`)
	d.tap(`form[data-keeps-file] button`)
	d.shows("#checked", "The file can be brought in")
}

// TestTheFileIsKept: whoever confirms what a file comes to does not choose the file once more, and the page says which
// keys take the cards. It is the same after a mistake.
func TestTheFileIsKept(t *testing.T) {
	t.Parallel()
	s, d, file := importing(t)
	if s == nil {
		return
	}
	bad := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(bad, []byte("code,balance\n6006123456789010,-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.open("/console/" + account + "/imports/new")
	d.do(chromedp.SetUploadFiles(`form[data-keeps-file] [name="file"]`, []string{bad}))
	d.tap(`form[data-keeps-file] button`)
	d.shows("#checked", "cannot be brought in")
	d.shows("td:last-child", "The amount is negative.")
	d.console("console-import-wrong")

	d.bringIn(file, true)
	d.shows("main", "first take the permission")
	d.until("the file is not kept", `document.querySelector("form[data-same-file]")?.elements.file.files[0]?.name === "cards.csv" &&
		document.querySelector("[data-choose]").hidden`)
	if at := js[string](d, "document.activeElement.id"); at != "main" {
		t.Errorf("the focus is at %q, and the page is another one", at)
	}
	d.console("console-import-checked")
	d.tap(`form[data-same-file] button`)
	d.shows("main", "All 6 cards are good.")
	d.console("console-import-finished")
	d.calm()
}

// TestTheFileIsChosenAgain: without a script, the page asks for the file once more, and takes no other one.
func TestTheFileIsChosenAgain(t *testing.T) {
	t.Parallel()
	s, d, file := importing(t)
	if s == nil {
		return
	}
	d.bringIn(file, false)
	d.until("the file is kept", `document.querySelector("[data-choose]")?.hidden === false`)
	other := filepath.Join(t.TempDir(), "other.csv")
	if err := os.WriteFile(other, []byte("code,balance\n6006123456789010,50\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const confirm = `form[data-same-file] `
	d.do(chromedp.SetUploadFiles(confirm+`[name="file"]`, []string{other}))
	d.tap(confirm + "button")
	d.shows("[role=alert]", "6 gifts were expected, and the file has 1.")
	d.bringIn(file, false)
	d.do(chromedp.SetUploadFiles(confirm+`[name="file"]`, []string{file}))
	d.tap(confirm + "button")
	d.shows("main", "All 6 cards are good.")
	d.calm()
}
