package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"boon.example/internal/base/certificate"
	"boon.example/internal/command/terminal"
	"boon.example/internal/server"
)

type pingCmd struct {
	Listen  string        `setting:"env" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where the service listens. Default: ${default}."`
	TLSCert string        `setting:"env" name:"tls-cert" placeholder:"FILE" help:"The certificate that the service shows, if it speaks TLS; no other is taken."`
	ACME    string        `setting:"env" name:"acme" placeholder:"DOMAIN" help:"The name for which the service gets its certificate; that in --data is taken, and no other."`
	Data    string        `setting:"env" default:"./boon-data" placeholder:"DIR" help:"With --acme: data folder of the service. Default: ${default}."`
	Timeout time.Duration `default:"3s" placeholder:"TIME" help:"How long to wait. Default: ${default}."`
}

func (pingCmd) Help() string {
	return `For health checks where there is no curl, as in a container: ends with 0 when the service on this machine can serve calls,
with 1 when not. It asks /readyz.

Example:

    boon ping --listen 127.0.0.1:8080`
}

// Run asks whether the service can serve calls. What listens on all addresses is asked on this machine's own.
func (c *pingCmd) Run(t *terminal.Terminal) error {
	if err := server.CheckAddress("--listen", c.Listen); err != nil {
		return terminal.UsageError(err.Error())
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	scheme, asking, file := "http://", http.DefaultClient, c.TLSCert
	if c.ACME != "" {
		if file, err = certificate.Kept(filepath.Join(c.Data, acmeFolder), strings.ToLower(c.ACME)); err != nil {
			return err
		}
	}
	if file != "" {
		settings, err := certificate.Pinned(file)
		if err != nil {
			return terminal.UsageError("--tls-cert (BOON_TLS_CERT): " + err.Error())
		}
		scheme, asking = "https://", &http.Client{Transport: &http.Transport{TLSClientConfig: settings}}
	}
	ctx, cancel := context.WithTimeout(t, c.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return terminal.UsageError("--listen (BOON_LISTEN): " + err.Error())
	}
	resp, err := asking.Do(req)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED): // there is no --url here
		return fmt.Errorf("no service listens at %s: start boon serve there, or name another address in --listen "+
			"(BOON_LISTEN)", req.URL.Host)
	case err != nil:
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the service says %s: %s", resp.Status, terminal.Cell(string(said)))
	}
	fmt.Fprintln(t.Stdout, "The service can serve calls.")
	return nil
}
