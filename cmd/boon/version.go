package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"boon.example/internal/command/terminal"
	"boon.example/internal/server"
)

// Both are set by builds of releases and images (-ldflags "-X main.version=v1.2.3"); else server.Version and what Go
// has noted are shown.
var version, commit string

type versionCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

func (versionCmd) Help() string {
	return `Example:

    boon version --json`
}

// build is what is known of this binary.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitzero"`
	Time     string `json:"time,omitzero"`
	Modified bool   `json:"modified"` // built from changes that were not committed
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{Version: cmp.Or(strings.TrimPrefix(version, "v"), server.Version), Commit: commit,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (c *versionCmd) Run(t *terminal.Terminal) error {
	b := thisBuild()
	if c.JSON {
		return json.NewEncoder(t.Stdout).Encode(b)
	}
	fmt.Fprintf(t.Stdout, "boon %s\n", b.Version)
	changed := ""
	if b.Modified {
		changed = " with changes"
	}
	terminal.Facts(t.Stdout, "commit", b.Commit+changed, "made", b.Time, "go", b.Go+" "+b.Platform)
	return nil
}
