// Command bench measures what a redemption over HTTP costs on the embedded store and on PostgreSQL, beside an empty handler on the same kind
// of server in the same run: the ratio is what counts, the machine is not.
//
//	go run ./test/bench [-duration 3s] [-vouchers 20000] [-connections 1,16,64,256]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/server"
	"boon.example/internal/store/pgtest"
)

const key = "boon_test_bench_0123456789abcdef0123456789abcdef"

const setupFile = `accounts:
  - id: 0199a000-0000-7000-8000-000000000001
    name: Bench
    currency: USD
    timeZone: UTC
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}]
    locations: [{id: 0199a000-0000-7000-8000-000000000002, name: Here}]
    storefronts: [{id: 0199a000-0000-7000-8000-000000000003, name: Web}]
    keys: [{name: till, secret: ` + key + `}]
`

func main() {
	log.SetFlags(0)
	duration := flag.Duration("duration", 3*time.Second, "of each measurement")
	vouchers := flag.Int("vouchers", 20_000, "in the store")
	connections := flag.String("connections", "1,16,64,256", "to measure at")
	boon := flag.String("boon", "bin/boon", "the binary, to apply the set-up")
	profile := flag.String("cpuprofile", "", "write a CPU profile of it all to this file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			log.Fatal(err)
		}
		defer pprof.StopCPUProfile()
	}
	err := run(*duration, *vouchers, *connections, *boon)
	if err = errors.Join(err, bulks(func(format string, args ...any) { fmt.Printf(format, args...) })); err != nil {
		log.Print(err)
	}
}

func run(duration time.Duration, vouchers int, connections, boon string) error {
	fmt.Printf("%s, %d CPUs, %s\n", runtime.Version(), runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly))
	if err := measureStore("the embedded store", "", duration, vouchers, connections, boon); err != nil {
		return err
	}
	database, err := pgtest.Start()
	if errors.Is(err, pgtest.ErrMissing) {
		fmt.Println(err)
		return nil
	}
	if err != nil {
		return err
	}
	defer database.Close()
	return measureStore("PostgreSQL, fsync and synchronous_commit on", database.URL, duration, vouchers, connections, boon)
}

// measureStore measures the service on one store, beside the empty handler.
func measureStore(name, database string, duration time.Duration, vouchers int, connections, boon string) error {
	dir, err := os.MkdirTemp("", "boon-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	service, stop, err := serve(dir, database, boon)
	if err != nil {
		return err
	}
	defer stop()
	empty, err := serveEmpty()
	if err != nil {
		return err
	}
	fmt.Printf("\nOn %s:\n", name)
	ids, err := sell(service, vouchers)
	if err != nil {
		return err
	}
	fmt.Printf("%-12s %5s %10s %9s %9s %8s %12s\n", "", "conns", "calls/s", "p50 ms", "p99 ms", "ratio", "calls/commit")
	for field := range strings.SplitSeq(connections, ",") {
		n, err := strconv.Atoi(field)
		if err != nil {
			return err
		}
		if err := compare(service, empty, ids, n, duration); err != nil {
			return err
		}
	}
	return nil
}

// compare measures the empty handler, redemptions of many vouchers, and of one, at so many connections.
func compare(service, empty string, ids []string, connections int, d time.Duration) error {
	base, err := measure(empty, connections, d, redeemRequest(ids))
	if err != nil {
		return err
	}
	base.print("empty", connections, base, 0)
	for _, c := range []struct {
		name string
		ids  []string
	}{{"redeem", ids}, {"redeem, hot", ids[:1]}} {
		before := commits(service)
		r, err := measure(service, connections, d, redeemRequest(c.ids))
		if err != nil {
			return err
		}
		after := commits(service)
		r.print(c.name, connections, base, (after.commands-before.commands)/max(1, after.groups-before.groups))
	}
	return nil
}

// serve starts the service with one account; the set-up is applied as an operator would.
func serve(dir, database, boon string) (address string, stop func(), _ error) {
	file, data := filepath.Join(dir, "setup.yaml"), filepath.Join(dir, "data")
	if err := os.WriteFile(file, []byte(setupFile), 0o600); err != nil {
		return "", nil, err
	}
	apply := exec.Command(boon, "apply", file, "--data", data)
	if database != "" {
		apply.Args = append(apply.Args, "--database", database)
	}
	if out, err := apply.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("applying the set-up: %w\n%s", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, server.Config{Listen: "127.0.0.1:0", Data: data, Database: database, Ready: func(a string) { ready <- a }})
	}()
	select {
	case address = <-ready:
		return address, func() { cancel(); <-ended }, nil
	case err := <-ended:
		cancel()
		return "", nil, err
	}
}

// serveEmpty is what an HTTP service costs that does nothing: it parses the request's JSON and writes an answer of 500 bytes.
func serveEmpty() (string, error) {
	answer := []byte(`{"filler":"` + strings.Repeat("x", 487) + `"}`)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			VoucherID string      `json:"voucherID"`
			Amount    json.Number `json:"amount"`
		}
		raw, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(raw, &body) != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(answer)
	}))
	return listener.Addr().String(), nil
}

// sell makes printed gifts of 10,000.00, a thousand a call.
func sell(address string, n int) (ids []string, _ error) {
	recipients := strings.Repeat(`{},`, 999) + `{}`
	body := `{"monetaryGift":{"value":10000,"deliveryMethodID":3},"recipients":[` + recipients + `],"paymentMethodID":2,
		"externalTransactionReferenceNumber":"r","externalTransactionCustomerFirstName":"A","externalTransactionCustomerLastName":"B",
		"externalTransactionCustomerEmailAddress":"a@example.com","externalStorefrontID":"0199a000-0000-7000-8000-000000000003"}`
	begun := time.Now()
	for len(ids) < n {
		req, err := http.NewRequest(http.MethodPost, "http://"+address+"/api/integration/gifting/send-gift", strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		var order struct{ Gifts []struct{ VoucherID string } }
		err = json.NewDecoder(resp.Body).Decode(&order)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusCreated {
			return nil, fmt.Errorf("send-gift answered %d: %v", resp.StatusCode, err)
		}
		for _, g := range order.Gifts {
			ids = append(ids, g.VoucherID)
		}
		fmt.Printf("\r%d gifts made", len(ids))
	}
	fmt.Printf(", %.0f a second in calls of 1,000 recipients\n", float64(len(ids))/time.Since(begun).Seconds())
	return ids, nil
}

type commitCount struct{ groups, commands float64 }

var metric = regexp.MustCompile(`(?m)^boon_engine_group_commands_(sum|count) (\S+)$`)

// commits reads how many transactions the engine has made, for how many commands.
func commits(address string) (c commitCount) {
	resp, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return c
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	for _, m := range metric.FindAllSubmatch(text, -1) {
		v, _ := strconv.ParseFloat(string(m[2]), 64)
		if string(m[1]) == "sum" {
			c.commands = v
		} else {
			c.groups = v
		}
	}
	return c
}
