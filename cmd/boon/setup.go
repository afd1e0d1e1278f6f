package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"boon.example/internal/base/durable"
	"boon.example/internal/command/terminal"
	"boon.example/internal/merchant"
	"boon.example/internal/setup/document"
	"boon.example/internal/setup/written"
	"boon.example/internal/store"
)

type setupCmd struct {
	Export setupExportCmd `cmd:"" help:"Write the set-up as a file that boon apply takes, with its pictures."`
}

type setupExportCmd struct {
	To string `arg:"" help:"New folder for setup.yaml and pictures."`
	database
}

func (setupExportCmd) Help() string {
	return `Writes the set-up as it is, also what was changed over the interface or with boon key and boon till. Applied to the same
database, the file changes nothing. Comments of the file that was applied before are not in it.

The file has no secrets: keys, providers, webhooks and people keep those that they have. Keys that do not work any more and
tills are not in it. If you apply it to another database, give each provider its secret; boon apply makes new keys.

Example:

    boon setup export boon-setup
    boon apply boon-setup/setup.yaml --dry-run`
}

func (c *setupExportCmd) Run(t *terminal.Terminal) error {
	return c.with(t, true, func(s *store.Store) error {
		d, err := s.Directory(t)
		if err != nil {
			return err
		}
		text, err := document.Export(d, time.Now())
		if err != nil {
			return err
		}
		if err := os.Mkdir(c.To, 0o700); err != nil {
			return fmt.Errorf("making a folder for the set-up: %w", err)
		}
		for _, a := range d.Accounts {
			if err := c.pictures(t, s, a); err != nil {
				return err
			}
		}
		file := filepath.Join(c.To, "setup.yaml")
		if err := durable.Create(file, text); err != nil {
			return fmt.Errorf("writing the set-up: %w", err)
		}
		_, err = io.WriteString(t.Stdout, terminal.Cell(file)+"\n")
		return err
	})
}

// pictures writes the pictures of an account's designs. Two designs may have the same one.
func (c *setupExportCmd) pictures(t *terminal.Terminal, s *store.Store, a *merchant.Account) error {
	for _, design := range a.Designs {
		for _, hash := range []merchant.AssetHash{design.Logo, design.Picture} {
			if hash.IsZero() {
				continue
			}
			picture, err := s.Asset(t, hash)
			if err != nil {
				return err
			}
			file := filepath.Join(c.To, filepath.FromSlash(written.PicturePath(hash)))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return fmt.Errorf("making a folder for pictures: %w", err)
			}
			if err := durable.Replace(file, picture.Bytes); err != nil {
				return fmt.Errorf("writing a picture: %w", err)
			}
		}
	}
	return nil
}
