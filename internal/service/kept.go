package service

import (
	"bytes"
	"cmp"
	"net/http"
)

// Kept is an answer that is kept in memory, to be read or sent by whoever asked. The zero value is ready.
type Kept struct {
	head   http.Header
	status int
	Body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (k *Kept) Header() http.Header {
	if k.head == nil {
		k.head = http.Header{}
	}
	return k.head
}

// WriteHeader implements http.ResponseWriter.
func (k *Kept) WriteHeader(status int) { k.status = status }

// Write implements http.ResponseWriter.
func (k *Kept) Write(b []byte) (int, error) { return k.Body.Write(b) }

// Status is that of the answer: 200 where none was written.
func (k *Kept) Status() int { return cmp.Or(k.status, http.StatusOK) }
