package main

import (
	"fmt"
	"path/filepath"
	"time"

	"boon.example/internal/base/nice"
	"boon.example/internal/command/terminal"
	"boon.example/internal/store/transfer"
)

type backupCmd struct {
	To   string `required:"" placeholder:"FILE|DIR" help:"New file to write, whose name ends in .db; or a folder, which is made if it is not there: the file in it is named after the time."`
	Keep int    `placeholder:"N" help:"Leave the newest N backups in the folder, this one among them, and remove those that are older."`
	dataFolder
}

func (backupCmd) Help() string {
	return `Copies the embedded database as it is at one moment, while the service goes on. Every redemption that was answered before is in
it. The copy is read back and compared before it gets its name; nothing is ever overwritten.

The key file is never copied along: together they redeem every gift, apart they redeem none. Keep a copy of it somewhere
else, and a new one after each boon key-file rotate. boon restore puts a backup back. A PostgreSQL database is backed up
with its own tools.

Example:

    boon backup --to /var/lib/boon/backups --keep 14`
}

func (c *backupCmd) Run(t *terminal.Terminal) error {
	if c.Keep < 0 || c.Keep > 0 && filepath.Ext(c.To) == ".db" {
		return terminal.UsageError("--keep is 1 or more, and goes with a folder in --to")
	}
	nice.GiveWay()
	r, err := transfer.Backup(t, c.options(t), c.To, time.Now(), t.Progress("copying"))
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Stdout, "%s\n", terminal.Cell(r.File))
	fmt.Fprintf(t.Stdout, "%d bytes, %d gifts, %d ledger entries; read back and whole.\n", r.Bytes, r.Totals.Vouchers,
		r.Totals.Entries)
	fmt.Fprintf(t.Stdout, "Its codes can be read with the key file only, which is not in it: %s\nKeep a copy of that "+
		"file apart from the backups.\n",
		terminal.Cell(r.KeyFile))
	if filepath.Dir(r.File) == filepath.Dir(r.KeyFile) {
		fmt.Fprintln(t.Stdout, "THEY ARE IN ONE FOLDER NOW: whoever copies it can redeem every gift.")
	}
	if c.Keep == 0 {
		return nil
	}
	removed, err := transfer.Prune(r.File, c.Keep)
	for _, name := range removed {
		fmt.Fprintf(t.Stdout, "%s is removed.\n", terminal.Cell(name))
	}
	return err
}
