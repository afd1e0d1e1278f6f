package till

import (
	"net/http"
	"time"
)

// lasting begins the names of cookies over TLS: browsers take one of such a name from this very host only, so that no
// other page of its domain can put a second one beside it.
const lasting = "__Host-"

// cookie gives the value of a cookie of these pages; "": there is none. One of its short name, which the release
// before gave to devices over TLS too, counts where it is the only one.
func (t *tills) cookie(r *http.Request, name string) string {
	if t.secure {
		if found := r.CookiesNamed(lasting + name); len(found) == 1 {
			return found[0].Value
		}
	}
	if found := r.CookiesNamed(name); len(found) == 1 { // of two, another page of this site may have set one
		return found[0].Value
	}
	return ""
}

// setCookie gives the device a cookie that no script can read.
func (t *tills) setCookie(w http.ResponseWriter, name, value string, lasts time.Duration) {
	t.send(w, name, value, int(lasts/time.Second))
}

// clearCookie takes a cookie from the device, by either of its names.
func (t *tills) clearCookie(w http.ResponseWriter, name string) {
	t.send(w, name, "", -1)
	if t.secure {
		http.SetCookie(w, t.shaped(name, Path, "", -1))
	}
}

func (t *tills) send(w http.ResponseWriter, name, value string, seconds int) {
	if t.secure {
		http.SetCookie(w, t.shaped(lasting+name, "/", value, seconds)) // this name needs this path
		return
	}
	http.SetCookie(w, t.shaped(name, Path, value, seconds))
}

func (t *tills) shaped(name, path, value string, seconds int) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: path, MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: t.secure}
}
