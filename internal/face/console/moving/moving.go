// Package moving is where staff bring cards of another system in, take an import back, and take what the account has
// along as files.
package moving

import (
	"embed"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/merchant"
)

//go:embed templates
var templates embed.FS

// mayBringIn are what somebody needs who brings cards in: whoever does it learns which codes are in use.
const mayBringIn = merchant.MayImport | merchant.MaySeeCodes

// Part is the pages of imports and exports.
func Part() desk.Part {
	return desk.Part{Templates: templates, Pages: []desk.Page{
		{Pattern: "GET /imports", Nav: "console.moving", Needs: merchant.MayImport, Do: list},
		{Pattern: "GET /imports/new", Needs: mayBringIn, Do: func(r *desk.Request) (desk.View, error) {
			return showForm(r, &formShown{}, 0), nil
		}},
		{Pattern: "POST /imports/check", Needs: mayBringIn, Streams: true, Do: check},
		{Pattern: "POST /imports", Needs: mayBringIn, Streams: true, Do: bringIn},
		{Pattern: "GET /imports/{importID}", Needs: merchant.MayImport, Do: show},
		{Pattern: "GET /imports/{importID}/certificate", Needs: merchant.MayImport, Do: certificate},
		{Pattern: "POST /imports/{importID}/undo", Needs: mayBringIn, Do: undo},
		{Pattern: "GET /export", Needs: merchant.MayExport, Do: exportForm},
		{Pattern: "POST /export/file", Needs: merchant.MayExport, Do: exportFile},
		{Pattern: "POST /export/codes", Needs: merchant.MayExport | merchant.MaySeeCodes, Fresh: true, Do: exportCodes},
	}}
}

// told is an import as the interface tells it.
type told struct {
	ImportID                   string
	State                      string
	GiftsWritten, GiftsPlanned int
	AsOf, StartedAt            time.Time
	By                         string
	Used                       bool
	Stopped                    string
	HasCertificate             bool
}

// shown is an import as a page shows it.
type shown struct {
	told

	To, All string // its address, and that of all imports
	StateIs string
	BringIn bool // the member may take it back
	Goes    bool // it is written or taken back
	AsOfIs  string
}

func (m *told) shown(r *desk.Request) shown {
	all := desk.Home(r.Account.ID) + "imports"
	m.StartedAt = m.StartedAt.In(r.Account.Zone)
	return shown{told: *m, To: all + "/" + m.ImportID, All: all,
		StateIs: r.Locale.Text("console.import.state." + m.State),
		BringIn: r.Member.Role.May().Has(mayBringIn),
		Goes:    (m.State == "UNDOING" || m.State == "STAGED") && m.Stopped == "",
		AsOfIs:  r.Locale.Moment(m.AsOf.In(r.Account.Zone))}
}

// listShown is what the list of imports shows.
type listShown struct {
	Imports     []shown
	New, Export string // addresses; "": the member may not
	Declared    bool   // the account has declared the codes of another system
	Forms       string // where that is done
}

// list lists the imports.
func list(r *desk.Request) (desk.View, error) {
	var answer struct{ Imports []told }
	if err := r.Operate(http.MethodGet, "/imports", "", nil, &answer); err != nil {
		return desk.View{}, err
	}
	may, home := r.Member.Role.May(), desk.Home(r.Account.ID)
	is := listShown{Declared: len(r.Account.ImportedCodes) > 0, Forms: home + "setup/old-cards"}
	if may.Has(mayBringIn) {
		is.New = home + "imports/new"
	}
	if may.Has(merchant.MayExport) {
		is.Export = home + "export"
	}
	for n := range answer.Imports {
		is.Imports = append(is.Imports, answer.Imports[n].shown(r))
	}
	return desk.View{Template: "imports.html", Title: "console.moving", Data: is}, nil
}

// show shows how far an import is, and what can be done with it.
func show(r *desk.Request) (desk.View, error) {
	var m told
	if err := r.Operate(http.MethodGet, "/imports/"+r.HTTP.PathValue("importID"), "", nil, &m); err != nil {
		return desk.View{}, err
	}
	return desk.View{Template: "import.html", Title: "console.import", Data: m.shown(r)}, nil
}

// certificate gives the certificate, as the page to sign or as it was signed.
func certificate(r *desk.Request) (desk.View, error) {
	format := "pdf"
	if r.HTTP.FormValue("format") == "json" {
		format = "json"
	}
	file := &desk.Answered{}
	err := r.Operate(http.MethodGet, "/imports/"+r.HTTP.PathValue("importID")+"/certificate?format="+format, "", nil, file)
	return desk.View{File: file}, err
}

// undo takes an import back.
func undo(r *desk.Request) (desk.View, error) {
	id := r.HTTP.PathValue("importID")
	if err := r.Operate(http.MethodDelete, "/imports/"+id, "", nil, nil); err != nil {
		return desk.View{}, err
	}
	return desk.View{To: desk.Home(r.Account.ID) + "imports/" + id}, nil
}

// option is one of several in a form.
type option struct {
	Value, Text string
	Is          bool
}

// names are those of the systems whose files are read. They are the same in every language.
var names = map[merchant.System]string{merchant.FromSquare: "Square", merchant.FromShopify: "Shopify",
	merchant.FromToast: "Toast", merchant.FromGiftUp: "Gift Up!", merchant.FromWooCommerce: "WooCommerce",
	merchant.FromLightspeed: "Lightspeed"}

// systems are those whose files are read; chosen is the one that was.
func systems(r *desk.Request, chosen string) (all []option) {
	for _, s := range slices.Backward(merchant.Systems()) { // the plain file first
		name := names[s]
		if s == merchant.FromOther {
			name = r.Locale.Text("console.import.from.csv")
		}
		all = append(all, option{string(s), name, string(s) == chosen})
	}
	return all
}

// checked is what a file comes to, as the interface tells it.
type checked struct {
	LinesRead, LinesRefused, Gifts int
	TillsOnlyGifts                 int
	Total                          json.Number
	Pieces                         json.Number
	Importable                     bool
	Reasons, Warnings              []string
	ColumnsNotRead                 []string
	Problems                       []struct {
		Line         int
		Column, Text string
	}
	Import *told
}
