package main

import (
	"boon.example/internal/command/doctor"
	"boon.example/internal/command/terminal"
	"boon.example/internal/server"
)

type doctorCmd struct {
	KeyCopy string `placeholder:"FILE" help:"The copy of the key file that is kept elsewhere: it is compared with the one in use."`
	URL     string `setting:"env" name:"url" placeholder:"URL" help:"A running service, whose version and clock are compared with ours."`
	serveCmd
}

func (doctorCmd) Help() string {
	return `Takes the settings of boon serve, and looks at what boon serve --check looks at, and besides at the clock, at how long the disk takes to
sync, at who may read the files, at whether the gateways answer, and at the copy of the key file. It changes nothing, and ends with 1 when
something is wrong.

Example:

    boon doctor --config /etc/boon.yaml --key-copy /mnt/usb/boon.key --url http://127.0.0.1:8080`
}

// Run looks.
func (c *doctorCmd) Run(t *terminal.Terminal) error {
	config, _, err := c.config(t)
	if err != nil {
		return err
	}
	r, err := server.Check(t, config)
	if err != nil {
		return err
	}
	doctor.Examine(t, &doctor.Patient{Config: config, Settings: c.Config, TLSKey: c.TLSKey, KeyCopy: c.KeyCopy,
		URL: c.URL, Version: t.Version}, &r)
	return tell(t, r)
}
