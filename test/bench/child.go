package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"boon.example/internal/base/telemetry"
	"boon.example/internal/post/webhook"
	"boon.example/internal/server"
)

// beServer is what a child process does: the service as boon serve runs it, with its log, or the empty handler.
func beServer(role string, args []string) error {
	f := flag.NewFlagSet(role, flag.ExitOnError)
	data, database := f.String("data", "", ""), f.String("database", "", "")
	networks := f.String("webhooks-allow", "", "")
	pushes, roots := f.String("pushes", "", "where pushes to phones go"), f.String("roots", "", "who vouches for that")
	if err := f.Parse(args); err != nil {
		return err
	}
	debug.SetGCPercent(server.GCPercent) // as boon serve does
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	signal.Ignore(os.Interrupt) // our parent stops us
	profiles, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(profiles, nil)
	allowed, err := webhook.ParseAllow(*networks)
	if err != nil {
		return err
	}
	traces, err := telemetry.Read(os.Getenv)
	if err != nil {
		return err
	}
	ready := func(address string) { fmt.Println(address, profiles.Addr()) }
	if role == "serve" {
		c := server.Config{
			Listen: "127.0.0.1:0", Data: *data, Database: *database, Logger: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
			Ready: ready, WebhooksAllow: allowed, Telemetry: traces,
		}
		if *pushes != "" {
			c.PublicURL, c.PushAddress, c.PushRoots = publicURL, *pushes, x509.NewCertPool()
			file, err := os.ReadFile(*roots)
			if err != nil || !c.PushRoots.AppendCertsFromPEM(file) {
				return fmt.Errorf("%s is no certificate: %w", *roots, err)
			}
		}
		if *database == "" {
			server.SpareProcessor() // as boon serve does
		}
		return server.Run(ctx, c)
	}
	return serveBare(ctx, role, *data, ready)
}

// serveBare serves the empty handler or the prototype.
func serveBare(ctx context.Context, role, data string, ready func(address string)) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ready(listener.Addr().String())
	srv := emptyServer()
	if role == "prototype" {
		if srv, err = prototypeServer(data); err != nil {
			return err
		}
	}
	context.AfterFunc(ctx, func() { srv.Close() })
	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// emptyServer is what an HTTP service costs that does nothing: it parses the request's JSON and writes an answer of 500
// bytes. Its limits are those of the service.
func emptyServer() *http.Server {
	answer := []byte(`{"filler":"` + strings.Repeat("x", 487) + `"}`)
	return &http.Server{
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 20 * time.Second,
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: 16 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct {
				VoucherID string      `json:"voucherID"`
				Amount    json.Number `json:"amount"`
				Reference string      `json:"reference"`
			}
			raw, err := io.ReadAll(r.Body)
			if err != nil || json.Unmarshal(raw, &body) != nil {
				w.WriteHeader(http.StatusBadRequest)
			}
			w.Header().Set("Content-Type", "application/json")
			w.Write(answer)
		}),
	}
}

// child is a server that is its own process.
type child struct {
	cmd      *exec.Cmd
	address  string // host:port
	profiles string // host:port of net/http/pprof
}

// spawn starts this program as a server. Its log goes to a file that is not read.
func spawn(role string, args ...string) (*child, error) { return spawnIn(nil, role, args...) }

// spawnIn does so with more variables in its environment.
func spawnIn(more []string, role string, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(self, append([]string{role}, args...)...)}
	c.cmd.Env = append(os.Environ(), more...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	said, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := fmt.Fscan(bufio.NewReader(said), &c.address, &c.profiles); err != nil {
		return nil, errors.Join(fmt.Errorf("the %s process did not start: %w", role, err), c.stop())
	}
	return c, nil
}

func (c *child) stop() error {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	late := time.AfterFunc(40*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	return c.cmd.Wait()
}

// resident is the memory of the process in MB: now, at most so far, and now without pages of files, which are those of
// the program: the system takes them away when it needs the room.
func (c *child) resident() (now, most, own float64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	figures := map[string]*float64{"VmRSS:": &now, "VmHWM:": &most, "RssAnon:": &own}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || figures[fields[0]] == nil {
			continue
		}
		kb, _ := strconv.ParseFloat(fields[1], 64)
		*figures[fields[0]] = kb / 1024
	}
	return now, most, own
}

var metric = regexp.MustCompile(`(?m)^(\w+) (\S+)$`)

// metrics reads the figures without labels that the service keeps.
func (c *child) metrics() (map[string]float64, error) {
	resp, err := http.Get("http://" + c.address + "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	all := map[string]float64{}
	for _, m := range metric.FindAllSubmatch(text, -1) {
		all[string(m[1])], _ = strconv.ParseFloat(string(m[2]), 64)
	}
	return all, nil
}

// get asks the service for something with a key, and reads it to the end.
func (c *child) get(ctx context.Context, key, path string) (text []byte, header http.Header, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.address+path, nil)
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != http.StatusOK || len(bytes.TrimSpace(text)) == 0) {
		err = fmt.Errorf("%s: %d %.300s", path, answer.StatusCode, text)
	}
	return text, answer.Header, err
}

// profile writes a CPU profile ("profile") or a trace of goroutines ("trace") of so many seconds to a file.
func (c *child) profile(file, kind string, seconds int) error {
	resp, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/%s?seconds=%d", c.profiles, kind, seconds))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, resp.Body)
	return errors.Join(err, f.Close())
}
