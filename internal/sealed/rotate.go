package sealed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"boon.example/internal/base/durable"
)

// KeyName tells a key from all others, also from one that has the same id in another file. It is no secret.
type KeyName struct {
	ID   byte
	Name string
}

// Names are those of all keys, in the order of their ids.
func (k *Keys) Names() []KeyName {
	var all []KeyName
	for id, v := range k.ring.Load().byID {
		all = append(all, KeyName{id, v.name})
	}
	slices.SortFunc(all, func(a, b KeyName) int { return int(a.ID) - int(b.ID) })
	return all
}

// Current is the id of the key that new values are made with.
func (k *Keys) Current() byte { return k.ring.Load().current.id }

// Use makes the key of this id the one that new values are made with, in this process. The error is ErrUnknownKey.
func (k *Keys) Use(id byte) error {
	v, err := k.version(id)
	if err != nil {
		return err
	}
	for {
		was := k.ring.Load()
		if was.current == v || k.ring.CompareAndSwap(was, &ring{byID: was.byID, current: v}) {
			return nil
		}
	}
}

// Reload reads the file anew and takes the keys that were added to it. A file that lacks a key which is or was in use,
// or has another under its id, is refused, and everything stays as it was. One that was added and never used may be
// another's: it was made by mistake.
func (k *Keys) Reload() error {
	if k.from.Path == "" {
		return errors.New("these keys have no file")
	}
	there, err := k.from.Load()
	if err != nil {
		return err
	}
	for {
		was, is := k.ring.Load(), there.ring.Load()
		for id, v := range was.byID {
			if id > was.current.id {
				continue
			}
			if is.byID[id] == nil || is.byID[id].name != v.name {
				return fmt.Errorf("the key file %s has no longer the key %d that this process began with; restore it from its "+
					"backup", k.from.Path, id)
			}
		}
		if k.ring.CompareAndSwap(was, &ring{byID: is.byID, current: is.byID[was.current.id]}) {
			return nil
		}
	}
}

// Add draws a new key and adds it to a key file, and gives its id. Nothing is made with it yet. The file is replaced as
// a whole, and on stable storage when Add returns. Only one Add can be under way for a file.
func Add(path string) (id byte, err error) {
	lock := path + ".new"
	held, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return 0, fmt.Errorf("another rotation is adding a key, or one was cut off while it did; if none is running, "+
			"remove %s and "+
			"try again", lock)
	}
	if err != nil {
		return 0, fmt.Errorf("adding a key: %w", err)
	}
	defer func() {
		held.Close()
		os.Remove(lock)
	}()
	f, err := read(path, 0o077)
	if err != nil {
		return 0, err
	}
	newest := slices.MaxFunc(f.Keys, func(a, b fileKey) int { return a.ID - b.ID }).ID
	if newest == 255 {
		return 0, fmt.Errorf("the key file %s has had 255 keys, and there are no more ids", path)
	}
	f.Keys = append(f.Keys, draw(newest+1))
	text, err := f.text()
	if err == nil {
		err = durable.Replace(path, text)
	}
	if err != nil {
		return 0, fmt.Errorf("adding a key to %s: %w", path, err)
	}
	return byte(newest + 1), nil
}
