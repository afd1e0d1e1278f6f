//go:build !unix

package db

import "errors"

// LockFile is not known to keep others out here.
func LockFile(string) (func(), error) { return nil, errors.ErrUnsupported }
