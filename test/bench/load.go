package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
)

// result is what one measurement came to.
type result struct {
	took      time.Duration
	latencies []time.Duration // of every call, sorted
}

func (r *result) rate() float64 { return float64(len(r.latencies)) / r.took.Seconds() }

func (r *result) percentile(p float64) float64 {
	n := min(len(r.latencies)-1, int(p*float64(len(r.latencies))))
	return float64(r.latencies[n].Microseconds()) / 1000
}

func (r *result) print(name string, connections int, base *result, perCommit float64) {
	group := "-"
	if perCommit > 0 {
		group = fmt.Sprintf("%.1f", perCommit)
	}
	fmt.Printf("%-12s %5d %10.0f %9.2f %9.2f %7.1f%% %12s\n",
		name, connections, r.rate(), r.percentile(0.50), r.percentile(0.99), 100*r.rate()/base.rate(), group)
}

// redeemRequest writes the next request: one cent off a random voucher, under a key of its own in time order.
func redeemRequest(ids []string) func([]byte) []byte {
	return func(b []byte) []byte {
		body := `{"voucherID":"` + ids[rand.IntN(len(ids))] + `","amount":0.01,"reference":"till 4, ticket 1187"}`
		b = append(b, "POST /api/integration/redemption/redeem-gift HTTP/1.1\r\nHost: bench\r\nAuthorization: "+key+
			"\r\nContent-Type: application/json\r\nIdempotency-Key: "...)
		b = append(b, uuid.Must(uuid.NewV7()).String()...)
		b = append(b, "\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(body)), 10)
		b = append(b, "\r\n\r\n"...)
		return append(b, body...)
	}
}

// measure keeps every connection busy for the duration: closed loop, the next request when the answer is there.
func measure(address string, connections int, d time.Duration, next func([]byte) []byte) (*result, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failure error
	r := &result{}
	begun := time.Now()
	for range connections {
		wg.Go(func() {
			latencies, err := drive(address, begun.Add(d), next)
			mu.Lock()
			defer mu.Unlock()
			r.latencies = append(r.latencies, latencies...)
			if err != nil {
				failure = err
			}
		})
	}
	wg.Wait()
	r.took = time.Since(begun)
	slices.Sort(r.latencies)
	if failure == nil && len(r.latencies) == 0 {
		failure = fmt.Errorf("no answer from %s", address)
	}
	return r, failure
}

// drive is one connection. It speaks just enough HTTP to cost little beside the server that it measures.
func drive(address string, until time.Time, next func([]byte) []byte) (latencies []time.Duration, _ error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	in, out := bufio.NewReader(conn), make([]byte, 0, 1024)
	for {
		sent := time.Now()
		if sent.After(until) {
			return latencies, nil
		}
		out = next(out[:0])
		if _, err := conn.Write(out); err != nil {
			return nil, err
		}
		if err := readAnswer(in); err != nil {
			return nil, err
		}
		latencies = append(latencies, time.Since(sent))
	}
}

func readAnswer(in *bufio.Reader) error {
	status, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	ok := bytes.HasPrefix(status, []byte("HTTP/1.1 200 "))
	length := -1
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		if value, found := bytes.CutPrefix(line, []byte("Content-Length: ")); found {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return fmt.Errorf("an answer without Content-Length")
	}
	body, err := in.Peek(min(length, in.Size()))
	if err == nil && !ok {
		return fmt.Errorf("refused: %s", body)
	}
	_, err = io.CopyN(io.Discard, in, int64(length))
	return err
}
