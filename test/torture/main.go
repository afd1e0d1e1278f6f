// Command torture lets a storm of tills loose on a real server, kills it again and again, and holds what was
// acknowledged against what is there. It says what it found, and fails when a promise is broken.
//
//	go -C test run ./torture                       a storm on each store that this machine has
//	go -C test run ./torture -ops 1000000 -kills 200 -store sqlite
//	go -C test run ./torture -controls             mistakes made on purpose, which must be noticed
//	go -C test run ./torture -promises             every promise of docs/why/promises.md against the tests that try it
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"boon.example/internal/store/pgtest"
	"boon.example/test/rig"
)

func main() {
	log.SetFlags(0)
	var p plan
	flag.Int64Var(&p.ops, "ops", 40_000, "calls to be answered, on each store")
	flag.IntVar(&p.kills, "kills", 20, "of what serves, on each store")
	flag.Uint64Var(&p.seed, "seed", uint64(time.Now().UnixNano()),
		"of everything that is left to chance but the scheduler")
	flag.DurationVar(&p.duration, "duration", 0, "the longest a storm may last; 0: until all calls are answered")
	flag.IntVar(&p.clients, "clients", 32, "tills at once")
	flag.IntVar(&p.gifts, "gifts", 24, "in use at once in each of two accounts")
	stores := flag.String("store", "both", "sqlite, postgres or both")
	controls := flag.Bool("controls", false, "make mistakes on purpose and see that they are noticed")
	promises := flag.String("promises", "",
		"run the tests that docs/why/promises.md names for these promises: all, or names such as P4,P6")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case *promises != "":
		err = keepPromises(ctx, *promises)
	case *controls:
		err = runControls(ctx, p)
	default:
		err = storms(ctx, p, *stores)
	}
	if err != nil {
		stop()
		log.Fatal(err)
	}
}

// storms runs the plan on the stores.
func storms(ctx context.Context, p plan, which string) error {
	if which != "sqlite" && which != "postgres" && which != "both" {
		return fmt.Errorf("-store is sqlite, postgres or both, not %q", which)
	}
	dir, binary, err := rig.Workshop()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p.binary = binary
	if which != "postgres" {
		if err := tell(ctx, p, "embedded store", false); err != nil {
			return err
		}
	}
	if which == "sqlite" {
		return nil
	}
	err = tell(ctx, p, "PostgreSQL, two instances", true)
	if errors.Is(err, pgtest.ErrMissing) && which == "both" {
		fmt.Println("LEFT OUT: the storm on PostgreSQL.", err)
		return nil
	}
	return err
}

// tell runs a storm and says how it went.
func tell(ctx context.Context, p plan, name string, postgres bool) error {
	p.postgres = postgres
	p.progress = progress(p.ops, name)
	found, err := p.run(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Printf("%s, seed %d: %s\n", name, p.seed, found)
	if !found.sound() {
		return errors.New("a promise is broken")
	}
	return nil
}

// progress is shown on a terminal only.
func progress(total int64, what string) func(done int64) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func(int64) {}
	}
	bar := progressbar.NewOptions64(total, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(65e6))
	return func(done int64) { _ = bar.Set64(min(done, total)) } // nothing to do about a terminal that is gone
}
