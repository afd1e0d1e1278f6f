package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"boon.example/internal/command/load"
	"boon.example/internal/store/pgtest"
)

// contestant is a program that is compared: a binary of boon, or the prototype.
type contestant struct {
	name, program string // the program is "" for the prototype
	setup         string // file; "": that of the standing comparison
	dir           string
	database      *pgtest.Server // nil: the embedded store
	child         *child
	target        *load.Target
	gifts         []load.Gift
}

// compare measures programs in turn on one machine, each with a store and gifts of its own:
//
//	go -C test run ./bench compare old=/path/to/boon new=/path/to/other prototype
//
// A release that does not know the set-up of the standing comparison gets one of its own, with the same key and
// storefront: old=BINARY,FILE. compare tells the processor time that each takes for a call, and for each round the
// ratio to the first program. A machine that has other work slows all of them down in the same round.
func compare(ctx context.Context, args []string) (err error) {
	f := flag.NewFlagSet("compare", flag.ExitOnError)
	rounds := f.Int("rounds", 11, "how often each is measured; the median counts")
	duration := f.Duration("duration", 500*time.Millisecond, "how long each is measured in a round")
	connections := f.String("connections", "1,64", "how many callers at the same time")
	calls := f.String("calls", "validate,redeem,code", "calls to take; code redeems by the voucher code")
	gifts := f.Int("gifts", 2_000, "how many gifts each has")
	postgres := f.Bool("postgres", false, "on PostgreSQL in place of the embedded store")
	if err := f.Parse(args); err != nil {
		return err
	}
	callers, err := numbers(*connections)
	if err != nil || f.NArg() < 2 {
		return errors.Join(err, errors.New("name two programs or more: NAME=BINARY, or prototype"))
	}
	dir, err := os.MkdirTemp("", "boon-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // the user that PostgreSQL runs as has to reach it
		return err
	}
	var all []*contestant
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.stop())
		}
	}()
	for _, arg := range f.Args() {
		name, program, _ := strings.Cut(arg, "=")
		program, file, _ := strings.Cut(program, ",")
		c := &contestant{name: name, program: program, setup: file, dir: filepath.Join(dir, name)}
		all = append(all, c)
		if err := c.start(ctx, *postgres, *gifts); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	fmt.Printf("call | callers | program | µs of CPU a call | of %s | least | most | calls/s\n", all[0].name)
	fmt.Println("---|--:|---|--:|--:|--:|--:|--:")
	for _, call := range strings.Split(*calls, ",") {
		for _, n := range callers {
			plan := load.Plan{Connections: n, Duration: *duration}
			if err := contest(ctx, all, call, plan, *rounds); err != nil {
				return err
			}
		}
	}
	return nil
}

// contest measures one call of all in turn, and tells.
func contest(ctx context.Context, all []*contestant, call string, plan load.Plan, rounds int) error {
	costs, rates := make([][]float64, len(all)), make([][]float64, len(all))
	for round := range rounds + 1 { // the first one warms up
		for i, c := range all {
			cost, rate, err := c.measure(ctx, call, plan)
			if err != nil {
				return fmt.Errorf("%s, %s over %d connections: %w", c.name, call, plan.Connections, err)
			}
			if round > 0 {
				costs[i], rates[i] = append(costs[i], cost), append(rates[i], rate)
			}
		}
	}
	itself := func(f float64) float64 { return f }
	for i, c := range all {
		ratios := make([]float64, rounds)
		for round := range ratios {
			ratios[round] = costs[i][round] / costs[0][round]
		}
		fmt.Printf("%s | %d | %s | %.1f | %.3f | %.3f | %.3f | %s\n", call, plan.Connections, c.name,
			median(costs[i], itself), median(ratios, itself), slices.Min(ratios), slices.Max(ratios),
			thousands(int(median(rates[i], itself))))
	}
	return nil
}

// measure gives the microseconds of processor time that a call takes, and calls a second.
func (c *contestant) measure(ctx context.Context, call string, plan load.Plan) (cost, rate float64, _ error) {
	asked := &load.Orders{Gifts: c.gifts, Amount: "0.01"}
	plan.Target = c.target
	switch call {
	case "validate":
		plan.Next = c.target.Validate(asked)
	case "redeem":
		plan.Next = c.target.Redeem(asked)
	case "code":
		plan.Next = c.target.RedeemByCode(asked)
	default:
		return 0, 0, fmt.Errorf("there is no call %q", call)
	}
	before := c.cpu()
	run, err := load.Start(ctx, plan)
	if err != nil {
		return 0, 0, err
	}
	run.Wait()
	done := run.Stats().OK.Count()
	return (c.cpu() - before) * 1e6 / float64(max(1, done)), float64(done) / run.Took().Seconds(), failure(run.Stats())
}

// cpu is the processor time of the program so far, in seconds. What /proc/PID/stat counts in hundredths is too coarse.
func (c *contestant) cpu() (seconds float64) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", c.child.cmd.Process.Pid))
	for _, thread := range threads {
		text, _ := os.ReadFile(thread) // it may have ended
		first, _, _ := strings.Cut(string(text), " ")
		nanoseconds, _ := strconv.ParseFloat(first, 64)
		seconds += nanoseconds / 1e9
	}
	return seconds
}

// start runs the program over a new store, and makes gifts in it.
func (c *contestant) start(ctx context.Context, postgres bool, gifts int) (err error) {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	if c.program == "" {
		c.child, err = spawn("prototype", "-data", c.dir)
	} else {
		err = c.startBoon(postgres)
	}
	if err != nil {
		return err
	}
	if c.target, err = load.NewTarget("http://"+c.child.address, key); err != nil {
		return err
	}
	shop := newShop(c.child, key, storefront)
	for len(c.gifts) < gifts && err == nil {
		var made []load.Gift
		made, err = shop.orderSurely(ctx, min(500, gifts-len(c.gifts)), "")
		c.gifts = append(c.gifts, made...)
	}
	if err == nil { // what a program keeps in memory is there, as on a day at the tills
		_, _, err = c.measure(ctx, "validate", load.Plan{Connections: 64, Duration: 2 * time.Second})
	}
	return err
}

// startBoon runs boon serve.
func (c *contestant) startBoon(postgres bool) (err error) {
	place := []string{"--data", filepath.Join(c.dir, "boon")}
	if postgres {
		if c.database, err = pgtest.StartIn(filepath.Join(c.dir, "server"), postgresSettings...); err != nil {
			return err
		}
		place = append(place, "--database", c.database.URL)
	}
	file := c.setup
	if file == "" {
		file = filepath.Join(c.dir, "setup.yaml")
		if err := os.WriteFile(file, []byte(setupFile), 0o600); err != nil {
			return err
		}
	}
	if out, err := exec.Command(c.program, append([]string{"apply", file}, place...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	log, err := os.Create(filepath.Join(c.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(c.program, append([]string{"serve", "--listen", "127.0.0.1:0"}, place...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = log
	said, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.child = &child{cmd: cmd}
	line, err := bufio.NewReader(said).ReadString('\n')
	_, address, found := strings.Cut(strings.TrimSpace(line), "http://")
	if c.child.address = address; err != nil || !found {
		told, _ := os.ReadFile(log.Name())
		return fmt.Errorf("it did not start: %w: %s", err, bytes.TrimSpace(told))
	}
	return nil
}

func (c *contestant) stop() (err error) {
	if c.child != nil {
		err = c.child.stop()
	}
	if c.database != nil {
		err = errors.Join(err, c.database.Stop(), c.database.Close())
	}
	return err
}
