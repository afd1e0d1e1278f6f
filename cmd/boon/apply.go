package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"time"

	"boon.example/internal/command/terminal"
	"boon.example/internal/post/print"
	"boon.example/internal/post/webhook"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

// dataFolder is the flag of the commands that work on the data folder itself, beside a running service or without one.
type dataFolder struct {
	Data string `setting:"env" default:"./boon-data" placeholder:"DIR" help:"Data folder of the service. Default: ${default}."`
	keyFileEnv
}

// options tell the store where the data is.
func (d dataFolder) options(t *terminal.Terminal) store.Options {
	return store.Options{Dir: d.Data, KeyFile: keyFile(t, d.KeyFile)}
}

// database are the flags of the commands that work on the store itself, beside running services or without one.
type database struct {
	dataFolder
	Database string `setting:"env" placeholder:"URL" help:"PostgreSQL database of the service, if it uses one: postgres://USER:PASSWORD@HOST/NAME."`
}

// options tell the store where the data is.
func (d database) options(t *terminal.Terminal) store.Options {
	o := d.dataFolder.options(t)
	o.Database = d.Database
	return o
}

// with opens the store for as long as work takes.
func (d database) with(t *terminal.Terminal, mustExist bool, work func(*store.Store) error) error {
	o := d.options(t)
	o.MustExist = mustExist
	return opened(t, o, work)
}

// opened opens a store for as long as work takes.
func opened(ctx context.Context, o store.Options, work func(*store.Store) error) (err error) {
	o.By = operator()
	s, err := store.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return work(s)
}

// operator is who gives a command, as the operating system knows them; "": it does not tell.
func operator() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

type applyCmd struct {
	File     string `arg:"" help:"Set-up file (YAML); - reads standard input."`
	DryRun   bool   `help:"Tell what would change, and change nothing. Without a database in the data folder, everything of the file is new."`
	Webhooks string `setting:"env" name:"webhooks-allow" placeholder:"NET,NET" help:"Networks that are not public in which the file may name webhooks, as boon serve has them."`
	fontFolder
	database
}

func (applyCmd) Help() string {
	return `Accounts, locations, subscriptions, storefronts, promotions, designs, keys and webhooks stand in one YAML file. Applying it again
changes nothing; a running service sees a change within 2 seconds. Whatever is wrong with the file is told with its lines, and then
nothing at all is changed. A key without a secret in the file is made and shown once, here, and so is the secret of a new webhook.

Example:

    boon apply setup.yaml --dry-run
    boon apply setup.yaml

Next: boon serve --outbox, and boon gift send --help. Keys can also be made one by one: boon key create --help.`
}

func (c *applyCmd) Run(t *terminal.Terminal) error {
	text, err := terminal.ReadFile(t, c.File)
	if err != nil {
		return fmt.Errorf("reading the set-up: %w", err)
	}
	name, folder := c.File, os.DirFS(filepath.Dir(c.File))
	if name == "-" {
		name, folder = "standard input", nil
	}
	allowed, err := webhook.ParseAllow(c.Webhooks)
	if err != nil {
		return terminal.UsageError("--webhooks-allow (BOON_WEBHOOKS_ALLOW): " + err.Error())
	}
	file, err := setup.ParseBeside(name, text, folder, allowed)
	if err != nil {
		return problems(t, err)
	}
	apply := file.Apply
	if c.DryRun {
		apply = file.DryRun
	}
	with := c.with
	if c.DryRun && c.isNew() {
		with = nowhere
	}
	return with(t, c.DryRun, func(s *store.Store) error {
		report, err := apply(t, s, time.Now(), rand.Reader)
		if err != nil {
			return problems(t, err)
		}
		fonts := print.NewFonts(slog.New(slog.NewTextHandler(t.Stderr, nil)), c.Fonts)
		if fonts.Fault != "" {
			report.Note(fonts.Fault)
		}
		for _, a := range file.Records() {
			report.Note(fonts.Lacks(a)...)
		}
		report.Note(readByOthers(c.File, file)...)
		return report.Print(t.Stdout)
	})
}

// isNew reports whether there is no database yet in the data folder.
func (c *applyCmd) isNew() bool {
	_, err := os.Stat(filepath.Join(c.Data, store.DatabaseName))
	return c.Database == "" && errors.Is(err, fs.ErrNotExist)
}

// nowhere opens an empty store for as long as work takes, of which nothing stays.
func nowhere(t *terminal.Terminal, _ bool, work func(*store.Store) error) (err error) {
	dir, err := os.MkdirTemp("", "boon-dry-run-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return opened(t, store.Options{Dir: dir}, work)
}

// readByOthers tells that a set-up file with secrets may be read by others than its owner.
func readByOthers(path string, f *setup.File) []string {
	info, err := os.Stat(path)
	if path == "-" || err != nil || !f.Secrets() || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return nil
	}
	return []string{fmt.Sprintf("%s has secrets, and may be read by others than its owner (mode %04o); "+
		"run: chmod 600 %[1]s", path, info.Mode().Perm())}
}

// problems tells what is wrong with a set-up file the way compilers do, one problem a line.
func problems(t *terminal.Terminal, err error) error {
	list, ok := errors.AsType[setup.Problems](err)
	if !ok {
		return err
	}
	for _, p := range list {
		fmt.Fprintln(t.Stderr, terminal.Cell(p.String()))
	}
	fmt.Fprintln(t.Stderr, "boon: nothing was changed")
	return terminal.ErrQuiet
}
