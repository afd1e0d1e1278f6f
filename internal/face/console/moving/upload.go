package moving

import (
	"errors"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// formShown is the form of a file, with what was typed into it and what the file comes to.
type formShown struct {
	Typed     map[string]string
	Systems   []option
	Zone      string
	CheckAt   string   // where the form is sent
	BringAt   string   // where what it comes to is confirmed
	All       string   // the address of all imports
	Wrong     []string // why nothing was checked or brought in
	Checked   *checked // nil: nothing was checked
	Total     string   // of the gifts of money
	MorePages bool     // there are more problems than are shown
	TillsOnly []string // the keys that take such cards beside Boon's own tills, where there are some for tills only
}

// showForm shows the form.
func showForm(r *desk.Request, f *formShown, status int) desk.View {
	// templates ask for all of them
	typed := map[string]string{"from": "", "asOf": "", "leaveOutRefused": "", "tillsOnly": ""}
	maps.Copy(typed, f.Typed)
	f.Typed = typed
	f.All = desk.Home(r.Account.ID) + "imports"
	f.CheckAt, f.BringAt, f.Zone = f.All+"/check", f.All, r.Account.Zone.String()
	f.Systems = systems(r, f.Typed["from"])
	return desk.View{Template: "import-file.html", Title: "console.import.new", Status: status, Data: f}
}

// maxTyped is how long what is typed into a field may be.
const maxTyped = 100

// errNoFile is for who has chosen no file.
var errNoFile = errors.New("no file")

// readForm reads what stands before the file in a form, and stops at the file.
func readForm(r *desk.Request) (typed map[string]string, file io.Reader, _ error) {
	typed = map[string]string{}
	parts, err := r.HTTP.MultipartReader()
	if err != nil {
		return typed, nil, errNoFile // of another type
	}
	for range 20 {
		part, err := parts.NextPart()
		if err != nil {
			break // at the end, or cut
		}
		if part.FormName() == "file" {
			return typed, part, emptyName(part)
		}
		text, err := io.ReadAll(io.LimitReader(part, maxTyped))
		if err != nil {
			break
		}
		typed[part.FormName()] = string(text)
	}
	return typed, nil, errNoFile
}

// emptyName is what a browser sends of a field into which no file was chosen.
func emptyName(p *multipart.Part) error {
	if p.FileName() == "" {
		return errNoFile
	}
	return nil
}

// asked is what the interface is asked with.
func asked(r *desk.Request, typed map[string]string, names ...string) (url.Values, error) {
	q := url.Values{}
	for _, name := range append(names, "from", "leaveOutRefused", "tillsOnly") {
		if typed[name] != "" {
			q.Set(name, typed[name])
		}
	}
	if typed["asOf"] != "" {
		at, err := time.ParseInLocation("2006-01-02T15:04", typed["asOf"], r.Account.Zone)
		if err != nil {
			return nil, refusal.At(refusal.ValidationFailure, "asOf", "Choose a day and a time.")
		}
		q.Set("asOf", at.UTC().Format(time.RFC3339))
	}
	return q, nil
}

// send hands the file of a form to an operation.
func send(r *desk.Request, path string, names ...string) (*formShown, error) {
	typed, file, err := readForm(r)
	f := &formShown{Typed: typed}
	if errors.Is(err, errNoFile) {
		return f, refusal.New(refusal.ValidationFailure, "%s", r.Locale.Text("console.import.no-file"))
	}
	if err != nil {
		return f, err
	}
	q, err := asked(r, typed, names...)
	if err != nil {
		return f, err
	}
	var answer checked
	if err := r.Upload(desk.Address(path, q), file, &answer); err != nil {
		return f, err
	}
	f.Checked = &answer
	return f, nil
}

// refusedForm shows the form once more, with why nothing was done.
func refusedForm(r *desk.Request, f *formShown, err error) (desk.View, error) {
	if open := desk.Undecided(err); open != nil {
		err = open // the file is chosen once more; the same file is the same import
	}
	refused, is := errors.AsType[*refusal.Error](err)
	if !is {
		return desk.View{}, err
	}
	f.Wrong = r.Said(refused)
	return showForm(r, f, refused.Code.Status()), nil
}

// check shows what a file comes to.
func check(r *desk.Request) (desk.View, error) {
	f, err := send(r, "/imports/check")
	if err != nil {
		return refusedForm(r, f, err)
	}
	a := r.Account
	f.Typed["expectCount"], f.Typed["expectTotal"] = strconv.Itoa(f.Checked.Gifts), f.Checked.Total.String()
	total, err := a.Currency.ParseSigned(money.Number(f.Checked.Total))
	if err != nil {
		return desk.View{}, err
	}
	f.Total = r.Locale.Money(total, a.Currency)
	if f.Checked.TillsOnlyGifts > 0 {
		f.TillsOnly = r.TillsOnlyKeys()
	}
	f.MorePages = len(f.Checked.Problems) < f.Checked.LinesRefused
	return showForm(r, f, http.StatusOK), nil
}

// bringIn has a file be brought in that was checked, and leads to the page that says how far that is.
func bringIn(r *desk.Request) (desk.View, error) {
	f, err := send(r, "/imports", "expectCount", "expectTotal")
	if err != nil {
		return refusedForm(r, f, err)
	}
	return desk.View{To: desk.Home(r.Account.ID) + "imports/" + f.Checked.Import.ImportID}, nil
}
