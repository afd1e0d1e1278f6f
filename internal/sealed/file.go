package sealed

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"boon.example/internal/base/durable"
)

// FileName is what the key file of a data folder is called.
const FileName = "boon.key"

// Place is where a key file is.
type Place struct {
	Path string
	// Credential tells that it is a credential of systemd: a copy for one service, which is never written to.
	Credential bool
}

// file is the key file: JSON, so that a person can see what it is and tools can carry it.
type file struct {
	Format int `json:"format"`
	// the id of the key that a new database begins with; one that exists says itself which it uses
	Current int       `json:"current"`
	Keys    []fileKey `json:"keys"`
}

type fileKey struct {
	ID          int    `json:"id"` // 1 to 255
	Lookup      []byte `json:"lookup"`
	Seal        []byte `json:"seal"`
	Fingerprint []byte `json:"fingerprint"`
}

// fileFormat is the only format there is.
const fileFormat = 1

// Create draws new keys and writes them to a new file that only its owner may read. The file is whole and on stable
// storage when Create returns. One that exists is left alone: the error is then fs.ErrExist.
func Create(path string) (*Keys, error) {
	k := draw(1)
	f := file{Format: fileFormat, Current: k.ID, Keys: []fileKey{k}}
	text, err := f.text()
	if err != nil {
		return nil, fmt.Errorf("writing the key file: %w", err)
	}
	if err := durable.Create(path, text); err != nil {
		return nil, fmt.Errorf("writing the key file %s: %w", path, err)
	}
	return newKeys(Place{Path: path}, f)
}

func newKeys(from Place, f file) (*Keys, error) {
	r, err := f.ring()
	if err != nil {
		return nil, err
	}
	k := &Keys{from: from}
	k.ring.Store(r)
	return k, nil
}

func draw(id int) fileKey {
	k := fileKey{ID: id, Lookup: make([]byte, keySize), Seal: make([]byte, keySize), Fingerprint: make([]byte, keySize)}
	for _, b := range [][]byte{k.Lookup, k.Seal, k.Fingerprint} {
		rand.Read(b) // never fails
	}
	return k
}

func (f file) text() ([]byte, error) {
	text, err := json.MarshalIndent(f, "", "  ")
	return append(text, '\n'), err
}

// Discard removes a key file that Create has just made and that is not used, unless something else has taken its
// place.
func Discard(path string, made *Keys) error {
	there, err := Load(path)
	if err != nil || !bytes.Equal(there.AddressHash("x"), made.AddressHash("x")) {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("removing the key file %s, which serves nobody: %w", path, err)
	}
	return nil
}

// Load reads a key file. It refuses one that others than its owner may read, and one that is not exactly as Create and
// Add make it; a missing one is fs.ErrNotExist.
func Load(path string) (*Keys, error) { return Place{Path: path}.Load() }

// Load is Load of the file in this place. In front of a credential stands a folder for the service's user alone, whom
// an access list lets in; what such a list allows at most shows as the rights of the file's group.
func (p Place) Load() (*Keys, error) {
	denied := fs.FileMode(0o077)
	if p.Credential {
		denied = 0o037
	}
	f, err := read(p.Path, denied)
	if err != nil {
		return nil, err
	}
	return newKeys(p, f)
}

func read(path string, denied fs.FileMode) (f file, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return f, fmt.Errorf("reading the key file: %w", err)
	}
	if mode := info.Mode().Perm(); mode&denied != 0 {
		return f, fmt.Errorf("the key file %s may be read by others than its owner (mode %04o); "+
			"run `chmod 600 %s`, and think about who may have copied it", path, mode, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return f, fmt.Errorf("reading the key file: %w", err)
	}
	f, err = parse(text)
	if err == nil {
		_, err = f.ring()
	}
	if err != nil {
		return f, fmt.Errorf("the key file %s is damaged: %w; restore it from its backup", path, err)
	}
	return f, nil
}

// parse reads the text of a key file. Its errors never quote the text.
func parse(text []byte) (f file, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		if s := new(json.SyntaxError); errors.As(err, &s) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return f, errors.New("it is not JSON")
		}
		return f, errors.New("it has a member that is unknown or of the wrong type")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return f, errors.New("something follows its end")
	}
	if f.Format != fileFormat {
		return f, fmt.Errorf("its format is %d, and this program knows format %d only", f.Format, fileFormat)
	}
	return f, nil
}

func (f file) ring() (*ring, error) {
	all := &ring{byID: map[byte]*version{}}
	for _, k := range f.Keys {
		if k.ID < 1 || k.ID > 255 {
			return nil, fmt.Errorf("it has a key with id %d, and ids go from 1 to 255", k.ID)
		}
		if all.byID[byte(k.ID)] != nil {
			return nil, fmt.Errorf("it has two keys with id %d", k.ID)
		}
		if len(k.Lookup) != keySize || len(k.Seal) != keySize || len(k.Fingerprint) != keySize {
			return nil, fmt.Errorf("key %d does not have three parts of %d bytes each", k.ID, keySize)
		}
		v, err := newVersion(byte(k.ID), k.Lookup, k.Seal, k.Fingerprint)
		if err != nil {
			return nil, err
		}
		all.byID[v.id] = v
	}
	if f.Current >= 1 && f.Current <= 255 {
		all.current = all.byID[byte(f.Current)]
	}
	if all.current == nil {
		return nil, fmt.Errorf("its current key, %d, is not in it", f.Current)
	}
	return all, nil
}
