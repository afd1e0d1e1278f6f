package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/bidi"

	"boon.example/internal/base/admission"
	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// Page is a page, or what a form of one does. It is for who is signed in to the account, where it says nothing else.
type Page struct {
	Pattern string               // method and path below the account, as http.ServeMux has them
	Nav     string               // the name of its text in the navigation; "": it is not there
	Key     string               // the letter that opens it after g, where it is in the navigation; "": none
	Needs   merchant.Permissions // of the member; without them the page is neither in the navigation nor served
	Owner   bool                 // it is for owners
	Fresh   bool                 // it asks the member to prove who they are, unless they did within five minutes
	// Files tells of its form, which is multipart/form-data, whether it may bring files: see Request.File. nil: the form
	// is of the usual type. Only of a page that is not open.
	Files   func(*http.Request) bool
	Streams bool // its form is multipart/form-data, whose parts Do reads itself, as they come: see Request.Upload
	Open    bool // it is for everybody
	Outside bool // it is for everybody and of no account: its path is whole
	Do      func(*Request) (View, error)

	group int // of the navigation
}

// Request is a request of a page.
type Request struct {
	*service.Call

	Locale  *locale.Locale
	Account *merchant.Account // nil: the address names none that there is
	Member  staff.Member      // who makes it; zero: nobody who is signed in
	Session staff.Session
	// Real is when it came by the service's own clock. Sessions, invitations and proofs go by it, also in a test account,
	// whose gifts go by Now.
	Real time.Time

	desk      *desk
	directory *merchant.Directory // the set-up at its time
	keys      map[guid.ID]string  // names of keys, as looking one up goes through all
	names     map[string]string   // what named gave; nil: nobody asked yet
}

// View is what a request is answered with.
type View struct {
	Status   int          // 0: 200
	Template string       // a file in the folder templates of the part
	Title    string       // a name of a text
	Heading  string       // what stands in its place, such as a name; "": the title
	State    *State       // of what the page is about, beside its title; nil: none
	Action   *Link        // what is done most on the page, beside its title; nil: nothing
	Data     any          // what the template shows
	JSON     any          // is sent in place of a template, for a script; nil: nothing
	To       string       // the address of another page, in place of a template
	File     *Answered    // of the interface, in place of a template
	Whole    http.Handler // answers in place of a template, with headers of its own
	Framed   bool         // Whole is for a frame in a page of the console
}

// What pages refuse.
var (
	ErrNoPage    = refusal.New(refusal.NotFound, "There is nothing at this address.")
	ErrNotForYou = refusal.New(refusal.NotAuthorized, "Your role may not do this. Ask an owner of the account.")
)

// maxForm is how long a form may be, in bytes.
const maxForm = 64 << 10

// maxFiles is how long a form may be that brings files: two pictures, and what is written.
const maxFiles = 9 << 20

// open serves a page for everybody.
func (f *desk) open(mux *http.ServeMux, p Page) {
	f.serve(mux, p.Pattern, func(r *Request) (View, error) {
		r.Account = r.directory.Accounts[r.AccountID()]
		r.ChooseLanguage()
		return p.Do(r)
	})
}

// closed serves a page for who is signed in to its account.
func (f *desk) closed(mux *http.ServeMux, p Page) {
	f.serve(mux, p.Pattern, func(r *Request) (View, error) {
		id := r.AccountID()
		err := r.SignedIn(id)
		r.ChooseLanguage()
		switch {
		case errors.Is(err, refusal.NotFound):
			return View{To: Home(id) + SignInPath[1:]}, nil
		case err != nil:
			return View{}, err
		case !r.sees(&p):
			return View{}, ErrNotForYou
		case p.Fresh && !r.Session.Proven(r.Real):
			_, section, _ := strings.Cut(p.Pattern, "/")
			section, _, _ = strings.Cut(section, "/")
			return r.ToConfirm(section), nil
		}
		caller := r.Member.Caller(r.Account)
		if err := r.readFiles(&p, caller); err != nil {
			return View{}, err
		}
		if err := r.Begin(caller, admission.Read, service.OtherDeadline); err != nil {
			return View{}, err
		}
		return p.Do(r)
	})
}

// readFiles reads a form that may bring files: only now, as whoever is not signed in shall bring none. It holds no
// place among the calls meanwhile, as it may take its time, and counts as memory of the account.
func (r *Request) readFiles(p *Page, caller *merchant.Caller) error {
	if p.Files == nil || !strings.HasPrefix(r.HTTP.Header.Get("Content-Type"), "multipart/form-data") {
		return nil
	}
	most := int64(maxForm)
	if p.Files(r.HTTP) {
		most = maxFiles
	}
	if r.HTTP.ContentLength >= 0 {
		most = min(most, r.HTTP.ContentLength)
	}
	r.Caller, r.Call.Account = caller, caller.Account
	if err := r.TakeMemory(int(most)); err != nil {
		return err
	}
	r.HTTP.Body = http.MaxBytesReader(r.Writer, r.HTTP.Body, most)
	if err := r.HTTP.ParseMultipartForm(most); err != nil {
		return errForm
	}
	return nil
}

// File is a file that a form brought; nil: it brought none of this name.
func (r *Request) File(field string) ([]byte, error) {
	content, _, err := r.NamedFile(field)
	return content, err
}

// NamedFile is File with the name that the file has where it comes from.
func (r *Request) NamedFile(field string) (content []byte, name string, err error) {
	if r.HTTP.MultipartForm == nil || len(r.HTTP.MultipartForm.File[field]) == 0 {
		return nil, "", nil
	}
	header := r.HTTP.MultipartForm.File[field][0]
	if header.Size == 0 {
		return nil, "", nil // the browser was given none
	}
	file, err := header.Open()
	if err != nil {
		return nil, "", errForm
	}
	defer file.Close()
	if content, err = io.ReadAll(file); err != nil {
		return nil, "", errForm
	}
	return content, header.Filename, nil
}

// sees reports whether the member may see a page.
func (r *Request) sees(p *Page) bool {
	return r.Member.Role.May().Has(p.Needs) && (!p.Owner || r.Member.Role == staff.Owner)
}

// serve serves requests. The form of one is read before anything else, as it may take its time.
func (f *desk) serve(mux *http.ServeMux, pattern string, do func(*Request) (View, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		whole := r.Body
		r.Body = http.MaxBytesReader(w, whole, maxForm)
		wrong := r.ParseForm()
		r.Body = whole // of a form with files, nothing was read
		c := new(service.Call)
		f.Service.Serve(w, r, c, func() service.Reply {
			of := &Request{Call: c, desk: f, directory: f.Directory()}
			of.Real = c.RealTime()
			c.Now = of.Real
			var v View
			var err error = errForm
			if wrong == nil {
				v, err = do(of)
			}
			return f.reply(of, v, err)
		})
	})
}

var errForm = refusal.New(refusal.ValidationFailure, "This form could not be read: it is too long, or was cut.")

// reply makes the answer of a request.
func (f *desk) reply(r *Request, v View, err error) service.Reply {
	if v.To != "" && err == nil {
		r.Writer.Header().Set("Location", v.To)
		return service.Reply{Status: http.StatusSeeOther}
	}
	if v.JSON != nil && err == nil {
		body, err := json.Marshal(v.JSON)
		if err != nil {
			return r.Reply(ledger.Answer{}, fmt.Errorf("writing what a script asks for: %w", err))
		}
		return service.Reply{Status: http.StatusOK, Body: body}
	}
	if v.File != nil && err == nil {
		return v.File.download(r.Writer.Header())
	}
	if v.Whole != nil && err == nil {
		return whole(r, &v)
	}
	if r.Locale == nil {
		r.ChooseLanguage()
	}
	reply := service.Reply{Status: http.StatusOK, Type: "text/html; charset=utf-8"}
	if open := Undecided(err); open != nil {
		v = r.again(open)
		reply.Err, reply.Code = open, open.Code
	} else if err != nil {
		told := service.Told(err)
		v = View{Template: "failed.html", Title: "console.failed", Status: told.Code.Status(),
			Data: failure{r.Said(told), r.RequestID, r.above()}}
		reply.Err, reply.Code = err, told.Code
	}
	if v.Status != 0 {
		reply.Status = v.Status
	}
	body, err := f.render(r, &v)
	if err != nil {
		return r.Reply(ledger.Answer{}, err)
	}
	reply.Body = body
	return reply
}

// whole is the answer of a handler.
func whole(r *Request, v *View) service.Reply {
	var w service.Kept
	v.Whole.ServeHTTP(&w, r.HTTP)
	if v.Framed {
		const policy = "Content-Security-Policy"
		w.Header().Set(policy, strings.Replace(w.Header().Get(policy), "frame-ancestors 'none'", "frame-ancestors 'self'", 1))
		r.Writer.Header().Set("X-Frame-Options", "SAMEORIGIN")
	}
	for _, name := range []string{"Content-Security-Policy", "Content-Language"} {
		if value := w.Header().Get(name); value != "" {
			r.Writer.Header().Set(name, value)
		}
	}
	return service.Reply{Status: w.Status(), Type: w.Header().Get("Content-Type"), Body: w.Body.Bytes()}
}

// again asks to send the very same form once more, under the key that it has.
func (r *Request) again(open *refusal.Error) View {
	shown := failure{Messages: r.Said(open), RequestID: r.RequestID, Above: r.above()}
	if r.HTTP.Method != http.MethodPost {
		return View{Template: "failed.html", Title: "console.failed", Status: open.Code.Status(), Data: shown}
	}
	return View{Template: "again.html", Title: "console.again", Status: open.Code.Status(),
		Data: sentAgain{shown, r.HTTP.PostForm}}
}

// sentAgain is a form that is sent again as it was.
type sentAgain struct {
	failure

	Fields url.Values
}

// failure is what a page says that cannot be shown.
type failure struct {
	Messages  []string
	RequestID string
	Above     string // the address of a page from which one goes on; "": nobody is signed in
}

// above is the page above the one that is asked for: of a gift, for what is done to it; else that of the navigation, or
// the first one.
func (r *Request) above() string {
	if r.Account == nil || len(r.Session.Key) == 0 {
		return ""
	}
	parts := strings.Split(strings.Trim(r.HTTP.URL.Path, "/"), "/")
	switch {
	case len(parts) < 2:
		parts = nil
	case parts[0] == "gifts" && len(parts) > 2:
		parts = parts[:2]
	default:
		parts = parts[:1]
	}
	return Home(r.Account.ID) + strings.Join(parts, "/")
}

// Said are the sentences of a refusal of the JSON interface, which says them in the language that it was asked for.
func Said(e *refusal.Error) []string { return said(e, merchant.English) }

// Said are the sentences of a refusal in the language of the page.
func (r *Request) Said(e *refusal.Error) []string { return said(e, r.Locale.Language()) }

// Words is a sentence in the language of the page.
func (r *Request) Words(p *phrase.Phrase) string { return p.In(locale.Words(r.Locale.Language())) }

// Retold says a sentence in the language of the page that was kept in English, as those of the audit trail are, but for
// whose account it is about: a page is of one. Not ok: nobody knows for certain what it says, and it has to be shown as
// it is.
func (r *Request) Retold(kept string) (string, bool) {
	l := r.Locale.Language()
	for _, own := range []string{r.Account.Name, r.Account.ID.String()} {
		kept = strings.TrimPrefix(kept, "account "+own+": ")
	}
	said, ok := locale.Kept(l).With(r.desk.FieldNames(l)).Naming(r.named()).Say(kept, r.shownValue)
	if !ok {
		return kept, l == merchant.English
	}
	return said, true
}

// named is what permissions, roles that are sets of them, and countries are called in the language of the page.
func (r *Request) named() map[string]string {
	if r.names != nil {
		return r.names
	}
	r.names = map[string]string{}
	for _, may := range merchant.PermissionNames() {
		r.names[may] = r.Locale.Text("console.may." + may)
	}
	for _, role := range merchant.RoleNames() {
		r.names[role] = r.Locale.Text("console.set-option." + role)
	}
	for _, country := range r.Countries() {
		r.names[country.Value] = country.Words
	}
	return r.names
}

// shownValue is a value of such a sentence: an instant by the clocks of the account, what an id stands for by its name,
// and a name that is written from right to left kept apart from what is around it.
func (r *Request) shownValue(value string, id bool) string {
	if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
		at = at.In(r.Account.Zone)
		return r.Locale.Day(at) + ", " + r.Locale.Clock(at)
	}
	if id {
		value = r.called(value)
	} else {
		value = r.places(value)
	}
	const isolate, pop = "\u2068", "\u2069"
	for _, c := range value {
		if p, _ := bidi.LookupRune(c); slices.Contains(fromTheRight, p.Class()) {
			return isolate + value + pop
		}
	}
	return value
}

// places writes several locations, which a sentence has between the English and, as every language does.
func (r *Request) places(value string) string {
	all := strings.Split(value, " and ")
	for _, name := range all {
		if !slices.ContainsFunc(r.Account.Locations, func(l merchant.Location) bool { return l.Name == name }) {
			return value
		}
	}
	return strings.Join(all, ", ")
}

// called is what people call the key, program or webhook that has an id; one that is gone, by its id.
func (r *Request) called(id string) string {
	of, err := guid.Parse(id)
	if err != nil {
		return id
	}
	if program, is := merchant.ProgramByID(of); is {
		return program.Name
	}
	if k := r.directory.Key(of); k != nil && k.AccountID == r.Account.ID {
		return k.Name
	}
	for _, w := range r.directory.Webhooks[r.Account.ID] {
		if u, err := url.Parse(w.URL); w.ID == of && err == nil {
			return cmp.Or(w.Description, u.Host)
		}
	}
	return id
}

// fromTheRight are the classes of characters that change in which order a sentence is shown.
var fromTheRight = []bidi.Class{bidi.R, bidi.AL, bidi.AN, bidi.Control}

func said(e *refusal.Error, l merchant.Language) (sentences []string) {
	for _, m := range e.Messages {
		sentences = append(sentences, m.In(locale.Words(l), func(f refusal.Field) string { return string(f) }))
	}
	return sentences
}

// SignedIn finds out who makes a request in the console of an account; refusal.NotFound where nobody is signed in
// there. What a cookie says about another account counts for nothing.
func (r *Request) SignedIn(account guid.ID) error {
	return r.signedIn(r.Context(), account)
}

func (r *Request) signedIn(ctx context.Context, account guid.ID) error {
	token := r.Token()
	if token == "" {
		return refusal.NotFound
	}
	session, err := r.desk.Store.Session(ctx, token, r.Real)
	if err != nil {
		return service.Stored(err)
	}
	a := r.directory.Accounts[session.AccountID]
	if a == nil || session.AccountID != account {
		return refusal.NotFound
	}
	members, err := r.desk.Store.Members(ctx, account)
	if err != nil {
		return service.Stored(err)
	}
	at := slices.IndexFunc(members, func(m staff.Member) bool { return m.ID == session.StaffID })
	if at < 0 {
		return refusal.NotFound
	}
	if r.Real.Sub(session.SeenAt) > seenEvery {
		if err := r.desk.Store.Seen(ctx, session.Key, r.Real); err != nil {
			return service.Stored(err)
		}
	}
	r.Account, r.Member, r.Session = a, members[at], session
	return nil
}

// nowSignedIn is who makes the request by what holds now: while a file comes, which takes minutes, a session may end
// and a role change.
func (r *Request) nowSignedIn(time.Time) (*merchant.Caller, error) {
	ctx, cancel := context.WithTimeout(r.HTTP.Context(), service.OtherDeadline)
	defer cancel()
	now := *r
	now.Real, now.directory = r.RealTime(), r.desk.Directory()
	err := now.signedIn(ctx, r.Account.ID)
	if errors.Is(err, refusal.NotFound) {
		return nil, ErrNotForYou
	}
	if err != nil {
		return nil, err
	}
	return now.Member.Caller(now.Account), nil
}

// seenEvery is how often it is noted that a session is used.
const seenEvery = time.Minute

// KeyName is the name of a key; "" for one that is in the set-up no more.
func (r *Request) KeyName(id guid.ID) string {
	name, known := r.keys[id]
	if !known {
		if r.keys == nil {
			r.keys = map[guid.ID]string{}
		}
		name = r.directory.KeyName(id)
		r.keys[id] = name
	}
	return name
}

// TillsOnlyKeys are the names of the keys of the account that take cards which are taken at tills only.
func (r *Request) TillsOnlyKeys() (names []string) {
	for _, k := range r.directory.TillsOnlyKeys(r.Account.ID, r.Real) {
		names = append(names, k.Name)
	}
	return names
}

// HasTill reports whether a device is a till of the account.
func (r *Request) HasTill() bool {
	for _, k := range r.directory.Keys {
		if k.AccountID == r.Account.ID && k.Till == merchant.PairedTill && k.Works(r.Real) {
			return true
		}
	}
	return false
}

// By is who makes the request, for the audit trail.
func (r *Request) By() merchant.Actor {
	return merchant.Actor{KeyID: r.Member.ID, Person: r.Member.Name, Address: r.Address()}
}

// ToConfirm leads to where the member proves who they are, and from there on.
func (r *Request) ToConfirm(to string) View { return View{To: Home(r.Account.ID) + "confirm?to=" + to} }

// ConfirmFirst is where the member proves who they are before a page shows a form that asks for it, so that nothing is
// typed in vain; "": they did.
func (r *Request) ConfirmFirst(page string) string {
	if r.Session.Proven(r.Real) {
		return ""
	}
	return r.ToConfirm(page).To
}

// Address is one with a query.
func Address(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// With is a query with one more parameter.
func With(q url.Values, name, value string) url.Values {
	more := url.Values{name: {value}}
	for n := range q {
		more[n] = q[n]
	}
	return more
}
