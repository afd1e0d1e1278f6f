package moving

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"boon.example/internal/calendar"
	"boon.example/internal/export"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/refusal"
)

// mostPages is how many pages of 1,000 rows a file has at most that is downloaded here.
const mostPages = 20

// byteOrderMark is what a file for a spreadsheet begins with: without it, Excel shows an ü as two other letters.
const byteOrderMark = "\ufeff"

// exportShown is what the form of an export shows.
type exportShown struct {
	To, Codes string // where it is sent; with codes
	Formats   []string
	All       string
	Wrong     []string
}

func exportForm(r *desk.Request) (desk.View, error) { return showExport(r, nil, 0), nil }

func showExport(r *desk.Request, wrong []string, status int) desk.View {
	home := desk.Home(r.Account.ID)
	is := exportShown{To: home + "export/file", All: home + "imports", Wrong: wrong}
	if r.Member.Role.May().Has(mayBringIn) {
		is.Codes = home + "export/codes"
	}
	for _, f := range export.Formats() {
		is.Formats = append(is.Formats, string(f))
	}
	return desk.View{Template: "export.html", Title: "console.export", Data: is, Status: status}
}

func exportFile(r *desk.Request) (desk.View, error) { return download(r, url.Values{}) }

func exportCodes(r *desk.Request) (desk.View, error) {
	return download(r, url.Values{"codes": {"true"}})
}

// download gives the rows of some days as one file.
func download(r *desk.Request, q url.Values) (desk.View, error) {
	what := "gifts"
	if r.HTTP.FormValue("what") == "entries" && !q.Has("codes") {
		what = "entries"
	}
	q.Set("format", r.HTTP.FormValue("format"))
	for name, days := range map[string]int{"from": 0, "to": 1} { // to the end of the last day
		if text := r.HTTP.FormValue(name); text != "" {
			day, err := time.Parse(time.DateOnly, text)
			if err != nil {
				return showExport(r, []string{r.Locale.Text("console.export.day")}, http.StatusBadRequest), nil
			}
			at := calendar.FromWall(day.AddDate(0, 0, days), r.Account.Zone)
			q.Set(name, at.UTC().Format(time.RFC3339))
		}
	}
	whole := &desk.Answered{}
	if q.Get("format") == string(export.CSV) {
		whole.Body.WriteString(byteOrderMark)
	}
	for n := 0; ; n++ {
		page := &desk.Answered{}
		err := r.Operate(http.MethodGet, desk.Address("/exports/"+what, q), "", nil, page)
		if refused, is := errors.AsType[*refusal.Error](err); is {
			return showExport(r, r.Said(refused), refused.Code.Status()), nil
		}
		if err != nil {
			return desk.View{}, err
		}
		if err := r.TakeMemory(page.Body.Len()); err != nil {
			return desk.View{}, err
		}
		if n == 0 {
			maps.Copy(whole.Header(), page.Header())
		}
		whole.Body.Write(page.Body.Bytes())
		next := nextPage(page)
		if next == "" {
			break
		}
		if n+1 == mostPages {
			return showExport(r, []string{r.Locale.Text("console.export.long", mostPages*1000)}, http.StatusBadRequest), nil
		}
		q.Set("cursor", next)
	}
	whole.Header().Del("Content-Digest") // it was that of the first page
	return desk.View{File: whole}, nil
}

// nextPage is the cursor of the page after this one; "": there is none.
func nextPage(page *desk.Answered) string {
	link := page.Header().Get("Link")
	address, _, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	to, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return to.Query().Get("cursor")
}
