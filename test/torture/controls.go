package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"boon.example/internal/store/pgtest"
	"boon.example/test/rig"
)

// control is a mistake that the storm must notice: see test/torture/unsound.
type control struct {
	mistake  string
	postgres bool
	what     string
}

func controls() []control {
	return []control{
		{"saves", false, "a group is now and then answered and not saved"},
		{"captures", false, "what was captured of a hold can be captured again"},
		{"releases", false, "what was released is held for ever"},
		{"transfers", false, "a transfer is entered twice where it goes to"},
		{"codes", false, "wrong verification codes are not counted"},
		{"cards", false, "a card that was replaced still leads to its gift"},
		{"looks", false, "who looks at a gift a second time is now and then told what was so the first time"},
		{"keys", false, "Idempotency-Keys are neither looked for nor remembered"},
		{"locks", true, "a group is decided on what was read before it had its locks"},
	}
}

// runControls makes every mistake and fails unless each is noticed.
func runControls(ctx context.Context, p plan) error {
	p.ops, p.kills = min(p.ops, 6_000), 2
	if p.duration == 0 {
		p.duration = time.Minute
	}
	dir, binary, err := rig.Workshop()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p.binary, p.faulty = binary, filepath.Join(dir, "unsound")
	if err := rig.Build(p.faulty, rig.Unsound); err != nil {
		return err
	}
	missed := 0
	for _, c := range controls() {
		name := "the embedded store"
		if c.postgres {
			name = "PostgreSQL"
		}
		p.progress = progress(p.ops, "control "+c.mistake)
		f, err := c.run(ctx, p)
		switch {
		case errors.Is(err, pgtest.ErrMissing):
			fmt.Printf("LEFT OUT: control %s. %v\n", c.mistake, err)
		case err != nil:
			return fmt.Errorf("control %s: %w", c.mistake, err)
		case f.sound():
			missed++
			fmt.Printf("MISSED: control %s on %s (%s): %s\n", c.mistake, name, c.what, f)
		default:
			fmt.Printf("caught: control %s on %s (%s): lost %d, doubled %d, not linearizable %d gifts, %d other findings\n",
				c.mistake, name, c.what, f.Lost, f.Doubled, f.Unexplained, len(f.Problems))
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d controls were not noticed: the storm does not bite", missed)
	}
	fmt.Printf("all %d controls were caught\n", len(controls()))
	return nil
}

func (c control) run(ctx context.Context, p plan) (*found, error) {
	p.mistake, p.postgres = c.mistake, c.postgres
	return p.run(ctx)
}
