package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"

	"boon.example/test/rig"
)

// remembering answers every second look-up with what the same one was answered before, as a service would that
// remembers gifts and does not learn of every change.
func remembering(next http.Handler) http.Handler {
	var answers sync.Map // by who asks and what
	var looks atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, rig.Validate) {
			next.ServeHTTP(w, r)
			return
		}
		asked, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		key := r.Header.Get("Authorization") + string(asked)
		known, _ := answers.Load(key)
		answer, _ := known.(*httptest.ResponseRecorder)
		if answer == nil || looks.Add(1)%2 == 0 {
			answer = httptest.NewRecorder()
			r.Body = io.NopCloser(bytes.NewReader(asked))
			next.ServeHTTP(answer, r)
			if answer.Code == http.StatusOK {
				answers.Store(key, answer)
			}
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}
