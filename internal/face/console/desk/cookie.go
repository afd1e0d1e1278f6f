package desk

import "net/http"

// CookieName is what the cookie of a session is called; the names of the console's other cookies begin with it.
// Browsers take one with the prefix of the first name from this very host only, so that no other page of its domain can
// put another session in its place.
func (r *Request) CookieName() string {
	if r.desk.secure {
		return "__Host-boon"
	}
	return "boon"
}

// Token is that of the session that a request is made in; "": there is none, or more than one.
func (r *Request) Token() string {
	if found := r.HTTP.CookiesNamed(r.CookieName()); len(found) == 1 {
		return found[0].Value
	}
	return ""
}

// SetCookie has the browser keep a cookie that no script sees, for some seconds; below zero: no more.
func (r *Request) SetCookie(name, value string, seconds int, sent http.SameSite) {
	http.SetCookie(r.Writer, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true,
		SameSite: sent, Secure: r.desk.secure})
}
