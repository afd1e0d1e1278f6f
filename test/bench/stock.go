package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
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

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/load"
	"boon.example/internal/setup"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

const (
	key        = "boon_test_bench_0123456789abcdef0123456789abcdef"
	storefront = "0199a000-0000-7000-8000-000000000003"
	setupFile  = `accounts:
  - id: 0199a000-0000-7000-8000-000000000001
    name: Bench
    currency: USD
    timeZone: UTC
    limits: {giftsPerDay: 1000000000}
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}]
    locations: [{id: 0199a000-0000-7000-8000-000000000002, name: Here}]
    storefronts: [{id: ` + storefront + `, name: Web}]
    keys: [{name: till, role: all, secret: ` + key + `}]
`
)

// place is a store on the disk: a folder with boon's data, for PostgreSQL with the server's beside it, and the list of its gifts.
type place struct {
	dir    string
	server *pgtest.Server // nil: the embedded store
}

func (p *place) data() string  { return filepath.Join(p.dir, "boon") }
func (p *place) gifts() string { return filepath.Join(p.dir, "gifts") }

func (p *place) database() string {
	if p.server == nil {
		return ""
	}
	return p.server.URL
}

// postgresSettings are those of a server that is meant for work, on a machine of some GB; fsync and synchronous_commit are on by default.
var postgresSettings = []string{"fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=1GB", "max_wal_size=8GB"}

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

// stocked gives the folder of a store with so many gifts, made where it is not there yet. The name tells the schema, so that a stock of
// another schema is not taken for it.
func stocked(ctx context.Context, o options, name string, n int) (string, error) {
	schema, err := schemaOf(ctx)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(o.stock, fmt.Sprintf("%s-%d-%s", name, n, schema))
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

// schemaOf is a short name of the schema that the store makes.
func schemaOf(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "boon-bench-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return "", err
	}
	if err := s.Close(); err != nil {
		return "", err
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, store.DatabaseName))
	if err != nil {
		return "", err
	}
	defer db.Close()
	var text string
	err = db.QueryRowContext(ctx, `SELECT group_concat(sql, ';') || (SELECT page_size FROM pragma_page_size) FROM sqlite_schema`).Scan(&text)
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%x", sum[:4]), err
}

// fill applies the set-up and makes the gifts through the engine, in orders of a thousand: the store's own way, without HTTP.
func (p *place) fill(ctx context.Context, name string, n int) (err error) {
	if err := p.start(name); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	s, err := store.Open(ctx, store.Options{Dir: p.data(), Database: p.database()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	file, err := setup.Parse("bench", []byte(setupFile))
	if err != nil {
		return err
	}
	if _, err := file.Apply(ctx, s, time.Now(), rand.Reader); err != nil {
		return err
	}
	directory, err := s.Directory(ctx)
	if err != nil {
		return err
	}
	list, err := os.Create(p.gifts())
	if err != nil {
		return err
	}
	out := bufio.NewWriter(list)
	engine := ledger.Start(s, ledger.Options{Lanes: s.Writers()})
	err = issueAll(ctx, engine, directory, n, out)
	engine.Stop()
	return errors.Join(err, out.Flush(), list.Close())
}

// issueAll makes the gifts, several orders under way at once, and lists them: id, then code.
func issueAll(ctx context.Context, engine *ledger.Engine, directory *gift.Directory, n int, out *bufio.Writer) error {
	caller, ok := directory.Authenticate(key, time.Now())
	if !ok {
		return errors.New("the set-up does not know its key")
	}
	const order, ahead = 1000, 8 // so that several share a commit
	type made struct {
		gifts []gift.Gift
		err   error
	}
	results, under := make(chan made, ahead), 0
	for begun, done := 0, 0; done < n; {
		for ; under < ahead && begun < n; under++ {
			size := min(order, n-begun)
			begun += size
			go func() {
				gifts, err := issue(ctx, engine, caller, size)
				for try := 1; errors.Is(err, gift.Unavailable) && try < 20; try++ { // the machine has other work; an order too many does no harm
					time.Sleep(500 * time.Millisecond)
					gifts, err = issue(ctx, engine, caller, size)
				}
				results <- made{gifts, err}
			}()
		}
		m := <-results
		under--
		if m.err != nil {
			return m.err
		}
		for i := range m.gifts {
			code, err := strconv.ParseUint(m.gifts[i].Card.Code.Reveal(), 10, 64)
			if err != nil {
				return err
			}
			out.Write(m.gifts[i].ID[:])
			out.Write(binary.LittleEndian.AppendUint64(nil, code)) // Flush tells of failures
		}
		if done += len(m.gifts); done%500_000 == 0 {
			progress("%d gifts", done)
		}
	}
	return nil
}

// issue makes an order of printed gifts.
func issue(ctx context.Context, engine *ledger.Engine, caller *gift.Caller, n int) (made []gift.Gift, _ error) {
	printed, external := 3, gift.ExternalTransaction
	sale := gift.Send{
		Caller: caller, Monetary: &gift.Definition{Value: "10000"}, PaymentMethodID: &external,
		Payment: gift.Payment{Purchase: gift.Purchase{Reference: uuid.NewString(), FirstName: "Boon", LastName: "Bench", EmailAddress: "bench@example.com",
			StorefrontID: gift.ID(uuid.MustParse(storefront))}},
	}
	for range n {
		sale.Recipients = append(sale.Recipients, gift.Recipient{Method: &printed, Name: "Ana", Message: "Enjoy!"})
	}
	gifts, err := gift.Issue(sale, caller.Account, time.Now(), &gift.Problems{})
	if err != nil {
		return nil, err
	}
	call := ledger.Call{AccountID: caller.Account.ID, Operation: ledger.SendGift, Key: uuid.Must(uuid.NewV7()).String(), Caller: caller,
		Render: func(r ledger.Result, err error) ledger.Answer {
			made = r.Gifts
			return ledger.Answer{Status: 201, Body: []byte(`{}`)}
		}}
	_, err = engine.Do(ctx, call, &ledger.Issue{Gifts: gifts})
	return made, err
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
