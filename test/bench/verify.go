package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"boon.example/internal/base/nice"
	"boon.example/internal/command/load"

	"boon.example/internal/ledger/verify"
	"boon.example/internal/store"
)

// verifySizes are stocks whose gifts should cost the same each.
var verifySizes = []int{20_000, 100_000}

// verify measures what a verification costs for each gift, how that grows with the stock, and what it does to tills
// beside it.
func (h *trial) verify() error {
	each := map[int][]float64{} // microseconds of processor time for a gift
	for _, n := range verifySizes {
		place, err := h.copied(n)
		if err != nil {
			return err
		}
		for round := 0; err == nil && round < h.options.repeat; round++ {
			progress("%s: verifying %d gifts, %d of %d", stores[h.name], n, round+1, h.options.repeat)
			var used float64
			if used, err = place.verify(h.ctx); err == nil {
				each[n] = append(each[n], used*1e6/float64(n))
			}
		}
		if err = errors.Join(err, place.stop(), os.RemoveAll(place.dir)); err != nil {
			return err
		}
	}
	p99, err := h.besideVerify()
	if err != nil {
		return err
	}
	figure := func(all []float64) float64 { return median(all, func(f float64) float64 { return f }) }
	few, many := figure(each[verifySizes[0]]), figure(each[verifySizes[1]])
	times := figure(p99[1]) / figure(p99[0])
	h.report.note("**boon verify**: %s gifts a second of processor time, %.0f µs for a gift of %s and %.0f µs for one of "+
		"%s, **%.2f times** as much. Tills beside it: p99 %.2f ms, idle %.2f ms, **%.1f times** idle.",
		thousands(int(1e6/many)), few, thousands(verifySizes[0]), many, thousands(verifySizes[1]), many/few,
		figure(p99[1]), figure(p99[0]), times)
	if most := h.options.verify; most > 0 && times > most {
		return fmt.Errorf("%s: beside boon verify the p99 of redemptions is %.1f times that of an idle service, and %.1f "+
			"are allowed", h.title(), times, most)
	}
	return nil
}

// copied is a stock of another size to work on, with the server of its database.
func (h *trial) copied(n int) (*place, error) {
	stock, err := stocked(h.ctx, h.options, h.name, n)
	if err != nil {
		return nil, err
	}
	p, err := copyOf(h.options, stock)
	if err != nil {
		return nil, err
	}
	if err := p.start(h.name); err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.dir))
	}
	return p, nil
}

// verify verifies the store in a process of its own, and gives the seconds of processor time, with the database's.
func (p *place) verify(ctx context.Context) (used float64, err error) {
	database := func() float64 {
		if p.server == nil {
			return 0
		}
		return family(p.server.PID())
	}
	before := database()
	c, err := spawn("verify", "-data", p.data(), "-database", p.database())
	if err != nil {
		return 0, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() })
	defer stop()
	if err := c.cmd.Wait(); err != nil {
		return 0, fmt.Errorf("verifying: %w", err)
	}
	own := c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
	return own.Seconds() + database() - before, nil
}

// besideVerify gives the p99 of redemptions at a steady, low rate, in milliseconds: on an idle service, and while its
// store is verified again and again.
func (h *trial) besideVerify() (p99 [2][]float64, err error) {
	plan := load.Plan{Target: h.target, Next: h.target.Redeem(h.asked(h.gifts)), Connections: 16,
		Duration: tillTime / 4, Rate: tillRate}
	for round := range h.options.repeat {
		for beside := range p99 {
			progress("%s: tills beside verify, %d of %d", h.title(), round+1, h.options.repeat)
			stop := func() error { return nil }
			if beside > 0 {
				stop = h.verifying()
			}
			run, err := load.Start(h.ctx, plan)
			if err == nil {
				run.Wait()
				err = failure(run.Stats())
			}
			if err = errors.Join(err, stop()); err != nil {
				return p99, err
			}
			p99[beside] = append(p99[beside], ms(run.Stats().OK.Quantile(0.99)))
		}
	}
	return p99, nil
}

// verifying verifies the store again and again, until it is stopped.
func (h *trial) verifying() (stop func() error) {
	ctx, cancel := context.WithCancel(h.ctx)
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := h.place.verify(ctx); ctx.Err() != nil {
				ended <- nil
				return
			} else if err != nil {
				ended <- err
				return
			}
		}
	}()
	return func() error { cancel(); return <-ended }
}

// beVerify is what a child process does that verifies a store. It needs no more than that the store holds.
func beVerify(args []string) error {
	f := flag.NewFlagSet("verify", flag.ExitOnError)
	data, database := f.String("data", "", ""), f.String("database", "", "")
	readers := f.Int("readers", runtime.GOMAXPROCS(0), "")
	profile := f.String("profile", "", "")
	if err := f.Parse(args); err != nil {
		return err
	}
	nice.GiveWay() // as boon verify does
	fmt.Println("verify", "no-profiles")
	s, err := store.Open(context.Background(), store.Options{Dir: *data, Database: *database, MustExist: true})
	if err != nil {
		return err
	}
	if *profile != "" {
		to, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(to)
		}
		if err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	report, err := verify.All(context.Background(), s, *readers, func(_, _ int64) {})
	if err == nil && len(report.Problems) > 0 {
		err = fmt.Errorf("the store does not hold: %s", report.Problems[0])
	}
	return errors.Join(err, s.Close())
}
