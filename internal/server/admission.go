package server

import (
	"net/http"

	"boon.example/internal/face/web"
	"boon.example/internal/service"
)

// overloaded answers a request for a page that was not admitted: a program in the words of the interface, a person in
// plain ones.
func (a *app) overloaded(w http.ResponseWriter, r *http.Request) {
	if !web.AsksForHTML(r) {
		a.service.Refuse(w, r, service.ErrOverloaded)
		return
	}
	note(r.Context(), service.Event{Overloaded: true})
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Refresh", "2") // the browser asks again by itself
	writeText(w, http.StatusServiceUnavailable, "Many people are here at the moment. Please try again in a few seconds.")
}
