package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// chance is what differs from run to run: ids, codes, tokens and times.
var chance = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{64}\b|\b\d{12}\b|` +
	`(\b\d{4} ){2}\d{4}\b|\*{8}\d{4}|\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d\.\d{3})?|\b1\d{9}\b`)

// TestAnswers: the pictures of answers in the documents are what program and service answer now.
func TestAnswers(t *testing.T) {
	t.Parallel()
	w, err := start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.stop(); err != nil {
			t.Error(err)
		}
	}()
	to := t.TempDir()
	if err := (&studio{world: w, to: to}).answers(t.Context()); err != nil {
		t.Fatal(err)
	}
	drawn, err := filepath.Glob(to + "/answer-*.svg")
	if err != nil || len(drawn) != 4 {
		t.Fatalf("%q, %v", drawn, err)
	}
	for _, file := range drawn {
		now, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join("../../docs/pictures", filepath.Base(file)))
		if err != nil || chance.ReplaceAllString(string(now), "*") != chance.ReplaceAllString(string(kept), "*") {
			t.Errorf("%s is not what is answered (%v): run make screenshots. It is\n%s", filepath.Base(file), err, now)
		}
	}
}
