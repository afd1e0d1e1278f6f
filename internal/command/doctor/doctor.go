// Package doctor looks at what a service stands on and cannot see from within: the clock, the disk, who may read its
// files, the copy of its key file, its gateways, and a service that runs already. It changes nothing.
package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"boon.example/internal/command/terminal"
	"boon.example/internal/sealed"
	"boon.example/internal/server"
	"boon.example/internal/store"
)

// Patient is what is looked at.
type Patient struct {
	Config   server.Config // of the service
	Settings string        // the file of settings; "": there is none
	TLSKey   string        // the file of the key of its certificate; "": it has none
	KeyCopy  string        // the copy of the key file that is kept elsewhere; "": it is not told
	URL      string        // of a running service; "": it is not looked at
	Version  string        // of this program
}

// Examine adds what it finds to a report.
func Examine(ctx context.Context, p *Patient, report *server.Report) {
	d := diagnosis{report}
	d.clock(clockIsKept())
	d.disk(p.Config.Data)
	d.readable("the data folder", p.Config.Data)
	d.settings(p.Settings)
	for _, file := range []string{p.TLSKey, p.KeyCopy} {
		if file != "" {
			d.readable("the file", file)
		}
	}
	d.keys(p.Config.KeyFile, p.Config.Data, p.KeyCopy)
	d.service(ctx, p.URL, p.Version)
	if mail := p.Config.SMTP; mail != nil {
		d.gateway(ctx, "email", net.JoinHostPort(mail.Host, strconv.Itoa(mail.Port)))
	}
	if sms := p.Config.SMS; sms != nil {
		address := sms.Host
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(address, "443")
		}
		d.gateway(ctx, "sms", address)
	}
	for _, h := range report.Hosts {
		d.wallet(ctx, h)
	}
}

// diagnosis is a report that grows.
type diagnosis struct{ *server.Report }

func (d diagnosis) fact(name, format string, args ...any) {
	d.Facts = append(d.Facts, server.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
}

func (d diagnosis) wrong(format string, args ...any) {
	d.Wrong = append(d.Wrong, fmt.Sprintf(format, args...))
}

func (d diagnosis) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// clock tells whether the system keeps it right.
func (d diagnosis) clock(kept, known bool) {
	switch {
	case !known:
		d.fact("clock", "%s; whether it is kept right is not known here", terminal.Moment(time.Now()))
	case kept:
		d.fact("clock", "%s, kept right by the system", terminal.Moment(time.Now()))
	default:
		d.fact("clock", "%s", terminal.Moment(time.Now()))
		d.note("nothing keeps the clock right: validity, schedules and holds follow it; run NTP")
	}
}

const (
	syncs    = 9
	slowSync = 100 * time.Millisecond
)

// disk measures how long a small write takes to be on stable storage.
func (d diagnosis) disk(folder string) {
	f, err := os.CreateTemp(folder, ".boon-doctor-*")
	if err != nil {
		d.wrong("nothing can be written to the data folder: %v", err)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var took []time.Duration
	for range syncs {
		begun := time.Now()
		if _, err = f.Write(make([]byte, 4096)); err == nil {
			err = f.Sync()
		}
		if err != nil {
			d.wrong("the data folder does not keep what is written to it: %v", err)
			return
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	d.fact("disk", "syncs in %s", took[syncs/2].Round(time.Microsecond))
	if took[syncs/2] > slowSync {
		d.wrong("the disk takes %s to sync, and every redemption waits for that", took[syncs/2].Round(time.Millisecond))
	}
}

// readable tells of what others than its owner can read.
func (d diagnosis) readable(what, name string) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		d.wrong("%s: %v", what, err)
	case info.Mode().Perm()&0o077 != 0:
		d.wrong("%s %s may be used by others than its owner (mode %04o)", what, name, info.Mode().Perm())
	}
}

// settings tells of a --config file that others can change, or read where secrets stand in it.
func (d diagnosis) settings(name string) {
	if name == "" {
		return
	}
	info, err := os.Stat(name)
	var text []byte
	if err == nil {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		d.wrong("the settings: %v", err)
		return
	}
	var set struct{ Database, SMTP, SMS string }
	_ = yaml.Unmarshal(text, &set) // it was understood before
	switch mode := info.Mode().Perm(); {
	case mode&0o022 != 0:
		d.wrong("the settings in %s may be changed by others than their owner (mode %04o)", name, mode)
	case mode&0o044 != 0 && set.Database+set.SMTP+set.SMS != "":
		d.wrong("%s has secrets, and may be read by others than its owner (mode %04o)", name, mode)
	}
}

// keys tells where the key file is, and what of it is kept elsewhere. That others cannot read it was seen when it was
// opened.
func (d diagnosis) keys(used store.KeyFile, data, kept string) {
	inData := filepath.Join(data, sealed.FileName)
	switch {
	case used.Path == "":
		used.Path = inData
		d.note("the key file is in the data folder, so that a copy of that folder opens every code: --key-file has it " +
			"elsewhere")
	case used.Credential:
		d.fact("key file", "%s, a credential of systemd", used.Path)
	default:
		d.fact("key file", "%s", used.Path)
	}
	if _, err := os.Stat(inData); err == nil && !sameFile(used.Path, inData) {
		d.wrong("the key file in use is %s, and %s is left from before: keep it elsewhere, then remove it", used.Path, inData)
	}
	d.keyCopy(used.Path, kept)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// keyCopy tells whether what is kept elsewhere would open this database.
func (d diagnosis) keyCopy(used, kept string) {
	if kept == "" {
		d.note("the key file %s opens every code: is there a copy where no backup of the database is? --key-copy FILE "+
			"compares it", used)
		return
	}
	a, err := os.ReadFile(used)
	b, err2 := os.ReadFile(kept)
	switch {
	case err != nil:
		d.wrong("%v", err)
	case err2 != nil: // readable tells
	case sameFile(filepath.Dir(used), filepath.Dir(kept)):
		d.wrong("the copy of the key file, %s, lies beside the key file: they will be lost together", kept)
	case !bytes.Equal(a, b):
		d.wrong("the copy of the key file, %s, is not the key file in use: with it alone, codes would be lost", kept)
	default:
		d.fact("key copy", "the same as the key file")
	}
}

// answerWithin is how long others may take.
const answerWithin = 10 * time.Second

// clocksApart is how far the clocks of two machines may differ. An answer tells whole seconds, and takes its time.
const clocksApart = 3 * time.Second

// service compares this program, and this machine's clock, with a service.
func (d diagnosis) service(ctx context.Context, base, version string) {
	if base == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/healthz", nil)
	if err != nil {
		d.wrong("--url: %v", err)
		return
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		d.wrong("the service does not answer: %v", err)
		return
	}
	defer answer.Body.Close()
	if theirs, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		if apart := time.Since(theirs); apart.Abs() > clocksApart {
			d.wrong("the clock of the service and that of this machine are %s apart: keep both right with NTP",
				apart.Abs().Round(time.Second))
		}
	}
	said, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	words := strings.Fields(string(said)) // alive, version, commit
	switch {
	case err != nil || len(words) < 2 || words[0] != "alive":
		d.wrong("%s is no boon serve that tells its version", base)
	case words[1] != version:
		d.note("the service runs version %s, this program is %s", words[1], version)
	default:
		d.fact("service", "runs this version")
	}
}

// gateway tells whether it can be reached at all.
func (d diagnosis) gateway(ctx context.Context, name, address string) {
	if err := reach(ctx, address); err != nil {
		d.wrong("the gateway for %s cannot be reached: %v", name, err)
		return
	}
	d.fact(name+" gateway", "%s can be reached", address)
}

// wallet tells whether a host can be reached that passes in wallets are kept right by.
func (d diagnosis) wallet(ctx context.Context, h server.Host) {
	if err := reach(ctx, h.Address); err != nil {
		d.wrong("%s cannot be reached, so passes do not change: %v", h.Name, err)
		return
	}
	d.fact(h.Name, "%s can be reached", h.Address)
}

// reach opens a connection, and closes it.
func reach(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}
