package gifts

import (
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// decode reads the body of a call into a T, and its Idempotency-Key where its operation keeps one. What is wrong with
// them is in problems, to which others may be added.
func decode[T any](c *Call, read func(*wire.Object) T) (request T, problems *wire.Problems) {
	request, problems, isObject := service.Decode(c.Call, read)
	c.unread = !isObject
	if c.Operation != "" {
		c.ReadKey(problems)
	}
	return request, problems
}
