//go:build !unix

package files

import "errors"

// Lock is not known to keep others out here.
func Lock(string) (func(), error) { return nil, errors.ErrUnsupported }
