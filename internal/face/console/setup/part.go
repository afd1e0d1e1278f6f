// Package setup is where staff see and change how an account is set up: its tills, and everything that a set-up file
// says.
//
// The forms are made of the questions of internal/setup/form, which follow from the tags of merchant. What somebody
// saves is an edit of internal/setup, with the checks and the sentences of boon apply. A new field needs its words in
// package post/locale, and no code here: a field of the account that no section names is among the limits.
package setup

import (
	"embed"
	"slices"

	"boon.example/internal/base/fair"
	"boon.example/internal/face/console/desk"
)

//go:embed templates
var templates embed.FS

// Part is the pages about the set-up.
func Part(c Config) desk.Part {
	p := &pages{Config: c, busy: fair.New(drawnAtOnce)}
	return desk.Part{Begins: true, Pages: slices.Concat(tillPages(), p.setupPages()), Templates: templates}
}
