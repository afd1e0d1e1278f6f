package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"boon.example/internal/command/terminal"
	"boon.example/internal/sealed"
	"boon.example/internal/store"
)

const keyFileHelp = "File of the keys that open codes and links. Default: boon.key among the credentials that " +
	"systemd gives the service, else in --data."

// keyFileEnv is the flag of the commands without a --config file.
type keyFileEnv struct {
	KeyFile string `setting:"env" name:"key-file" placeholder:"FILE" help:"${keyFile}"`
}

// keyFile is where the key file is: as asked, else where systemd has put it, else the zero value: in the data folder.
func keyFile(t *terminal.Terminal, asked string) store.KeyFile {
	given := t.Getenv("CREDENTIALS_DIRECTORY")
	if given == "" {
		return store.KeyFile{Path: asked}
	}
	if asked == "" {
		file := filepath.Join(given, sealed.FileName)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return store.KeyFile{}
		}
		return store.KeyFile{Path: file, Credential: true}
	}
	folder, err := filepath.Abs(filepath.Dir(asked))
	return store.KeyFile{Path: asked, Credential: err == nil && folder == filepath.Clean(given)}
}

type keyFileCmd struct {
	Rotate keyFileRotateCmd `cmd:"" help:"Add a new key to the key file and, when every instance has the file, use it."`
	Status keyFileStatusCmd `cmd:"" help:"Show which keys the key file has, and how many codes and tokens were made with each."`
}

type keyFileRotateCmd struct {
	Use bool `help:"Make new codes and tokens with the key that was added, from now on, on all instances."`
	database
}

func (keyFileRotateCmd) Help() string {
	return `A rotation is two steps, while the service goes on. The first adds a key to boon.key, with which nothing is made yet. Then give
the same file to every instance that has a data folder of its own, and make a new backup of it. The second step, --use, makes new codes,
tokens, stored answers and fingerprints with the new key, on all instances, within a second; nothing need be restarted.

Everything that was made before stays under the old key and is found as before, so the old key stays in the file. An instance that lacks
the new key is not ready (/readyz) and answers 503 rather than that a gift does not exist; copying the file to it is enough.

A credential of systemd (LoadCredential=) is a copy that cannot be changed: as root, rotate the file that it is made of, named by --key-file,
and restart the service before the second step.

Example:

    boon key-file rotate --data ./boon-data
    boon key-file rotate --data ./boon-data --use

See boon key-file status before the second step: all instances must show the same names.`
}

// Run adds a key, or uses the one that was added.
func (c *keyFileRotateCmd) Run(t *terminal.Terminal) error {
	return c.with(t, true, func(s *store.Store) error {
		if c.Use {
			id, err := s.UseKey(t)
			if err == nil {
				fmt.Fprintf(t.Stdout, "New codes and tokens are made with key %d now. Keep the earlier keys in the file: what "+
					"they made still needs them.\n", id)
			}
			return err
		}
		id, err := s.AddKey(t)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.Stdout, "Key %d is in %s now; nothing is made with it yet.\n"+
			"Copy the file to the data folder of every instance, with mode 0600, and to its backup. Then: boon key-file "+
			"rotate --use\n", id, terminal.Cell(s.KeyFile()))
		return nil
	})
}

type keyFileStatusCmd struct{ database }

func (keyFileStatusCmd) Help() string {
	return `A name tells a key from every other and is no secret: key files with the same names are the same. The key in use is the one that
new codes and tokens are made with. Exit code 1 when this key file lacks it.

Example:

    boon key-file status --data ./boon-data`
}

func (c *keyFileStatusCmd) Run(t *terminal.Terminal) error {
	return c.with(t, true, func(s *store.Store) error {
		keys, err := s.KeyStatus(t)
		if err != nil {
			return err
		}
		var rows [][]string
		used := false
		for _, k := range keys {
			state := "earlier"
			switch {
			case k.Used:
				state, used = "in use", true
			case used:
				state = "waits for boon key-file rotate --use"
			}
			rows = append(rows, []string{strconv.Itoa(int(k.ID)), k.Name, strconv.FormatInt(k.Made, 10), state})
		}
		terminal.Table(t.Stdout, []string{"key", "name", "codes and tokens", ""}, rows)
		return nil
	})
}
