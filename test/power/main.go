//go:build linux

// Command power cuts the power under a server on the embedded store, again and again: its data folder lies on a file
// system of our own, on which what was not synced is lost, or half of it, or every other sector. Then the server is
// started again, without any repair, and everything that was acknowledged must be there.
//
//	go -C test run ./power -cuts 1000
//	go -C test run ./power -control       the log is not synced: that must lose money here
//
// It needs Linux, /dev/fuse and the right to mount.
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

	"boon.example/test/rig"
)

func main() {
	log.SetFlags(0)
	var p plan
	flag.IntVar(&p.cuts, "cuts", 60, "of the power")
	flag.Uint64Var(&p.seed, "seed", uint64(time.Now().UnixNano()), "of where they fall and what they spare")
	flag.IntVar(&p.each, "each", 25, "cuts of one store before the next takes its place")
	flag.IntVar(&p.clients, "clients", 12, "tills at once")
	control := flag.Bool("control", false, "have the disk forget to sync the log, and see that it is noticed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := available()
	if err != nil {
		err = fmt.Errorf("no file system of our own can be mounted here, so no power can be cut: %w", err)
	} else {
		err = tell(ctx, p, *control)
	}
	if err != nil {
		stop()
		log.Fatal(err)
	}
}

func tell(ctx context.Context, p plan, control bool) error {
	p.unsynced = control
	p.progress = func(int) {}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		bar := progressbar.NewOptions(p.cuts, progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionSetDescription("cuts"),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(65e6))
		p.progress = func(n int) { _ = bar.Set(n) } // nothing to do about a terminal that is gone
	}
	dir, binary, err := rig.Workshop()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p.binary = binary
	f, err := p.run(ctx)
	if err != nil {
		return err
	}
	switch {
	case control && f.lost+f.broken == 0:
		return fmt.Errorf("MISSED: an unsynced log lost nothing, so the cuts do not bite: %s", f)
	case control:
		fmt.Printf("caught: control syncs (what is synced of the write-ahead log is not put on the medium): of %d "+
			"movements lost %d, in %d of %d cuts; stores that opened no more: %d\n",
			f.moves, f.lost, f.losing, f.cuts, f.broken)
	default:
		fmt.Printf("seed %d: %s\n", p.seed, f)
		if !f.sound() {
			return errors.New("a promise is broken")
		}
	}
	return nil
}
