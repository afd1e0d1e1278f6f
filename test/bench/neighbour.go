package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/base/nice"
	"boon.example/internal/command/load"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
	"boon.example/internal/store/transfer"
)

// What the neighbour part does.
const (
	tillRate   = 200              // redemptions a second
	tillTime   = time.Minute      // of parts that measure for long
	roundTime  = 12 * time.Second // of a round with a neighbour, and of an idle one
	orderTime  = 30 * time.Second // of a round with senders of orders: so long that some orders are done meanwhile
	bulkOrders = 1000             // gifts in an order
	searchers  = 20               // members of the staff who search
	searchRest = time.Second      // that each of them looks at what was found
)

// neighbour is something that others do while tills redeem.
type neighbour struct {
	name  string
	what  string        // it does, in the plural, for the table
	time  time.Duration // of a round; 0: roundTime
	begin func(b *beside) error
}

// neighbours in the order in which they are measured. To add one is to add it here.
var neighbours = []neighbour{
	{"orders", "gifts in orders of 1,000, two senders", orderTime, (*beside).orders},
	{"reports", "reports of all kinds, one after the other", 0, (*beside).reports},
	{"gifts", "pages of an export of gifts", 0, exported("gifts")},
	{"entries", "pages of an export of entries", 0, exported("entries")},
	{"sheets", "sheets of 1,000 cards as PDF", 0, (*beside).sheets},
	{"staff", "searches of 20 members of the staff", 0, (*beside).search},
	{"verify", "runs of `boon verify`", 0, (*beside).verify},
	{"backup", "runs of `boon backup`", 0, (*beside).backup},
}

// controls have nothing to do with Boon. They are measured after the neighbours, and tell what of a p99 is the
// system's: a program that only keeps cores busy makes tills wait for as long as the system's scheduler lets it.
var controls = []neighbour{
	{"core", "another program that keeps one core busy", 0, busy("-cores", "1")},
	{"cores", "another program that keeps two cores busy, with the least priority", 0, busy("-cores", "2", "-nice")},
}

func namesOf(all []neighbour) string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	return strings.Join(names, ", ")
}

// beside is a neighbour at work.
type beside struct {
	*trial
	ctx    context.Context // ends with the round
	staff  *reader         // a browser in which an owner is signed in
	order  string          // of a stock of cards
	done   atomic.Int64    // of what the neighbour does
	ended  sync.WaitGroup
	failed chan error // the first failure
}

// again does something again and again until the round ends, and counts it.
func (b *beside) again(each func() error) {
	b.ended.Go(func() {
		for b.ctx.Err() == nil {
			err := each()
			if b.ctx.Err() != nil {
				return
			}
			if err != nil {
				select {
				case b.failed <- err:
				default:
				}
				return
			}
			b.done.Add(1)
		}
	})
}

// neighbour compares redemptions at a steady, low rate on an idle service with the same beside each neighbour: an idle
// round is before and after each.
func (h *trial) neighbour() error {
	staff, order, err := h.staff()
	if err != nil {
		return err
	}
	asked := h.options.neighbours
	var idle [2][]float64 // p50 and p99 of all idle rounds
	took := map[string]*[4][]float64{}
	quiet := func() (float64, error) {
		s, err := h.during(nil, h.tillsFor(roundTime))
		if err != nil {
			return 0, err
		}
		idle[0], idle[1] = append(idle[0], ms(s.OK.Quantile(0.5))), append(idle[1], ms(s.OK.Quantile(0.99)))
		return ms(s.OK.Quantile(0.99)), nil
	}
	for round := range h.options.repeat {
		before, err := quiet()
		if err != nil {
			return err
		}
		for _, n := range slices.Concat(neighbours, controls) {
			if len(asked) > 0 && !slices.Contains(asked, n.name) || n.name == "backup" && h.name != "sqlite" {
				continue
			}
			progress("%s: beside %s, %d of %d", h.title(), n.name, round+1, h.options.repeat)
			s, done, err := h.besideNeighbour(&n, staff, order)
			if err != nil {
				return fmt.Errorf("%s: %w", n.name, err)
			}
			after, err := quiet()
			if err != nil {
				return err
			}
			if took[n.name] == nil {
				took[n.name] = &[4][]float64{}
			}
			p99 := ms(s.OK.Quantile(0.99))
			for i, f := range []float64{ms(s.OK.Quantile(0.5)), p99, p99 / ((before + after) / 2), done} {
				took[n.name][i] = append(took[n.name][i], f)
			}
			before = after
		}
	}
	return h.noteNeighbours(idle, took)
}

// noteNeighbours prints the table. It fails where a neighbour makes the tills slower than -neighbour allows.
func (h *trial) noteNeighbours(idle [2][]float64, took map[string]*[4][]float64) (slow error) {
	figure := func(all []float64) float64 { return median(all, func(f float64) float64 { return f }) }
	rows := fmt.Sprintf("Beside | p50 ms | p99 ms | p99, of the idle rounds before and after | a second\n"+
		"---|--:|--:|--:|--:\nnobody | %.2f | %.2f (%.2f to %.2f) | | \n", figure(idle[0]), figure(idle[1]),
		slices.Min(idle[1]), slices.Max(idle[1]))
	for i, n := range slices.Concat(neighbours, controls) {
		f := took[n.name]
		if f == nil {
			continue
		}
		times := figure(f[2])
		rows += fmt.Sprintf("%s | %.2f | %.2f | %.2f (%.2f to %.2f) | %.3g\n", n.what, figure(f[0]), figure(f[1]), times,
			slices.Min(f[2]), slices.Max(f[2]), figure(f[3]))
		if most := h.options.neighbour; most > 0 && times > most && i < len(neighbours) {
			slow = errors.Join(slow, fmt.Errorf("%s: beside %s the p99 of redemptions is %.1f times that of an idle service, "+
				"and %.1f are allowed", h.title(), n.what, times, most))
		}
	}
	h.report.printf(&h.report.notes, "\n**Redemptions at %d a second, %s:**\n\n%s\n", tillRate, h.title(), rows)
	return slow
}

// tillsFor is the load of the tills for so long.
func (h *trial) tillsFor(d time.Duration) load.Plan {
	return load.Plan{Target: h.target, Next: h.target.Redeem(h.asked(h.gifts)), Connections: 16, Duration: d,
		Rate: tillRate}
}

// besideNeighbour measures the tills while a neighbour is at work, and how much of it is done a second.
func (h *trial) besideNeighbour(n *neighbour, staff *reader, order string) (_ *load.Stats, done float64, err error) {
	ctx, stop := context.WithCancel(h.ctx)
	defer stop()
	b := &beside{trial: h, ctx: ctx, staff: staff, order: order, failed: make(chan error, 1)}
	length := n.time
	if length == 0 {
		length = roundTime
	}
	run, err := load.Start(h.ctx, h.tillsFor(length))
	if err != nil {
		return nil, 0, err
	}
	time.Sleep(100 * time.Millisecond) // the tills are there before the neighbour
	err = n.begin(b)
	run.Wait()
	done = float64(b.done.Load()) / length.Seconds()
	stop()
	b.ended.Wait()
	select {
	case failed := <-b.failed:
		err = errors.Join(err, failed)
	default:
	}
	return run.Stats(), done, errors.Join(err, failure(run.Stats()))
}

// orders has two senders of another merchant make one order of a thousand after the other.
func (b *beside) orders() error {
	target, err := load.NewTarget("http://"+b.service.address, neighbourKey)
	if err != nil {
		return err
	}
	body := newShop(b.service, neighbourKey, neighbourStorefront).body(bulkOrders)
	next := target.Order(body, func() uuid.UUID { return uuid.Must(uuid.NewV7()) })
	run, err := load.Start(b.ctx, load.Plan{Target: target, Connections: 2, Duration: orderTime, Next: next,
		Each: func(e load.Event) {
			if e.Status == http.StatusCreated {
				b.done.Add(bulkOrders)
			}
		}})
	if err != nil {
		return err
	}
	b.ended.Go(func() {
		run.Wait()
		refused := run.Stats().Failures()
		delete(refused, string(refusal.Unavailable)) // orders that waited for too long
		delete(refused, load.NoAnswer)               // the end of the round
		if len(refused) > 0 {
			b.failed <- fmt.Errorf("orders failed: %v", refused)
		}
	})
	return nil
}

// get gets an answer of the tills' merchant to the end, and where the next page is; "": there is none.
func (b *beside) get(path string) (next string, err error) {
	_, header, err := b.service.get(b.ctx, key, path)
	if err == nil {
		next, _, _ = strings.Cut(strings.TrimPrefix(header.Get("Link"), "<"), ">")
	}
	return next, err
}

func (b *beside) reports() error {
	asked := reportsAsked()
	delete(asked, "journal of a month") // it needs names of accounts
	names := slices.Sorted(maps.Keys(asked))
	n := 0
	b.again(func() error {
		n++
		_, err := b.get("/api/integration/reports/" + asked[names[n%len(names)]])
		return err
	})
	return nil
}

// exported follows an export page by page, and begins it again at its end.
func exported(name string) func(*beside) error {
	return func(b *beside) error {
		first := "/api/integration/exports/" + name
		path := first
		b.again(func() (err error) {
			if path, err = b.get(path); path == "" {
				path = first
			}
			return err
		})
		return nil
	}
}

func (b *beside) sheets() error {
	b.again(func() error {
		_, err := b.get("/api/integration/gifting/orders/" + b.order + "/stock?format=pdf")
		return err
	})
	return nil
}

// search has members of the staff search in the console, each for something else.
func (b *beside) search() error {
	path := desk.Home(mustParse(benchAccount)) + "search"
	for n := range searchers {
		asked := 0
		b.again(func() error {
			asked++
			g := b.gifts[(n*7919+asked*104729)%len(b.gifts)]
			typed := []string{fmt.Sprintf("%04d", g.Code%10_000), "bench", g.ID.String(), "nobody@example.com"}[asked%4]
			if _, err := b.staff.open(pageOfConsole{path: path, form: url.Values{"q": {typed}}}); err != nil {
				return err
			}
			select {
			case <-b.ctx.Done():
			case <-time.After(searchRest):
			}
			return nil
		})
	}
	return nil
}

func (b *beside) verify() error {
	b.again(func() error {
		_, err := b.place.verify(b.ctx)
		return err
	})
	return nil
}

// backup copies the embedded database, each time into a new file.
func (b *beside) backup() error {
	b.again(func() error {
		to := filepath.Join(b.place.dir, "backup-"+uuid.NewString()+".db")
		c, err := spawn("backup", "-data", b.place.data(), "-to", to)
		if err != nil {
			return err
		}
		stop := context.AfterFunc(b.ctx, func() { _ = c.cmd.Process.Kill() })
		defer stop()
		return errors.Join(c.cmd.Wait(), os.Remove(to))
	})
	return nil
}

// beBackup is what a child process does that backs a store up.
func beBackup(args []string) error {
	f := flag.NewFlagSet("backup", flag.ExitOnError)
	data, to := f.String("data", "", ""), f.String("to", "", "")
	if err := f.Parse(args); err != nil {
		return err
	}
	nice.GiveWay() // as boon backup does
	fmt.Println("backup", "no-profiles")
	_, err := transfer.Backup(context.Background(), db.Options{Dir: *data}, *to, time.Now(), func(_, _ int64) {})
	return err
}

// busy has another program keep cores busy, and do nothing else.
func busy(args ...string) func(*beside) error {
	return func(b *beside) error {
		c, err := spawn("busy", args...)
		if err != nil {
			return err
		}
		b.ended.Go(func() {
			<-b.ctx.Done()
			_ = c.stop() // by a signal
		})
		return nil
	}
}

// beBusy is what a child process does that keeps cores busy.
func beBusy(args []string) error {
	f := flag.NewFlagSet("busy", flag.ExitOnError)
	cores, yields := f.Int("cores", 1, ""), f.Bool("nice", false, "")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *yields {
		nice.GiveWay()
	}
	runtime.GOMAXPROCS(*cores)
	fmt.Println("busy", "no-profiles")
	for range *cores {
		go func() {
			for n := 0; ; n++ {
			}
		}()
	}
	select {}
}
