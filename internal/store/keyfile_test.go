package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"boon.example/internal/sealed"
	"boon.example/internal/store/transfer"
)

// TestKeyFileApart: the key file lies where it is said to, nothing of it in the data folder, through backup, restore
// and copy. No other is ever made for a database that has one.
func TestKeyFileApart(t *testing.T) {
	t.Parallel()
	data, keys := filepath.Join(t.TempDir(), "data"), KeyFile{Path: filepath.Join(t.TempDir(), "kept.key")}
	here := Options{Dir: data, KeyFile: keys}
	untold := func(int64, int64) {}
	open := func(o Options) error {
		s, err := Open(t.Context(), o)
		if err == nil {
			err = s.Close()
		}
		return err
	}
	must(t, open(here))
	noKeyIn(t, data)
	if err := open(Options{Dir: data}); err == nil || !strings.Contains(err.Error(), "boon.key is missing") {
		t.Errorf("without the file: %v", err)
	}
	noKeyIn(t, data)

	backup := filepath.Join(t.TempDir(), "backup.db")
	r, err := transfer.Backup(t.Context(), here, backup, noon, untold)
	if err != nil || r.KeyFile != keys.Path {
		t.Fatalf("the backup names %s: %v", r.KeyFile, err)
	}
	restored := Options{Dir: t.TempDir(), KeyFile: keys}
	if _, err := transfer.Restore(t.Context(), backup, Options{Dir: restored.Dir}, noon, untold); err == nil {
		t.Error("restored without a key file")
	}
	_, err = transfer.Restore(t.Context(), backup, restored, noon, untold)
	must(t, err)
	must(t, open(restored))
	noKeyIn(t, restored.Dir)

	moved := Options{Dir: filepath.Join(t.TempDir(), "moved"), KeyFile: keys}
	_, err = transfer.Copy(t.Context(), here, moved, func(string, int64, int64) {})
	must(t, err)
	must(t, open(moved))
	noKeyIn(t, moved.Dir)

	must(t, os.Rename(keys.Path, keys.Path+".away"))
	if err := open(here); err == nil || !strings.Contains(err.Error(), "kept.key is missing") {
		t.Errorf("once the file is gone: %v", err)
	}
	if _, err := os.Stat(keys.Path); err == nil {
		t.Error("a new key file was made for a database that has one")
	}
}

// noKeyIn fails if a folder has a key file.
func noKeyIn(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, sealed.FileName)); err == nil {
		t.Errorf("there is a key file in %s", dir)
	}
}

// TestNoFolderWithoutAKeyFile: where the key file can neither be read nor made, no data folder is left behind. A key
// file in the data folder, or in a folder that is made with it, is none of that.
func TestNoFolderWithoutAKeyFile(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	loose, torn := filepath.Join(at, "loose.key"), filepath.Join(at, "torn.key")
	must(t, os.WriteFile(loose, []byte("{}"), 0o600))
	must(t, os.Chmod(loose, 0o644))
	must(t, os.WriteFile(torn, []byte("{"), 0o600))
	data := filepath.Join(at, "new", "data")
	for file, want := range map[KeyFile]string{
		{Path: filepath.Join(at, "nowhere", "boon.key")}:                 "make that folder first",
		{Path: filepath.Join(loose, "boon.key")}:                         "not a directory",
		{Path: filepath.Join(at, "given", "boon.key"), Credential: true}: "none is made",
		{Path: loose}: "may be read by others",
		{Path: torn}:  "is damaged",
	} {
		s, err := Open(t.Context(), Options{Dir: data, KeyFile: file})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file.Path, err, want)
		}
		if err == nil {
			must(t, s.Close())
		}
		if _, err := os.Stat(filepath.Dir(data)); !os.IsNotExist(err) {
			t.Errorf("%s: a folder is left behind: %v", file.Path, err)
		}
	}
	for n, file := range []string{data + "/boon.key", filepath.Dir(data) + "/boon.key", at + "/boon.key"} {
		s, err := Open(t.Context(), Options{Dir: data, KeyFile: KeyFile{Path: file}})
		must(t, err)
		must(t, s.Close())
		must(t, os.RemoveAll(filepath.Dir(data)))
		if _, err := os.Stat(file); os.IsNotExist(err) != (n < 2) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestKeyFileAsCredential: what systemd hands over may show the rights of its access list, and is never written to.
func TestKeyFileAsCredential(t *testing.T) {
	t.Parallel()
	at := KeyFile{Path: filepath.Join(t.TempDir(), "boon.key")}
	data := Options{Dir: t.TempDir(), KeyFile: at}
	s, err := Open(t.Context(), data)
	must(t, err)
	must(t, s.Close())
	must(t, os.Chmod(at.Path, 0o440))
	if _, err := Open(t.Context(), data); err == nil || !strings.Contains(err.Error(), "read by others") {
		t.Errorf("a file that a group may read: %v", err)
	}
	data.KeyFile.Credential = true
	s, err = Open(t.Context(), data)
	must(t, err)
	_, err = s.AddKey(t.Context())
	if err == nil || !strings.Contains(err.Error(), "rotate the file that LoadCredential=") {
		t.Errorf("a rotation: %v", err)
	}
	must(t, s.Close())
	must(t, os.Chmod(at.Path, 0o444))
	if _, err := Open(t.Context(), data); err == nil || !strings.Contains(err.Error(), "read by others") {
		t.Errorf("a credential that everybody may read: %v", err)
	}
	must(t, os.Remove(at.Path))
	for _, dir := range []string{data.Dir, t.TempDir()} {
		if _, err := Open(t.Context(), Options{Dir: dir, KeyFile: data.KeyFile}); err == nil {
			t.Error("opened without the credential")
		}
	}
	if _, err := os.Stat(at.Path); err == nil {
		t.Error("a key file was made in the place of a credential")
	}
}
