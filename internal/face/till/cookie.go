package till

import (
	"net/http"
	"time"
)

// ownHost begins the names of cookies over TLS: browsers take a cookie of such a name from this very host only, so that
// no other page of its domain can put a second one beside it.
const ownHost = "__Host-"

// cookieName is what a cookie of these pages is called, and where it is sent: the longer name needs the path /.
func (t *tills) cookieName(name string) (full, path string) {
	if t.secure {
		return ownHost + name, "/"
	}
	return name, Path
}

// cookie gives the value of a cookie of these pages; "": there is none, or more than one, of which another page of this
// site may have set one.
func (t *tills) cookie(r *http.Request, name string) string {
	full, _ := t.cookieName(name)
	if found := r.CookiesNamed(full); len(found) == 1 {
		return found[0].Value
	}
	return ""
}

// setCookie gives the device a cookie that no script can read.
func (t *tills) setCookie(w http.ResponseWriter, name, value string, lasts time.Duration) {
	t.sendCookie(w, name, value, int(lasts/time.Second))
}

// clearCookie takes a cookie from the device.
func (t *tills) clearCookie(w http.ResponseWriter, name string) { t.sendCookie(w, name, "", -1) }

func (t *tills) sendCookie(w http.ResponseWriter, name, value string, seconds int) {
	full, path := t.cookieName(name)
	http.SetCookie(w, &http.Cookie{Name: full, Value: value, Path: path, MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: t.secure})
}
