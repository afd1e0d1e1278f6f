package service

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/refusal"
)

// Front gives requests to the handlers of a mux, by their paths. The mux would answer a path that is not clean with a
// redirection, and a POST would lose its body. Below strict, there is nothing at such a path. Below lenient, which ends
// with a slash, such a path is taken as if it were clean, as long as that leads nowhere else: some platforms write two
// slashes for one. An empty lenient stands for no path.
func (s *Service) Front(mux *http.ServeMux, strict, lenient string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Identify(w, r)
		if r.RequestURI == "*" || r.Method == http.MethodConnect { // without a path, the mux would answer in plain text
			s.Fail(w, r, http.StatusNotFound)
			return
		}
		sent := r.URL.EscapedPath()
		clean := path.Clean(sent)
		if sent != clean && (clean == strict || strings.HasPrefix(clean, strict+"/")) {
			s.Fail(w, r, http.StatusNotFound)
			return
		}
		if lenient != "" && strings.HasPrefix(clean, lenient) {
			whole := path.Clean(r.URL.Path)
			if !strings.HasPrefix(whole, lenient) {
				s.Fail(w, r, http.StatusNotFound)
				return
			}
			r.URL.Path, r.URL.RawPath = whole, ""
		}
		mux.ServeHTTP(w, r)
	})
}

// SameOrigin refuses with a sentence what a page of another origin sends, as a browser adds the cookies of this one.
func (s *Service) SameOrigin(refused phrase.Text, next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	if u, err := url.Parse(s.PublicURL()); err == nil { // behind a proxy, the host of a request may be another
		_ = protection.AddTrustedOrigin(u.Scheme + "://" + u.Host) // where it is none, nothing more is trusted
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Refuse(w, r, refusal.New(refusal.NotAuthorized, refused))
	}))
	return protection.Handler(next)
}
