package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"boon.example/client"
	"boon.example/internal/command/load"
)

// importLines are in a file that a neighbour brings in: as many as are written while tills are measured, and more.
const importLines = 120_000

// imports compares redemptions at a steady, low rate on an idle service with the same while another merchant's cards
// are brought in, and tells how fast that goes.
func (h *trial) imports() error {
	var p50, p99 [2][]float64
	var beside, alone []float64
	for round := range h.options.repeat {
		progress("%s: imports, %d of %d", h.title(), round+1, h.options.repeat)
		s, err := h.during(nil, h.tillsBesideImport())
		if err != nil {
			return err
		}
		p50[0], p99[0] = append(p50[0], ms(s.OK.Quantile(0.5))), append(p99[0], ms(s.OK.Quantile(0.99)))
		s, with, without, err := h.besideImport(round)
		if err != nil {
			return err
		}
		p50[1], p99[1] = append(p50[1], ms(s.OK.Quantile(0.5))), append(p99[1], ms(s.OK.Quantile(0.99)))
		beside, alone = append(beside, with), append(alone, without)
	}
	figure := func(all []float64) float64 { return median(all, func(f float64) float64 { return f }) }
	times := figure(p99[1]) / figure(p99[0])
	h.report.note("**tills beside a neighbour's import**: idle p50 %.2f ms, p99 %.2f ms; beside it p50 %.2f ms, "+
		"p99 %.2f ms, **%.1f times** idle. The import writes %.0f gifts a second beside the tills, and %.0f without them.",
		figure(p50[0]), figure(p99[0]), figure(p50[1]), figure(p99[1]), times, figure(beside), figure(alone))
	if most := h.options.imports; most > 0 && times > most {
		return fmt.Errorf("%s: beside a neighbour's import the p99 of redemptions is %.1f times that of an idle service, "+
			"and %.1f are allowed", h.title(), times, most)
	}
	return nil
}

func (h *trial) tillsBesideImport() load.Plan {
	return load.Plan{Target: h.target, Next: h.target.Redeem(h.asked(h.gifts)), Connections: 16, Duration: tillTime / 4,
		Rate: tillRate}
}

// besideImport measures the tills while cards are written, and how many a second these are beside the tills, and
// afterwards.
func (h *trial) besideImport(round int) (_ *load.Stats, beside, alone float64, err error) {
	c, err := client.New("http://"+h.service.address, neighbourKey)
	if err != nil {
		return nil, 0, 0, err
	}
	checked, err := bringIn(h.ctx, c, cardsFile(round*importLines, importLines), importLines)
	if err != nil {
		return nil, 0, 0, err
	}
	first, err := c.Import(h.ctx, checked.Import.ImportID)
	if err != nil {
		return nil, 0, 0, err
	}
	traced := h.traced(h.service, "imports", round)
	begun := time.Now()
	s, err := h.during(nil, h.tillsBesideImport())
	if err = errors.Join(err, traced()); err != nil {
		return nil, 0, 0, err
	}
	then, err := c.Import(h.ctx, first.ImportID)
	if err != nil {
		return nil, 0, 0, err
	}
	if then.State != client.ImportStaged {
		return nil, 0, 0, fmt.Errorf("the import was %s before the tills were measured", then.State)
	}
	beside = float64(then.GiftsWritten-first.GiftsWritten) / time.Since(begun).Seconds()
	begun = time.Now()
	took := h.finished(c, first.ImportID).Sub(begun)
	return s, beside, float64(importLines-then.GiftsWritten) / took.Seconds(), h.ctx.Err()
}

// cardsFile is a file of a neighbour's cards, from a number on.
func cardsFile(from, lines int) []byte {
	var file bytes.Buffer
	file.WriteString("code,balance,recipient,contact\n")
	for n := from; n < from+lines; n++ {
		fmt.Fprintf(&file, "6006%012d,10,Guest %d,guest%d@example.com\n", n*997, n, n)
	}
	return file.Bytes()
}

// bringIn has a file of so many of a neighbour's cards be imported.
func bringIn(ctx context.Context, c *client.Client, file []byte, lines int) (*client.ImportCheck, error) {
	return c.ImportGifts(ctx, file, client.ImportOptions{ExpectCount: lines, ExpectTotal: fmt.Sprint(lines * 10),
		TillsOnly: true})
}

// What a large import may take.
const (
	million       = 1_000_000
	millionTime   = 10 * time.Minute
	millionTills  = 2 * time.Minute // of it, during which tills redeem, once it is checked
	millionMemory = 300             // MB of the service that are not its program's file
)

// million has a neighbour's million cards be brought in, at first beside tills, and tells how long it takes, how much
// memory the service needs for it, and what the tills notice of its check and of its writing.
func (h *trial) million() error {
	idle, err := h.during(nil, h.tillsBesideImport())
	if err != nil {
		return err
	}
	c, err := client.New("http://"+h.service.address, neighbourKey)
	if err != nil {
		return err
	}
	ctx, closes := context.WithCancel(h.ctx)
	defer closes()
	file, memory, begun := cardsFile(0, million), h.watchMemory(ctx), time.Now()
	checking, err := h.redeeming(millionTime)
	if err != nil {
		return err
	}
	traced := h.traced(h.service, "check", 0)
	checked, err := bringIn(h.ctx, c, file, million)
	check, beside := time.Since(begun), checking()
	if err = errors.Join(err, traced()); err != nil {
		return err
	}
	writing, err := h.redeeming(millionTills)
	if err != nil {
		return err
	}
	took := h.finished(c, checked.Import.ImportID).Sub(begun)
	closes()
	s, most := writing(), <-memory
	var whole load.Histogram
	whole.Merge(&beside.OK)
	whole.Merge(&s.OK)
	h.report.note("**an import of 1,000,000 gifts**, beside tills while it is checked and for two minutes more: %.0f s, "+
		"of which %.0f s are its check; the service has %.0f MB at most that are not its program's file. Tills: idle "+
		"p50 %.2f ms, p99 %.2f ms; beside its check p50 %.2f ms, p99 %.2f ms; then p50 %.2f ms, p99 %.2f ms; all the time "+
		"p99 %.2f ms, **%.1f times** idle.",
		took.Seconds(), check.Seconds(), most,
		ms(idle.OK.Quantile(0.5)), ms(idle.OK.Quantile(0.99)), ms(beside.OK.Quantile(0.5)), ms(beside.OK.Quantile(0.99)),
		ms(s.OK.Quantile(0.5)), ms(s.OK.Quantile(0.99)), ms(whole.Quantile(0.99)),
		ms(whole.Quantile(0.99))/ms(idle.OK.Quantile(0.99)))
	if took > millionTime || most > millionMemory {
		return fmt.Errorf("%s: an import of 1,000,000 gifts took %s and %.0f MB; %s and %d MB are allowed", h.title(),
			took.Round(time.Second), most, millionTime, millionMemory)
	}
	return errors.Join(failure(beside), failure(s), h.ctx.Err())
}

// redeeming has tills redeem for so long, or until what it gives is called, which tells how that went.
func (h *trial) redeeming(most time.Duration) (end func() *load.Stats, err error) {
	ctx, stop := context.WithCancel(h.ctx)
	plan := h.tillsBesideImport()
	plan.Duration = most
	tills, err := load.Start(ctx, plan)
	if err != nil {
		stop()
		return nil, err
	}
	return func() *load.Stats {
		stop()
		tills.Wait()
		return tills.Stats()
	}, nil
}

// watchMemory tells, once ctx ends, how many MB the service had at most until then.
func (h *trial) watchMemory(ctx context.Context) <-chan float64 {
	told := make(chan float64, 1)
	go func() {
		look := time.NewTicker(100 * time.Millisecond)
		defer look.Stop()
		most := 0.0
		for ctx.Err() == nil {
			_, _, own := h.service.resident()
			most = max(most, own)
			select {
			case <-look.C:
			case <-ctx.Done():
			}
		}
		told <- most
	}()
	return told
}

// traced takes a profile and a trace of a service beside other work, where profiles are asked for: the profile of its
// first seconds, and then the trace. What it gives waits for them.
func (h *trial) traced(service *child, beside string, round int) (wait func() error) {
	if h.options.profile == "" || round > 0 {
		return func() error { return nil }
	}
	file := fmt.Sprintf("%s-%s-%s", h.options.profile, h.name, beside)
	done := make(chan error, 1)
	go func() {
		err := service.profile(file+".pprof", "profile", 5)
		done <- errors.Join(err, service.profile(file+".trace", "trace", 2))
	}()
	return func() error { return <-done }
}

// finished waits for the end of an import.
func (h *trial) finished(c *client.Client, id string) time.Time {
	for h.ctx.Err() == nil {
		if m, err := c.Import(h.ctx, id); err == nil && m.State != client.ImportStaged {
			break
		}
		wait, stop := context.WithTimeout(h.ctx, 100*time.Millisecond)
		<-wait.Done()
		stop()
	}
	return time.Now()
}
