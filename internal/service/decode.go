package service

import "boon.example/internal/wire"

// Decode reads the body of a call, one object in JSON, into a T. What is wrong with it is in problems, to which others
// may be added; isObject is false where the body is no object.
func Decode[T any](c *Call, read func(*wire.Object) T) (request T, problems *wire.Problems, isObject bool) {
	r := c.readers.Get().(*wire.Reader)
	defer func() {
		r.Forget()
		c.readers.Put(r)
	}()
	problems, isObject = r.Decode(c.Body, func(o *wire.Object) { request = read(o) })
	return request, problems, isObject
}
