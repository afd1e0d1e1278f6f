package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"boon.example/examples"
	"boon.example/internal/command/demo"
	"boon.example/internal/command/terminal"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/print"
	"boon.example/internal/server"
	"boon.example/internal/setup"
	"boon.example/internal/staff"
	"boon.example/internal/store"
)

type demoCmd struct {
	Once   bool   `help:"End after the story; exit code 1 if it did not go as told."`
	Listen string `setting:"env" placeholder:"HOST:PORT" help:"Where the server listens. Default: 127.0.0.1:8080, or a free port when that is taken."`
}

func (demoCmd) Help() string {
	return `Makes a temporary data folder, applies the example set-up, starts the service, and tells the life of a few gifts over real HTTP: each
call is printed as a curl command that can be pasted, with its answer. E-mail and SMS go to a page of the service instead of the
world. Then it keeps serving until Ctrl-C, and removes the folder.

Example:

    boon demo
    boon demo --once

Next: boon apply --help and boon serve --help, for a service of your own.`
}

func (c *demoCmd) Run(t *terminal.Terminal) (err error) {
	dir, err := os.MkdirTemp("", "boon-demo-")
	if err != nil {
		return fmt.Errorf("making a temporary data folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := applyExample(t, dir); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(t)
	defer stop()
	ready, done := make(chan string, 1), make(chan error, 1)
	log := slog.New(slog.NewJSONHandler(t.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	go func() {
		done <- server.Run(ctx, server.Config{
			Listen: c.address(), Data: dir, Outbox: true, OutboxAnyway: true, Ready: func(address string) { ready <- address },
			Logger: log, Fonts: print.NewFonts(log, ""),
		})
	}()
	select {
	case err := <-done:
		return err
	case address := <-ready:
		return c.tell(ctx, t, dir, address, stop, done)
	}
}

// address is where to listen: as asked, else where the README's commands expect the service, if that port is free.
func (c *demoCmd) address() string {
	if c.Listen != "" {
		return c.Listen
	}
	const usual = "127.0.0.1:8080"
	l, err := net.Listen("tcp", usual)
	if err != nil {
		return "127.0.0.1:0"
	}
	l.Close()
	return usual
}

// tell tells the story on a running server, keeps it running as long as is wanted, and ends with it.
func (c *demoCmd) tell(ctx context.Context, t *terminal.Terminal, dir, address string, stop func(),
	done <-chan error) error {
	s := demo.New(t, "http://"+address)
	told := s.Tell(ctx)
	if t.Err() != nil {
		told = nil // the person had seen enough
	}
	stays := told == nil && !c.Once && t.Err() == nil
	if stays {
		told = farewell(ctx, dir, s)
	}
	if stays && told == nil {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			fmt.Fprintln(t.Stdout)
		}
	}
	stop()
	return errors.Join(told, <-done)
}

// applyExample makes the set-up of the story.
func applyExample(ctx context.Context, dir string) error {
	return opened(ctx, store.Options{Dir: dir}, func(s *store.Store) error {
		for name, text := range map[string][]byte{"harbor-coffee.yaml": examples.HarborCoffee(),
			"harbor-test.yaml": examples.HarborTest()} {
			file, err := setup.ParseDemo(name, text)
			if err != nil {
				return err
			}
			if _, err := file.Apply(ctx, s, time.Now(), rand.Reader); err != nil {
				return err
			}
		}
		return nil
	})
}

// farewell tells the person who watches what can be done now.
func farewell(ctx context.Context, dir string, s *demo.Story) error {
	till, err := tillLink(ctx, dir, s.Base)
	if err != nil {
		return err
	}
	console, err := ownerLink(ctx, dir, s.Base)
	if err == nil {
		s.Farewell(till, console)
	}
	return err
}

// ownerLink invites the person who watches to the console of the example, as its owner.
func ownerLink(ctx context.Context, dir, base string) (link string, _ error) {
	account, err := guid.Parse(examples.HarborAccount)
	if err != nil {
		return "", err
	}
	err = opened(ctx, store.Options{Dir: dir, MustExist: true}, func(s *store.Store) error {
		_, token, err := invite(ctx, s, account, staff.Member{Name: "Robin", Email: "owner@example.com", Role: staff.Owner})
		link = joinLink(base, token)
		return err
	})
	return link, err
}

// tillLink makes a till for the person who watches, at the first location of the example, and gives the link to pair it
// by.
func tillLink(ctx context.Context, dir, base string) (link string, _ error) {
	account, err := guid.Parse(examples.HarborAccount)
	if err != nil {
		return "", err
	}
	err = opened(ctx, store.Options{Dir: dir, MustExist: true}, func(s *store.Store) error {
		d, err := s.Directory(ctx)
		if err != nil {
			return err
		}
		_, token, err := setup.CreateKey(ctx, s, setup.KeyRequest{Account: account, Name: "Counter 1", Till: true,
			Permissions: merchant.TillPermissions, Locations: []guid.ID{d.Accounts[account].Locations[0].ID}}, time.Now(),
			rand.Reader)
		link = pairLink(base, token)
		return err
	})
	return link, err
}
