//go:build !unix

package store

import "errors"

// lockFile is not known to keep others out here.
func lockFile(string) (func(), error) { return nil, errors.ErrUnsupported }
