package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/command/load"
	"boon.example/internal/setup"
	"boon.example/internal/store"
	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
)

const (
	key           = "boon_live_bench_0123456789abcdef0123456789abcdef"
	storefront    = "0199a000-0000-7000-8000-000000000003"
	toastProvider = "0199a000-0000-7000-8000-000000000004"
	toastSecret   = "toast_bench_0123456789abcdef0123456789abcdef"
	// Those of another merchant, who has no part in the stock.
	neighbourKey        = "boon_live_neighbour_0123456789abcdef0123456789abcdef"
	neighbourStorefront = "0199a000-0000-7000-8000-000000000013"

	setupFile = `accounts:
  - id: 0199a000-0000-7000-8000-000000000001
    name: Bench
    currency: USD
    timeZone: UTC
    language: en
    limits: {giftsPerDay: 1000000000}
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}]
    locations: [{id: 0199a000-0000-7000-8000-000000000002, name: Here}]
    storefronts: [{id: ` + storefront + `, name: Web}]
    keys: [{name: till, role: all, secret: ` + key + `}]
    providers: [{id: ` + toastProvider + `, name: Toast, platform: toast, secret: ` + toastSecret + `,
      permissions: [redeem], sites: [{name: here, location: 0199a000-0000-7000-8000-000000000002}]}]
  - id: 0199a000-0000-7000-8000-000000000011
    name: Neighbour
    currency: USD
    timeZone: UTC
    language: en
    limits: {giftsPerDay: 1000000000}
    importedCodes: [{digits: 16}]
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}]
    locations: [{id: 0199a000-0000-7000-8000-000000000012, name: There}]
    storefronts: [{id: ` + neighbourStorefront + `, name: Web}]
    keys: [{name: shop, role: all, secret: ` + neighbourKey + `}]
`
)

// place is a store on the disk: a folder with boon's data, for PostgreSQL with the server's beside it, and the list of
// its gifts.
type place struct {
	dir     string
	server  *pgtest.Server // nil: the embedded store, or one of Citus
	cluster string         // the database's URL, of one of Citus
}

func (p *place) data() string  { return filepath.Join(p.dir, "boon") }
func (p *place) gifts() string { return filepath.Join(p.dir, "gifts") }

func (p *place) database() string {
	if p.server == nil {
		return p.cluster
	}
	return p.server.URL
}

// postgresSettings are those of a server that is meant for work, on a machine of some GB; fsync and synchronous_commit
// are on by default.
var postgresSettings = []string{"fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=1GB",
	"max_wal_size=8GB"}

// start runs what the store needs.
func (p *place) start(name string) (err error) {
	if name == "sqlite" {
		return nil
	}
	p.server, err = pgtest.StartIn(filepath.Join(p.dir, "server"), postgresSettings...)
	return err
}

func (p *place) stop() error {
	if p.server == nil {
		return nil
	}
	return errors.Join(p.server.Stop(), p.server.Close())
}

// newPlace makes an empty one, where the user that PostgreSQL runs as can reach it. Its name tells whose it is.
func newPlace(stock string) (*place, error) {
	dir, err := os.MkdirTemp(stock, fmt.Sprintf("run-%d-", os.Getpid()))
	if err != nil {
		return nil, err
	}
	return &place{dir: dir}, os.Chmod(dir, 0o755)
}

// sweep removes what killed runs have left behind.
func sweep(stock string) error {
	left, err := filepath.Glob(filepath.Join(stock, "run-*-*"))
	for _, dir := range left {
		pid, _ := strconv.Atoi(strings.Split(filepath.Base(dir), "-")[1])
		if pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// stocked gives the folder of a store with so many gifts, made where it is not there yet. The name tells the schema,
// the set-up and the mix of orders, so that a stock of another kind is not taken for it.
func stocked(ctx context.Context, o options, name string, n int) (string, error) {
	kind, err := kindOf()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(o.stock, fmt.Sprintf("%s-%d-%s", name, n, kind))
	if o.rebuild {
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	progress("making %d gifts in %s; they are kept there for the next time", n, dir)
	p, err := newPlace(o.stock)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(p.dir)
	begun := time.Now()
	if err := p.fill(ctx, name, n); err != nil {
		return "", err
	}
	took := time.Since(begun)
	progress("made %d gifts in %s, %.0f a second", n, took.Round(time.Second), float64(n)/took.Seconds())
	return dir, os.Rename(p.dir, dir)
}

// kindOf is a short name of the schema that stores have, of the set-up and of the mix of orders.
func kindOf() (string, error) {
	all := fmt.Append([]byte(setupFile), mix)
	steps, err := fs.Glob(db.Migrations, "migrations/*.sql") // of both databases
	for _, file := range steps {
		text, failed := db.Migrations.ReadFile(file)
		all, err = append(all, text...), errors.Join(err, failed)
	}
	sum := sha256.Sum256(all)
	return fmt.Sprintf("%x", sum[:4]), err
}

// setUp makes the store and applies the set-up.
func (p *place) setUp(ctx context.Context) error {
	s, err := store.Open(ctx, store.Options{Dir: p.data(), Database: p.database()})
	if err != nil {
		return err
	}
	file, err := setup.Parse("bench", []byte(setupFile))
	if err == nil {
		_, err = file.Apply(ctx, s, time.Now(), rand.Reader)
	}
	return errors.Join(err, s.Close())
}

// serve starts the service over the store of a place.
func (p *place) serve() (*child, error) {
	return spawn("serve", "-data", p.data(), "-database", p.database())
}

// fill makes n gifts through the interface, and lists them.
func (p *place) fill(ctx context.Context, name string, n int) (err error) {
	if err := p.start(name); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := p.setUp(ctx); err != nil {
		return err
	}
	service, err := p.serve()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.stop()) }()
	list, err := os.Create(p.gifts())
	if err != nil {
		return err
	}
	out := bufio.NewWriter(list)
	err = newShop(service, key, storefront).stock(ctx, n, func(gifts []load.Gift) {
		for _, g := range gifts {
			out.Write(g.ID[:])
			out.Write(binary.LittleEndian.AppendUint64(nil, g.Code)) // Flush tells of failures
		}
	})
	return errors.Join(err, out.Flush(), list.Close())
}

// copyOf copies a stock to work on, and has the disk settle down before anything is measured.
func copyOf(o options, stock string) (*place, error) {
	p, err := newPlace(o.stock)
	if err != nil {
		return nil, err
	}
	if out, err := exec.Command("cp", "-a", "--reflink=auto", stock+"/.", p.dir).CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("copying the stock: %w: %s", err, out), os.RemoveAll(p.dir))
	}
	return p, exec.Command("sync").Run()
}

// readGifts reads the list of a place.
func (p *place) readGifts() ([]load.Gift, error) {
	text, err := os.ReadFile(p.gifts())
	if err != nil {
		return nil, err
	}
	const size = 24
	if len(text) == 0 || len(text)%size != 0 {
		return nil, fmt.Errorf("%s is not whole; -rebuild makes the stock anew", strings.TrimSuffix(p.gifts(), "/gifts"))
	}
	gifts := make([]load.Gift, len(text)/size)
	for i := range gifts {
		row := text[i*size : (i+1)*size]
		gifts[i] = load.Gift{ID: uuid.UUID(row[:16]), Code: binary.LittleEndian.Uint64(row[16:])}
	}
	return gifts, nil
}
