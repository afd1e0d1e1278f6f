package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// secrets are texts that must not be found, or that must, in one pass over what is searched.
type secrets struct {
	all    map[[4]byte][]string // by how they begin
	begins [1 << 16]bool        // by their first two bytes
}

func newSecrets(texts []string) *secrets {
	s := &secrets{all: map[[4]byte][]string{}}
	for _, text := range texts {
		head := [4]byte([]byte(text))
		s.all[head] = append(s.all[head], text)
		s.begins[int(text[0])<<8|int(text[1])] = true
	}
	return s
}

// in gives the texts that are in the content.
func (s *secrets) in(content []byte) (found []string) {
	for n := 0; n+4 <= len(content); n++ {
		if !s.begins[int(content[n])<<8|int(content[n+1])] {
			continue
		}
		for _, text := range s.all[[4]byte(content[n:])] {
			if bytes.HasPrefix(content[n:], []byte(text)) {
				found = append(found, text)
			}
		}
	}
	return found
}

// findings are the places where each text was found.
type findings map[string][]string

func (f findings) search(place string, content []byte, s *secrets) {
	for _, text := range s.in(content) {
		f[text] = append(f[text], place)
	}
}

// searchFolder looks through all files of a folder and those below, but the key file, and tells how many bytes they
// have.
func (f findings) searchFolder(dir string, s *secrets) (size int64, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "boon.key" {
			return err
		}
		content, err := os.ReadFile(path)
		size += int64(len(content))
		f.search(entry.Name(), content, s)
		return err
	})
	return size, err
}

// keyParts are the keys of a key file, as they stand there.
func keyParts(path string) (parts []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f struct {
		Keys []struct{ Lookup, Seal, Fingerprint string }
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	for _, k := range f.Keys {
		parts = append(parts, k.Lookup, k.Seal, k.Fingerprint)
	}
	return parts, nil
}

// search looks for the secrets that the tills used in all that the storm left behind: database, log, backup, and what
// was said.
func (s *scene) search(texts []string, data string, places ...string) error {
	keys, err := keyParts(filepath.Join(data, "boon.key"))
	if err != nil {
		return err
	}
	const known = "Shop 1" // is no secret, and stands in the set-up
	texts = append(texts, keys...)
	all, found := newSecrets(append(texts, known)), findings{}
	for _, place := range places {
		size, err := found.searchFolder(place, all)
		if err != nil {
			return err
		}
		s.found.searched += size
	}
	found.search("the log", s.logs.Bytes(), all)
	s.found.searched, s.found.secrets = s.found.searched+int64(s.logs.Len()), len(texts)
	if found[known] == nil {
		s.found.leaks = append(s.found.leaks, "what is known to be there was not found: the search finds nothing")
	}
	delete(found, known)
	for text, places := range found {
		if len(s.found.leaks) < 5 {
			s.found.leaks = append(s.found.leaks, fmt.Sprintf("%.5s… (%d bytes) is in %v", text, len(text), places))
		}
	}
	return nil
}
