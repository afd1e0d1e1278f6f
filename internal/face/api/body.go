package api

import "boon.example/internal/wire"

// decode reads the body of a call into a T, and its Idempotency-Key where its operation keeps one. What is wrong with
// them is in problems, to which others may be added.
func decode[T any](c *call, read func(*wire.Object) T) (request T, problems *wire.Problems) {
	r := c.readers.Get().(*wire.Reader)
	defer func() {
		r.Forget()
		c.readers.Put(r)
	}()
	problems, ok := r.Decode(c.Body, func(o *wire.Object) { request = read(o) })
	c.unread = !ok
	if c.route.operation != "" {
		c.ReadKey(problems)
	}
	return request, problems
}
