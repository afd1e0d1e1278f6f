// Command bench is the standing comparison: what the service does over HTTP, durably, on the embedded store and on
// PostgreSQL, beside an empty handler on the same kind of server in the same run. The ratio is what counts, the machine
// is not.
//
//	go -C test run ./bench                      all of it: about twenty minutes, once the stocks of gifts are made
//	go -C test run ./bench -quick               a glance: one store of 20,000 gifts, one repetition
//	go -C test run ./bench -only rates -calls redeem,hot -store sqlite -connections 256 -profile /tmp/redeem
//	go -C test run ./bench -only million -store sqlite -vouchers 20000      an import of a million gifts: some minutes
//	go -C test run ./bench -write ../docs/why/benchmarks.md
//	go -C test run ./bench compare old=BINARY new=BINARY prototype
//
// Gifts are made once for each store and number, over HTTP, and kept (-stock); a run works on a copy. Each service is a
// process of its own, so that its memory and its time are its own; the load is this process, on the same cores.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"boon.example/internal/store/pgtest"
)

// options are the command line.
type options struct {
	only        []string
	calls       []string
	stores      []string
	vouchers    []int
	connections []int
	repeat      int
	duration    time.Duration
	stock       string
	rebuild     bool
	profile     string
	write       string
	goodput     float64
	refusals    time.Duration
	neighbour   float64
	neighbours  []string
	imports     float64
	sale        float64
	verify      float64
	pages       time.Duration
	start       time.Duration
	idle        float64
	pushes      time.Duration
	passes      time.Duration
	hookRate    int
	hookSales   int
	books       int
	keep        bool
	large       int
	slower      float64
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	others := map[string]func(args []string) error{"verify": beVerify, "backup": beBackup, "busy": beBusy}
	if len(os.Args) > 1 && others[os.Args[1]] != nil {
		if err := others[os.Args[1]](os.Args[2:]); err != nil {
			log.Fatal(err)
		}
		return
	}
	if len(os.Args) > 1 && slices.Contains([]string{"serve", "empty", "prototype"}, os.Args[1]) {
		if err := beServer(os.Args[1], os.Args[2:]); err != nil {
			log.Fatal(err)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "compare" {
		return compare(ctx, args[1:])
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	return run(ctx, o)
}

func parse(args []string) (o options, err error) {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	f := flag.NewFlagSet("bench", flag.ExitOnError)
	only := f.String("only", "", "parts to take, of "+strings.Join(names, ", ")+"; default all but million")
	calls := f.String("calls", "validate,redeem,hot,sale,hold,capture,release,send", "calls of the rates to take")
	stores := f.String("store", "sqlite,postgres", "stores to take")
	vouchers := f.String("vouchers", "100000,5000000", "how many gifts in the store")
	connections := f.String("connections", "1,256", "how many callers at the same time")
	quick := f.Bool("quick", false, "a glance: short, once, with 20,000 gifts, at 16 and 256 connections")
	f.IntVar(&o.repeat, "repeat", 3, "how often each is measured; the median counts")
	f.DurationVar(&o.duration, "duration", time.Second, "how long each is measured")
	f.StringVar(&o.stock, "stock", filepath.Join(os.TempDir(), "boon-bench-stock"),
		"folder where gifts are kept from run to run")
	f.BoolVar(&o.rebuild, "rebuild", false, "make the stocks anew")
	f.StringVar(&o.profile, "profile", "",
		"write CPU profiles of the service, for each call over the most connections, to files that begin so")
	f.StringVar(&o.write, "write", "", "put the figures into this file, between its markers")
	f.IntVar(&o.hookRate, "hooks", 1_000, "redemptions a second beside webhooks, of all accounts together, and beside "+
		"pushes to phones")
	f.IntVar(&o.hookSales, "sales", 0, "printed gifts made a second beside them, an event each")
	beside := f.String("neighbours", "",
		"what others do while tills redeem, of "+namesOf(slices.Concat(neighbours, controls))+"; default all")
	f.IntVar(&o.books, "books", 1_000_000, "gifts with four entries each that reports are made of; a tenth of them before")
	o.limits(f)
	f.BoolVar(&o.keep, "keep", false, "keep the stores of -only books for the next time, and work on those that are kept")
	f.IntVar(&o.large, "large", 5_000_000, "gifts of the larger store that the first one is compared with")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if *quick {
		o.repeat, o.duration, *vouchers, *connections = 1, 700*time.Millisecond, "20000", "16,256"
	}
	o.stores, o.calls = strings.Split(*stores, ","), strings.Split(*calls, ",")
	if o.only = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "million" }); *only != "" {
		o.only = strings.Split(*only, ",")
	}
	if *beside != "" {
		o.neighbours = strings.Split(*beside, ",")
	}
	for _, name := range o.only {
		if !slices.Contains(names, name) {
			return o, fmt.Errorf("there is no part %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	if o.vouchers, err = numbers(*vouchers); err != nil {
		return o, err
	}
	o.connections, err = numbers(*connections)
	return o, err
}

// limits adds the flags of figures with which a run fails. None fails by default.
func (o *options) limits(f *flag.FlagSet) {
	f.DurationVar(&o.refusals, "refusals", 0, "fail when under overload the median refusal takes longer")
	f.DurationVar(&o.pushes, "pushes", 0, "fail when a push to a phone comes later after its redemption, or never")
	f.DurationVar(&o.passes, "passes", 0, "fail when a pass takes longer, at its p99")
	f.Float64Var(&o.sale, "sale", 0, "fail when a sale that three gifts pay costs more than so many redemptions")
	f.Float64Var(&o.neighbour, "neighbour", 0,
		"fail when a neighbour makes the p99 of redemptions more than so many times that of an idle service")
	f.Float64Var(&o.imports, "imports", 0,
		"fail when a neighbour's import makes the p99 of redemptions more than so many times that of an idle service")
	f.Float64Var(&o.verify, "verify", 0,
		"fail when boon verify makes the p99 of redemptions more than so many times that of an idle service")
	f.DurationVar(&o.start, "start", 0, "fail when a service takes longer to listen")
	f.Float64Var(&o.idle, "idle", 0, "fail when a service has more MB before the first call, without its program's file")
	f.DurationVar(&o.pages, "pages", 0,
		"fail when a page takes longer, at its p99 (of the console: its median), or has more than 100 KB")
	f.Float64Var(&o.slower, "slower", 0, "fail when a call among so many takes more than so many times as long")
	f.Float64Var(&o.goodput, "goodput", 0,
		"fail when under overload less than so many percent of the peak are redeemed in time")
}

func numbers(list string) (all []int, _ error) {
	for field := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a list of numbers", list)
		}
		all = append(all, n)
	}
	return all, nil
}

func (o *options) take(part string) bool { return slices.Contains(o.only, part) }

// run measures store by store, size by size, and tells.
func run(ctx context.Context, o options) error {
	if err := os.MkdirAll(o.stock, 0o755); err != nil {
		return err
	}
	if err := sweep(o.stock); err != nil {
		return err
	}
	r := &report{}
	r.machine(o)
	for _, name := range o.stores {
		fmt.Printf("\n%s\n\n", stores[name])
		for i, n := range o.vouchers {
			h, err := open(ctx, o, name, n)
			if errors.Is(err, pgtest.ErrMissing) {
				r.note("%v: PostgreSQL is left out.", err)
				break
			}
			if err != nil {
				return fmt.Errorf("%s with %d gifts: %w", name, n, err)
			}
			h.report, h.first = r, i == 0
			if err = errors.Join(h.measure(), h.close()); err != nil {
				return fmt.Errorf("%s with %d gifts: %w", name, n, err)
			}
		}
		r.store(stores[name])
	}
	if o.write == "" {
		return nil
	}
	return r.write(o.write)
}

// stores are the names of the kinds of store.
var stores = map[string]string{"sqlite": "Embedded store", "postgres": "PostgreSQL"}

// part is something that can be measured on a service with its store. To add one is to add it to parts.
type part struct {
	name string
	once bool // on the smallest store only
	run  func(*trial) error
}

// parts in the order in which they are measured.
var parts = []part{
	{"rates", false, (*trial).rates},
	{"toast", true, (*trial).toast},
	{"large", true, (*trial).large},
	{"orders", false, (*trial).orders},
	{"neighbour", true, (*trial).neighbour},
	{"imports", true, (*trial).imports},
	{"million", true, (*trial).million},
	{"cliff", true, (*trial).cliff},
	{"pgbench", false, (*trial).pgbench},
	{"beside", true, (*trial).beside},
	{"overload", true, (*trial).overload},
	{"memory", false, (*trial).memory},
	{"bulk", true, (*trial).bulk},
	{"pages", true, (*trial).pages},
	{"console", true, (*trial).console},
	{"verify", true, (*trial).verify},
	{"webhooks", true, (*trial).webhooks},
	{"pushes", true, (*trial).pushes},
	{"passes", true, (*trial).passes},
	{"traces", true, (*trial).traces},
	{"books", true, (*trial).books},
	{"citus", true, (*trial).citus},
}

// measure takes the parts that are asked for.
func (h *trial) measure() error {
	for _, p := range parts {
		if !h.options.take(p.name) || p.once && !h.first {
			continue
		}
		if err := h.ctx.Err(); err != nil {
			return err
		}
		if err := p.run(h); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// progress tells a person who waits.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }

const (
	begin = "<!-- make bench writes from here -->"
	end   = "<!-- to here -->"
)

// write puts the report between the markers of a file.
func (r *report) write(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(text, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		return fmt.Errorf("%s has no lines %q and %q to write between", file, begin, end)
	}
	return os.WriteFile(file, slices.Concat(before, []byte(begin+"\n\n"), r.text.Bytes(), []byte("\n"+end), after), 0o644)
}
