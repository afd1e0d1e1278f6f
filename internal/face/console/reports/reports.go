// Package reports is where staff read the reports of the books, and take them along as files; and the audit trail.
package reports

import (
	"embed"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/face/console/figures"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/staff"
)

//go:embed templates
var templates embed.FS

// Part is the pages of the books, and of who did what.
func Part(store Store) desk.Part {
	return desk.Part{Begins: true, Templates: templates, Pages: append([]desk.Page{
		{Pattern: "GET /reports", Nav: "console.reports", Key: "r", Needs: merchant.MayReport, Do: reports},
		{Pattern: "GET /reports/{name}", Needs: merchant.MayReport, Do: report},
		{Pattern: "GET /reports/{name}/file", Needs: merchant.MayReport, Do: reportFile},
	}, auditPages(store)...)}
}

// reportForm is what can be asked of a report of the JSON interface.
type reportForm struct {
	name    string
	period  bool     // it is of a period; else of a day
	groups  []string // that its rows may be apart by
	number  string   // the name of a number that has to be said; "": none
	journal bool     // it is a file for an accounting program, of days that are over
}

// reportForms are the reports, in the order in which a month is closed.
var reportForms = []reportForm{
	{name: "liability", groups: []string{"program", "organization", "month"}},
	{name: "roll-forward", period: true},
	{name: "redemptions", period: true, groups: []string{"organization", "day", "program", "key"}},
	{name: "settlement", period: true},
	{name: "ageing"},
	{name: "breakage", number: "rate"},
	{name: "dormant", number: "months"},
	{name: "journal", period: true, journal: true},
}

// journalFormats are the files that a journal can be.
var journalFormats = []string{"csv", "datev", "xero", "quickbooks", "hledger"}

// reports lists the reports.
func reports(r *desk.Request) (desk.View, error) {
	var all []reportLink
	for n := range reportForms {
		name := reportForms[n].name
		all = append(all, reportLink{desk.Home(r.Account.ID) + "reports/" + name, r.Locale.Text("console.report." + name),
			r.Locale.Text("console.report.text." + name)})
	}
	return desk.View{Template: "reports.html", Title: "console.reports", Data: all}, nil
}

// reportLink is a report in the list.
type reportLink struct{ To, Name, Text string }

// operation is the operation of the interface that makes the report.
func (form *reportForm) operation() string {
	var b strings.Builder
	b.WriteString("get")
	for _, word := range strings.Split(form.name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// reportShown is what the page of a report shows.
type reportShown struct {
	Text, Operation  string
	Period, Journal  bool
	At, From, To     string // days, as forms have them
	When             string // they, as people write them
	Latest           string // the last day that can be asked for
	Number, NumberIs string // the name of a number; and what it is
	Usual            []usual
	Groups           []choice
	Formats          []choice
	Wrong            []wrong // why there is no report
	Books            string  // where an owner writes what the set-up lacks; "": it lacks nothing, or the member may not
	Tables           []figures.Table
	Even             bool // it is about who owes whom, and nobody does
	Made             bool
	File             string // the address of the report as a file
	FormTo           string
	All              string
	Proof            string
}

// wrong is a reason why there is no report, with the list of what it is about.
type wrong struct {
	Text  string
	Lacks []string
}

// wrongs are the reasons of a refusal. What is below the path of a reason is in its list.
func wrongs(r *desk.Request, refused *refusal.Error) (all []wrong) {
	above := ""
	for n, text := range r.Said(refused) {
		path := refused.Messages[n].Path
		if last := len(all) - 1; above != "" && strings.HasPrefix(path, above+".") {
			all[last].Lacks = append(all[last].Lacks, text)
			continue
		}
		all, above = append(all, wrong{Text: text}), path
	}
	return all
}

// usual is a report of days that people ask for again and again.
type usual struct {
	To, Text string
	Here     bool // it is shown
}

// usualDays are links to the report of the month that ended, and of the one that goes on: whoever closes a month types
// no dates.
func (form *reportForm) usualDays(r *desk.Request, asked url.Values, to string) []usual {
	y, m, d := r.Now.In(r.Account.Zone).Date()
	date := func(m time.Month, d int) string {
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	link := func(text string, days ...string) usual {
		of := maps.Clone(asked)
		for n := 0; n < len(days); n += 2 {
			of.Set(days[n], days[n+1])
		}
		return usual{desk.Address(to, of), r.Locale.Text(text), of.Encode() == asked.Encode()}
	}
	if form.period {
		return []usual{link("console.report.last-month", "from", date(m-1, 1), "to", date(m, 0)),
			link("console.report.this-month", "from", date(m, 1), "to", date(m, d))}
	}
	return []usual{link("console.report.end-of-month", "at", date(m, 0)), link("console.report.today", "at", date(m, d))}
}

// choice is one of several in a form.
type choice struct {
	Value, Text string
	Is          bool
}

// report makes a report and shows it. A report that needs a number is made once the number is said.
func report(r *desk.Request) (desk.View, error) {
	form := findReport(r.HTTP.PathValue("name"))
	if form == nil {
		return desk.View{}, desk.ErrNoPage
	}
	asked := form.asked(r)
	shown := shownReport(r, form, asked)
	if form.journal || form.number != "" && asked.Get(form.number) == "" {
		return reportView(form, shown, 0), nil
	}
	var told figures.Report
	err := r.Operate(http.MethodGet, desk.Address("/reports/"+form.name, asked), "", nil, &told)
	if err == nil {
		shown.Tables, err = told.Tables(r.Locale)
	}
	refused, is := errors.AsType[*refusal.Error](err)
	switch {
	case is:
		shown.Wrong = wrongs(r, refused)
		return reportView(form, shown, refused.Code.Status()), nil
	case err != nil:
		return desk.View{}, err
	}
	shown.Made, shown.Proof = true, told.ReportID
	shown.Even = form.name == "settlement" && len(shown.Tables) == 1 && len(shown.Tables[0].Rows) > 0
	shown.File = shown.FormTo + desk.Address("/file", desk.With(asked, "format", "csv"))
	return reportView(form, shown, 0), nil
}

// reportFile is a report as a file: as CSV, and a journal as the program reads it that was chosen.
func reportFile(r *desk.Request) (desk.View, error) {
	form := findReport(r.HTTP.PathValue("name"))
	if form == nil {
		return desk.View{}, desk.ErrNoPage
	}
	asked := form.asked(r)
	asked.Set("format", "csv")
	if format := r.HTTP.FormValue("format"); form.journal && slices.Contains(journalFormats, format) {
		asked.Set("format", format)
	}
	file := &desk.Answered{}
	err := r.Operate(http.MethodGet, desk.Address("/reports/"+form.name, asked), "", nil, file)
	if refused, is := errors.AsType[*refusal.Error](err); is {
		shown := shownReport(r, form, asked)
		shown.Wrong = wrongs(r, refused)
		if refused.Code == refusal.AccountMisconfigured && r.Member.Role == staff.Owner {
			shown.Books = desk.Home(r.Account.ID) + "setup/books"
		}
		return reportView(form, shown, refused.Code.Status()), nil
	}
	return desk.View{File: file}, err
}

func findReport(name string) *reportForm {
	if n := slices.IndexFunc(reportForms, func(f reportForm) bool { return f.name == name }); n >= 0 {
		return &reportForms[n]
	}
	return nil
}

func reportView(form *reportForm, shown *reportShown, status int) desk.View {
	return desk.View{Status: status, Template: "report.html", Title: "console.report." + form.name, Data: shown}
}

// asked is what the form asks for, as the interface is asked. Where nothing is said, a report is of today, or from the
// first of the month on; a journal is of the month before.
func (form *reportForm) asked(r *desk.Request) url.Values {
	given := func(name, otherwise string) string {
		if text := strings.TrimSpace(r.HTTP.FormValue(name)); text != "" {
			return text
		}
		return otherwise
	}
	y, m, d := r.Now.In(r.Account.Zone).Date()
	date := func(y int, m time.Month, d int) string {
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	asked := url.Values{}
	switch {
	case form.journal:
		asked.Set("from", given("from", date(y, m-1, 1)))
		asked.Set("to", given("to", date(y, m, 0)))
	case form.period:
		asked.Set("from", given("from", date(y, m, 1)))
		asked.Set("to", given("to", date(y, m, d)))
	default:
		asked.Set("at", given("at", date(y, m, d)))
	}
	if number := given(form.number, ""); form.number != "" && number != "" {
		asked.Set(form.number, number)
	}
	var groups []string
	for _, text := range r.HTTP.Form["groupBy"] {
		groups = append(groups, strings.Split(text, ",")...)
	}
	if groups = slices.DeleteFunc(groups, func(g string) bool { return g == "" }); len(groups) > 0 {
		asked.Set("groupBy", strings.Join(groups, ","))
	}
	return asked
}

// shownReport is the form, filled in with what was asked for.
func shownReport(r *desk.Request, form *reportForm, asked url.Values) *reportShown {
	latest := r.Now.In(r.Account.Zone)
	if form.journal {
		latest = latest.AddDate(0, 0, -1)
	}
	all := desk.Home(r.Account.ID) + "reports"
	shown := &reportShown{Operation: form.operation(), Text: r.Locale.Text("console.report.text." + form.name),
		Period:  form.period,
		Journal: form.journal, At: asked.Get("at"), From: asked.Get("from"), To: asked.Get("to"),
		Latest: latest.Format(time.DateOnly), FormTo: all + "/" + form.name, All: all}
	if !form.journal {
		shown.Usual = form.usualDays(r, asked, shown.FormTo)
	} else {
		shown.FormTo += "/file"
		for _, format := range journalFormats {
			shown.Formats = append(shown.Formats, choice{format, r.Locale.Text("console.format." + format),
				format == asked.Get("format")})
		}
	}
	if form.number != "" {
		shown.Number, shown.NumberIs = form.number, asked.Get(form.number)
	}
	for _, day := range []string{shown.At, shown.From, shown.To} {
		if d, err := time.Parse(time.DateOnly, day); err == nil {
			shown.When += strings.Repeat(" – ", min(1, len(shown.When))) + r.Locale.Day(d)
		}
	}
	by := strings.Split(asked.Get("groupBy"), ",")
	for _, g := range form.groups {
		shown.Groups = append(shown.Groups, choice{g, r.Locale.Text("console.group." + g), slices.Contains(by, g)})
	}
	return shown
}
