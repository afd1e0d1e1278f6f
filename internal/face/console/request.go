package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/admission"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// page is a page for who is signed in, or what a form of one does.
type page struct {
	pattern string               // method and path below the account, as http.ServeMux has them
	nav     string               // the name of its text in the navigation; "": it is not there
	needs   merchant.Permissions // of the member; without them the page is neither in the navigation nor served
	owner   bool                 // it is for owners
	fresh   bool                 // it asks the member to prove who they are, unless they did within five minutes
	do      func(*request) (view, error)
}

// request is a request of a page.
type request struct {
	*service.Call
	locale    *locale.Locale
	account   *merchant.Account // nil: the address names none that there is
	member    staff.Member      // who makes it; zero: nobody who is signed in
	session   staff.Session
	directory *merchant.Directory // the set-up at its time
	keys      map[guid.ID]string  // names of keys, as looking one up goes through all
}

// view is what a request is answered with.
type view struct {
	status   int       // 0: 200
	template string    // a file in the folder templates
	title    string    // a name of a text
	heading  string    // what stands in its place, such as a name; "": the title
	data     any       // what the template shows
	json     any       // is sent in place of a template, for a script; nil: nothing
	to       string    // the address of another page, in place of a template
	file     *answered // of the interface, in place of a template
}

var (
	errNoPage    = refusal.New(refusal.NotFound, "There is nothing at this address.")
	errNotForYou = refusal.New(refusal.NotAuthorized, "Your role may not do this. Ask an owner of the account.")
)

// maxForm is how long a form may be, in bytes.
const maxForm = 64 << 10

// open serves a page for everybody.
func (f *console) open(mux *http.ServeMux, pattern string, do func(*request) (view, error)) {
	f.serve(mux, pattern, func(r *request) (view, error) {
		r.account = r.directory.Accounts[accountOf(r.HTTP)]
		r.locale = f.localeFor(r)
		return do(r)
	})
}

// closed serves a page for who is signed in to its account.
func (f *console) closed(mux *http.ServeMux, p page) {
	f.serve(mux, p.pattern, func(r *request) (view, error) {
		id := accountOf(r.HTTP)
		err := f.signedIn(r, id)
		r.locale = f.localeFor(r)
		switch {
		case errors.Is(err, refusal.NotFound):
			return view{to: home(id) + signInPath[1:]}, nil
		case err != nil:
			return view{}, err
		case !r.sees(&p):
			return view{}, errNotForYou
		case p.fresh && !r.session.Proven(r.Now):
			_, section, _ := strings.Cut(p.pattern, "/")
			section, _, _ = strings.Cut(section, "/")
			return r.toConfirm(section), nil
		}
		if err := r.Begin(r.member.Caller(r.account), admission.Read, service.OtherDeadline); err != nil {
			return view{}, err
		}
		return p.do(r)
	})
}

// sees reports whether the member may see a page.
func (r *request) sees(p *page) bool {
	return r.member.Role.May().Has(p.needs) && (!p.owner || r.member.Role == staff.Owner)
}

// serve serves requests. The form of one is read before anything else, as it may take its time.
func (f *console) serve(mux *http.ServeMux, pattern string, do func(*request) (view, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		wrong := r.ParseForm()
		c := new(service.Call)
		f.Service.Serve(w, r, c, func() service.Reply {
			of := &request{Call: c, directory: f.Directory()}
			c.Now = c.RealTime()
			var v view
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
func (f *console) reply(r *request, v view, err error) service.Reply {
	if v.to != "" && err == nil {
		r.Writer.Header().Set("Location", v.to)
		return service.Reply{Status: http.StatusSeeOther}
	}
	if v.json != nil && err == nil {
		body, err := json.Marshal(v.json)
		if err != nil {
			return r.Reply(ledger.Answer{}, fmt.Errorf("writing what a script asks for: %w", err))
		}
		return service.Reply{Status: http.StatusOK, Body: body}
	}
	if v.file != nil && err == nil {
		return v.file.download(r.Writer.Header())
	}
	reply := service.Reply{Status: http.StatusOK, Type: "text/html; charset=utf-8"}
	if err != nil {
		told := service.Told(err)
		v = view{template: "failed.html", title: "console.failed", status: told.Code.Status(),
			data: failure{said(told), r.RequestID}}
		reply.Err, reply.Code = err, told.Code
	}
	if v.status != 0 {
		reply.Status = v.status
	}
	if r.locale == nil {
		r.locale = f.localeFor(r)
	}
	body, err := f.render(r, &v)
	if err != nil {
		return r.Reply(ledger.Answer{}, err)
	}
	reply.Body = body
	return reply
}

// failure is what a page says that cannot be shown.
type failure struct {
	Messages  []string
	RequestID string
}

// said are the sentences of a refusal.
func said(e *refusal.Error) (sentences []string) {
	for _, m := range e.Messages {
		sentences = append(sentences, m.Text(func(f refusal.Field) string { return string(f) }))
	}
	return sentences
}

// signedIn finds out who makes a request in the console of an account; refusal.NotFound where nobody is signed in
// there. What a cookie says about another account counts for nothing.
func (f *console) signedIn(r *request, account guid.ID) error {
	token := f.cookie(r.HTTP)
	if token == "" {
		return refusal.NotFound
	}
	session, err := f.Store.Session(r.Context(), token, r.Now)
	if err != nil {
		return service.Stored(err)
	}
	a := r.directory.Accounts[session.AccountID]
	if a == nil || session.AccountID != account {
		return refusal.NotFound
	}
	members, err := f.Store.Members(r.Context(), account)
	if err != nil {
		return service.Stored(err)
	}
	at := slices.IndexFunc(members, func(m staff.Member) bool { return m.ID == session.StaffID })
	if at < 0 {
		return refusal.NotFound
	}
	if r.Now.Sub(session.SeenAt) > seenEvery {
		if err := f.Store.Seen(r.Context(), session.Key, r.Now); err != nil {
			return service.Stored(err)
		}
	}
	r.account, r.member, r.session = a, members[at], session
	return nil
}

// seenEvery is how often it is noted that a session is used.
const seenEvery = time.Minute

// keyName is the name of a key; "" for one that is in the set-up no more.
func (r *request) keyName(id guid.ID) string {
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

// by is who makes the request, for the audit trail.
func (r *request) by() merchant.Actor {
	return merchant.Actor{KeyID: r.member.ID, Person: r.member.Name, Address: r.Address()}
}
