package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"boon.example/internal/store/pgtest"
	"boon.example/test/rig"
	"boon.example/test/storm"
)

// plan is one storm on one store.
type plan struct {
	ops      int64
	kills    int
	seed     uint64
	duration time.Duration
	clients  int
	gifts    int // in use at once in each account; 0: some
	postgres bool
	beside   bool // two instances share the embedded store
	binary   string
	faulty   string // the program that makes a mistake; "": none
	mistake  string // the one that it makes
	progress func(done int64)
}

// found is what a storm and its check came to.
type found struct {
	*storm.Report
	followed             *storm.Followed // nil: nobody followed
	kills, databaseKills int
	took, slowestStart   time.Duration
	verify               error
	searched             int64 // bytes
	secrets              int   // that were looked for in them
	leaks                []string
}

func (f *found) sound() bool {
	fed := f.followed == nil || f.followed.Missed == 0 && len(f.followed.Problems) == 0
	return f.Sound() && f.verify == nil && len(f.leaks) == 0 && fed
}

func (f *found) String() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%d kills of the server", f.kills)
	if f.databaseKills > 0 {
		fmt.Fprintf(b, " and %d of PostgreSQL", f.databaseKills)
	}
	fmt.Fprintf(b, ", %s; %.0f s and %.1f s of checking, slowest start %.1f s; ", f.Report, f.took.Seconds(),
		f.CheckingTook.Seconds(), f.slowestStart.Seconds())
	if f.verify != nil {
		fmt.Fprintf(b, "boon verify: %v", f.verify)
	} else {
		fmt.Fprint(b, "boon verify: everything holds")
	}
	fmt.Fprintf(b, "; %d MB of files, backup and logs searched for %d secrets: %d found", f.searched>>20, f.secrets,
		len(f.leaks))
	problems := append(f.Problems, f.leaks...)
	if f.followed != nil {
		fmt.Fprintf(b, "; %s", f.followed)
		problems = append(problems, f.followed.Problems...)
	}
	for _, p := range problems {
		fmt.Fprintf(b, "\n  %s", p)
	}
	return b.String()
}

// scene is what serves while the storm is on.
type scene struct {
	boon     *rig.Installation
	servers  []*rig.Server
	database *pgtest.Server
	lot      *rand.Rand
	logs     bytes.Buffer // of the servers that were killed
	found    *found
}

// run makes the store, lets the storm loose, kills, and checks.
func (p plan) run(ctx context.Context) (*found, error) {
	dir, err := os.MkdirTemp("", "boon-torture-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s := &scene{lot: rand.New(rand.NewPCG(p.seed, 1)), found: &found{}}
	defer s.close()
	if err := p.open(s, filepath.Join(dir, "data")); err != nil {
		return nil, err
	}
	var urls []string
	for _, server := range s.servers {
		urls = append(urls, server.URL)
	}
	tills := storm.New(storm.Options{Clients: p.clients, Seed: p.seed, Gifts: p.gifts}, urls...)
	var feed *storm.Feed
	if p.mistake == "" {
		feed = storm.Follow(p.seed, urls...)
	}
	begun := time.Now()
	if err := p.rage(ctx, s, tills); err != nil {
		return nil, err
	}
	s.found.took = time.Since(begun)
	if p.mistake == "" {
		tills.Outlive()
	}
	s.found.Report = tills.Check(urls[s.lot.IntN(len(urls))])
	if feed != nil {
		s.found.followed = feed.Check(urls[s.lot.IntN(len(urls))])
	}
	for n := range s.servers {
		s.end(n)
	}
	s.found.verify = s.boon.Verify()
	return s.found, s.searchAll(tills, filepath.Join(dir, "data"))
}

// end kills a server, and keeps what it said.
func (s *scene) end(n int) {
	s.servers[n].Kill()
	s.logs.WriteString(s.servers[n].Logs())
}

// searchAll searches the data folder, a backup, and all that PostgreSQL has written and said.
func (s *scene) searchAll(tills *storm.Storm, data string) error {
	places := []string{data}
	if s.database != nil {
		if err := s.database.Kill(); err != nil { // as it is, with its log of what was not written yet
			return err
		}
		places = append(places, s.database.Dir())
	} else {
		backup := data + "-backup"
		if err := os.Mkdir(backup, 0o700); err != nil {
			return err
		}
		if _, err := s.boon.Run("backup", "--to", backup); err != nil {
			return err
		}
		places = append(places, backup)
	}
	return s.search(tills.Secrets(), data, places...)
}

// open starts what serves: a server, or two, on the embedded store, or two over PostgreSQL.
func (p plan) open(s *scene, data string) (err error) {
	url, instances := "", 1
	if p.beside {
		instances = 2
	}
	if p.postgres {
		if s.database, err = pgtest.Start(); err != nil {
			return err
		}
		url, instances = s.database.URL, 2
	}
	for range 3 { // a database that was just started on a busy machine may be slower than the timeouts of apply
		if s.boon, err = rig.Install(p.binary, data, url); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if p.faulty != "" {
		s.boon.Serve = []string{p.faulty, "--mistake", p.mistake}
	}
	for range instances {
		address, err := rig.FreeAddress()
		if err != nil {
			return err
		}
		server, err := s.boon.Start(address)
		if err != nil {
			return err
		}
		s.servers = append(s.servers, server)
	}
	return nil
}

func (s *scene) close() {
	for _, server := range s.servers {
		server.Kill()
	}
	if s.database != nil {
		_ = s.database.Close() // its folder is a temporary one
	}
}

// rage runs the tills and kills beside them, spread over their calls and at moments left to chance.
func (p plan) rage(ctx context.Context, s *scene, tills *storm.Storm) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if p.duration > 0 {
		ctx, cancel = context.WithTimeout(ctx, p.duration)
		defer cancel()
	}
	ended := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { defer close(ended); tills.Run(ctx, 0, p.ops) })
	defer wg.Wait()
	each := p.ops / int64(p.kills+1)
	for n := 0; n < p.kills; n++ {
		at := each*int64(n) + each/4 + s.lot.Int64N(max(1, each))
		for tills.Calls() < at && !over(ended) {
			time.Sleep(time.Millisecond)
			p.progress(tills.Calls())
		}
		if over(ended) {
			break
		}
		if err := s.kill(n); err != nil {
			cancel()
			return err
		}
	}
	for !over(ended) {
		time.Sleep(50 * time.Millisecond)
		p.progress(tills.Calls())
	}
	return nil
}

func over(ended chan struct{}) bool {
	select {
	case <-ended:
		return true
	default:
		return false
	}
}

// kill kills a server, and every fourth time the database where there is one, and starts it again.
func (s *scene) kill(n int) error {
	if s.database != nil && n%4 == 3 {
		s.found.databaseKills++
		return errors.Join(s.database.Kill(), s.database.Run())
	}
	s.found.kills++
	i := s.lot.IntN(len(s.servers))
	s.end(i)
	time.Sleep(time.Duration(s.lot.IntN(50)) * time.Millisecond)
	server, err := s.boon.Start(s.servers[i].Address)
	if err != nil {
		return err
	}
	s.servers[i], s.found.slowestStart = server, max(s.found.slowestStart, server.Ready)
	return nil
}
