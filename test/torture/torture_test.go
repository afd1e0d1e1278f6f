package main

import (
	"os"
	"path/filepath"
	"testing"

	"boon.example/internal/store/pgtest"
	"boon.example/test/rig"
)

// TestMain builds the program, and one that serves as it does and makes mistakes.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "boon-torture-")
	if err != nil {
		panic(err)
	}
	shipped, unsound = filepath.Join(dir, "boon"), filepath.Join(dir, "boon-unsound")
	for path, program := range map[string]string{shipped: rig.Boon, unsound: rig.Unsound} {
		if err := rig.Build(path, program); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.RemoveAll(dir)
			os.Exit(1)
		}
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

var shipped, unsound string // binaries

func short() plan {
	return plan{ops: 4000, kills: 4, seed: 1, clients: 16, binary: shipped, progress: func(int64) {}}
}

// TestStorm is the short version of the program; at full length, make torture runs it.
func TestStorm(t *testing.T) {
	for name, change := range map[string]func(*plan){
		"embedded":                func(*plan) {},
		"embedded, two instances": func(p *plan) { p.beside, p.ops = true, p.ops/2 },
		"PostgreSQL":              func(p *plan) { p.postgres = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits for a minute until holds are over
			p := short()
			change(&p)
			if testing.Short() {
				p.ops /= 2
			}
			if p.postgres {
				pgtest.Need(t)
			}
			f, err := p.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !f.sound() {
				t.Error(f)
			}
			t.Log(f)
		})
	}
}

// TestMistakesAreNoticed runs the controls: the storm must turn red when the service is broken on purpose. The short
// version makes one mistake on each store; make torture makes all.
func TestMistakesAreNoticed(t *testing.T) {
	for n, c := range controls() {
		if testing.Short() && n > 0 && !c.postgres {
			continue
		}
		t.Run(c.mistake, func(t *testing.T) {
			if c.postgres {
				pgtest.Need(t)
			}
			p := short()
			p.kills, p.faulty = 1, unsound
			f, err := c.run(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if f.sound() {
				t.Errorf("%s, and it was not noticed: %s", c.what, f)
			}
			t.Logf("lost %d, doubled %d, not linearizable %d", f.Lost, f.Doubled, f.Unexplained)
		})
	}
}

// TestThePromisesNameTests: every promise is there, with a command or a word on what is open.
func TestThePromisesNameTests(t *testing.T) {
	text, err := os.ReadFile("../../" + place)
	if err != nil {
		t.Fatal(err)
	}
	all := readPromises(string(text))
	if len(all) != 16 {
		t.Errorf("%d promises, want 16", len(all))
	}
	for _, p := range all {
		if p.text == "" || len(p.tests)+len(p.open) == 0 {
			t.Errorf("%s has no words, or neither a test nor a word on what is open", p.name)
		}
	}
}
