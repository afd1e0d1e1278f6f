package service

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"boon.example/internal/refusal"
)

// ReadBody reads the whole body, which must be JSON as far as its headers say, and no longer than most.
func (c *Call) ReadBody(most int64) ([]byte, error) {
	if err := checkType(c.HTTP.Header); err != nil {
		return nil, err
	}
	return c.ReadAll(most)
}

// ReadAll reads the whole body, whatever its type, no longer than most.
func (c *Call) ReadAll(most int64) ([]byte, error) {
	tooLong := func() error {
		size := fmt.Sprintf("%d MiB", most>>20)
		if most < 1<<20 {
			size = fmt.Sprintf("%d KiB", most>>10)
		}
		return refuseWith(http.StatusRequestEntityTooLarge, refusal.ValidationFailure, "",
			"The body may have at most %s.", size)
	}
	if c.HTTP.ContentLength > most {
		c.throwAway()
		return nil, tooLong()
	}
	limited := http.MaxBytesReader(c.Writer, c.HTTP.Body, most)
	// One more than what was announced, so that the end is found without growing; but who announces much and sends
	// little gets little.
	announced := c.HTTP.ContentLength
	if announced < 0 {
		announced = 512
	}
	body := c.room(min(announced+1, trusted))
	for {
		n, err := limited.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch _, long := errors.AsType[*http.MaxBytesError](err); {
		case err == io.EOF:
			return body, nil
		case long:
			c.throwAway()
			return nil, tooLong()
		case err != nil:
			c.Writer.Header().Set("Connection", "close")
			return nil, refusal.New(refusal.ValidationFailure, "The body did not arrive in full.")
		case len(body) == cap(body):
			if err := c.TakeMemory(len(body)); err != nil {
				c.throwAway()
				return nil, err
			}
			body = slices.Grow(body, len(body))
		}
	}
}

// maxThrownAway is how much of a body that is too long is read after all.
const maxThrownAway = 8 << 20

// throwAway reads the rest of a body that is too long: who writes everything before reading would otherwise find the
// connection cut in place of an answer. Who waits to be told to send it is told not to.
func (c *Call) throwAway() {
	c.Writer.Header().Set("Connection", "close")
	if !strings.EqualFold(c.HTTP.Header.Get("Expect"), "100-continue") {
		_, _ = io.CopyN(io.Discard, c.HTTP.Body, maxThrownAway) // the answer is the same however far this goes
	}
}

// room is memory for a body of so many bytes. What is larger than a small one is used again after the call: of tickets,
// it was what kept the garbage collector busy.
func (c *Call) room(n int64) []byte {
	const small = 2 << 10
	if n <= small {
		return make([]byte, 0, n)
	}
	c.lent = c.bodies.Get().(*[trusted]byte)
	return c.lent[:0]
}

// giveBack lets the memory of the body be used again. Whatever was read of it has been copied: what was not would be
// lost here, and seen.
func (c *Call) giveBack() {
	if c.lent != nil {
		used := trusted
		if len(c.Body) > 0 && &c.Body[0] == &c.lent[0] { // it has not grown beyond
			used = len(c.Body)
		}
		clear(c.lent[:used])
		c.bodies.Put(c.lent)
		c.lent, c.Body = nil, nil
	}
}

// trusted is how much memory a body gets for the mere announcement of its length.
const trusted = 16 << 10

// checkType takes application/json, text/json, any +json, and no content type at all; in UTF-8, and not compressed.
func checkType(h http.Header) error {
	if encoding := strings.Join(h.Values("Content-Encoding"), ","); encoding != "" && !strings.EqualFold(encoding,
		"identity") {
		return refuseWith(http.StatusUnsupportedMediaType, refusal.NotSupported, "Content-Encoding",
			"Send the body without compression.")
	}
	types, text := h.Values("Content-Type"), h.Get("Content-Type")
	if len(types) <= 1 && (text == "" || text == "application/json") {
		return nil
	}
	refused := refuseWith(http.StatusUnsupportedMediaType, refusal.NotSupported, "Content-Type",
		"The body must be JSON in UTF-8: send Content-Type: application/json.")
	if len(types) > 1 {
		return refused
	}
	kind, params, err := mime.ParseMediaType(text)
	charset, stated := params["charset"]
	switch {
	case err != nil, stated && !slices.Contains(charsets, strings.ToLower(charset)):
		return refused
	case kind == "application/json", kind == "text/json", strings.HasSuffix(kind, "+json"):
		return nil
	}
	return refused
}

// charsets are the names of UTF-8 that are in use, and of what is a part of it.
var charsets = []string{"utf-8", "utf8", "us-ascii"}
