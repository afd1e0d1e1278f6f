// Package setup is where staff see and change how an account is set up: its tills.
package setup

import (
	"embed"

	"boon.example/internal/face/console/desk"
)

//go:embed templates
var templates embed.FS

// Part is the pages about the set-up.
func Part() desk.Part { return desk.Part{Pages: tillPages(), Templates: templates} }
