package setup

import (
	"io/fs"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup/document"
)

// File is a set-up file that was read and found free of contradictions in itself. It holds no secrets, only their
// hashes.
type File struct{ *document.File }

// Problems is everything that is wrong with a set-up file.
type (
	Problems = document.Problems
	Problem  = document.Problem
)

// Parse reads a set-up file that names no pictures. name is what it is called in messages. Every error is of type
// Problems: all that is wrong with the file, each with its line.
func Parse(name string, data []byte) (*File, error) { return ParseBeside(name, data, nil, nil) }

// ParseBeside is Parse for a file that may name pictures: by their paths in folder, which is the one that the file
// lies in; and webhooks in networks that the operator allows.
func ParseBeside(name string, data []byte, folder fs.FS, allow merchant.WebhookNetworks) (*File, error) {
	return read(document.ParseBeside(name, data, folder, allow))
}

// ParseDemo is Parse for boon demo: it takes the secrets of the published examples, which are refused elsewhere.
func ParseDemo(name string, data []byte) (*File, error) { return read(document.ParseDemo(name, data)) }

func read(f *document.File, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	return &File{f}, nil
}

// WithIDs gives a set-up file an id in each record that lacks the one it needs, and names these by their paths. Nothing
// else of the text changes, comments among it.
func WithIDs(name string, data []byte, next func() guid.ID) (text []byte, made []string, err error) {
	return document.WithIDs(name, data, next)
}
