package main

import (
	"errors"
	"fmt"
	"log/slog"

	"boon.example/internal/server"
)

type serveCmd struct {
	Config      string `setting:"env" placeholder:"FILE" help:"YAML file of settings, such as listen: 127.0.0.1:8080."`
	Listen      string `setting:"file" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where to listen; port 0 picks a free one. Default: ${default}."`
	Data        string `setting:"file" default:"./boon-data" placeholder:"DIR" help:"Folder of the embedded database and its key file; made if it is not there. Default: ${default}."`
	PublicURL   string `setting:"file" name:"public-url" placeholder:"URL" help:"How recipients reach this service; gift links begin with it. Default: where it listens."`
	AdminListen string `setting:"file" name:"admin-listen" placeholder:"HOST:PORT" help:"Serve /metrics there instead of beside everything else."`
	Outbox      bool   `setting:"file" help:"For development: keep e-mail and SMS and show them at /outbox, instead of refusing gifts that need them."`
	Database    string `setting:"file" placeholder:"URL" help:"Not in this build yet: a PostgreSQL database in place of the embedded one."`
}

// Help teaches.
func (serveCmd) Help() string {
	return `Runs until it is told to stop (Ctrl-C, SIGTERM), then finishes what is in flight. When it is ready it prints one line,
"listening on http://HOST:PORT", on standard output; its log goes to standard error, one JSON object a line.

Example:

    boon serve --outbox
    boon serve --config /etc/boon.yaml --listen 0.0.0.0:8080 --public-url https://gifts.example.com

A service without a set-up knows nobody: next, boon apply --help. The interface is described at /docs.`
}

// Run serves until the context ends.
func (c *serveCmd) Run(t *terminal) error {
	if c.Database != "" {
		return errors.New("PostgreSQL is not in this build yet; leave --database (BOON_DATABASE, database) out to use the embedded database in --data")
	}
	return server.Run(t, server.Config{
		Listen: c.Listen, AdminListen: c.AdminListen, Data: c.Data, PublicURL: c.PublicURL, Outbox: c.Outbox,
		Logger: slog.New(slog.NewJSONHandler(t.stderr, nil)),
		Ready:  func(address string) { fmt.Fprintf(t.stdout, "listening on http://%s\n", address) },
	})
}
