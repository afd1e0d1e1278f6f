package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"boon.example/internal/base/clientip"
	"boon.example/internal/base/telemetry"
	"boon.example/internal/cashout"
	"boon.example/internal/command/terminal"
	"boon.example/internal/gift"
	"boon.example/internal/post/mail"
	"boon.example/internal/post/print"
	"boon.example/internal/post/sms"
	"boon.example/internal/post/webhook"
	"boon.example/internal/server"
)

type serveCmd struct {
	Config      string        `setting:"env" placeholder:"FILE" help:"YAML file of settings, such as listen: 127.0.0.1:8080."`
	Listen      string        `setting:"file" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Where to listen; port 0 picks a free one. Default: ${default}."`
	Data        string        `setting:"file" default:"./boon-data" placeholder:"DIR" help:"Folder of the key file and the embedded database; made if it is not there. Default: ${default}."`
	KeyFile     string        `setting:"file" name:"key-file" placeholder:"FILE" help:"${keyFile}"`
	Check       bool          `help:"Say what the service would say at its start, change nothing, and end: with 1 if it would refuse to start, or if something looks wrong."`
	PublicURL   string        `setting:"file" name:"public-url" placeholder:"URL" help:"How recipients reach this service; gift links begin with it. Default: where it listens."`
	AdminListen string        `setting:"file" name:"admin-listen" placeholder:"HOST:PORT" help:"Serve /metrics there instead of beside everything else. If --listen is not loopback, /metrics is served nowhere else."`
	Outbox      bool          `setting:"file" help:"For development: keep e-mail and SMS and show them at /outbox, instead of refusing gifts that need them. Refused if links of gifts lead beyond this machine."`
	Anyway      bool          `setting:"file" name:"outbox-anyway" help:"With --outbox: show it to other machines, too, with every code in it."`
	KeepDays    int           `setting:"file" name:"keep-requests" default:"30" placeholder:"DAYS" help:"Days after which idempotency records of calls that move no value are deleted; at least 30. Those of redemptions, reversals and holds are kept for ever. Default: ${default}."`
	SMTP        string        `setting:"file" name:"smtp" placeholder:"URL" help:"Send e-mail through this server: smtp://user:password@host:587?from=ADDRESS, or smtps://…; see docs/operating/delivery.md."`
	SMS         string        `setting:"file" name:"sms" placeholder:"URL" help:"Send SMS through this gateway, such as twilio://SID:TOKEN@api.twilio.com?from=+1…; see docs/operating/delivery.md."`
	RetryFor    time.Duration `setting:"file" name:"delivery-retry-for" default:"24h" placeholder:"TIME" help:"How long a message that is refused for now is tried again and again. Default: ${default}."`
	Proxies     string        `setting:"file" name:"trusted-proxies" placeholder:"NET,NET" help:"Addresses or networks of reverse proxies whose X-Forwarded-For is believed, such as 127.0.0.1,10.0.0.0/8. Default: none: behind a proxy, all clients then count as one."`
	CashOutLaw  string        `setting:"file" name:"cash-out-law" placeholder:"FILE" help:"Table of the laws that let guests ask for the rest of a gift in cash, as JSON, in place of the one of this program; see docs/operating/install.md. No legal advice."`
	Webhooks    string        `setting:"file" name:"webhooks-allow" placeholder:"NET,NET" help:"Networks, such as 10.1.0.0/16, in which webhooks may be called although they are not public, also by http."`
	openIDFlags
	fontFolder
	logFlags
	tlsFlags
	GiftCache int64  `setting:"file" name:"gift-cache" default:"64" placeholder:"MB" help:"With the embedded database: megabytes of memory for gifts that were looked up, in the clear. 0: none are kept. Default: ${default}."`
	Database  string `setting:"file" placeholder:"URL" help:"PostgreSQL database, postgres://USER:PASSWORD@HOST/NAME, in place of the embedded one; --data then holds the key file only. May be used by many instances, each with the same key file."`
}

// maxGiftCache is 64 GB.
const maxGiftCache = 64 << 10

func (serveCmd) Help() string {
	return `Runs until it is told to stop (Ctrl-C, SIGTERM), then finishes what is in flight. When it is ready it prints one line,
"listening on http://HOST:PORT", on standard output; its log goes to standard error, one JSON object a line. The first lines tell version,
store, gateways, public URL and accounts, and what looks wrong. After SIGHUP it reads the log level and the
certificate again. A certificate that changes is read again within seconds anyway.

Example:

    boon serve --outbox
    boon serve --config /etc/boon.yaml --check
    boon serve --config /etc/boon.yaml --listen 0.0.0.0:8080 --public-url https://gifts.example.com
    boon serve --config /etc/boon.yaml --listen :443 --acme gifts.example.com

A service without a set-up knows nobody. It also prints a link: whoever opens it makes the first account, a location, a storefront and a
till in a browser. Or make them from a file: boon apply --help. The interface is described at /docs.`
}

// fontFolder is the flag of the commands that print, or tell what cannot be printed.
type fontFolder struct {
	Fonts string `setting:"file" placeholder:"DIR" help:"Folder of fonts for printed gifts in other scripts than Latin, Greek and Cyrillic. Default: those of the system."`
}

// Run serves until the context ends.
func (c *serveCmd) Run(t *terminal.Terminal, command *kong.Context) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(server.GCPercent)
	}
	config, level, err := c.config(t)
	if err != nil {
		return err
	}
	var first string
	config.First = func(link string) { first = link }
	config.Ready = func(address string) {
		fmt.Fprintf(t.Stdout, "listening on %s%s\n", config.Scheme(), address)
		if first != "" {
			fmt.Fprintf(t.Stdout, "there is no account yet; whoever opens this link first makes it, within 72 hours:\n%s\n",
				first)
		}
	}
	if c.Check {
		return check(t, config)
	}
	if config.Certificate != nil && config.Certificate.Open != nil {
		if err := config.Certificate.Open(); err != nil {
			return fmt.Errorf("--acme-listen %s: %w", c.ACMEListen, err)
		}
	}
	c.reloads(t, t, command, level, config.Logger, config.Certificate)
	if config.Database == "" {
		server.SpareProcessor()
	}
	return server.Run(t, config)
}

// faults are what is wrong with settings: all of it is told at once.
type faults []string

func (f *faults) add(err error) {
	if err != nil {
		*f = append(*f, err.Error())
	}
}

// of notes what is wrong with a setting.
func (f *faults) of(setting string, err error) {
	if err != nil {
		*f = append(*f, fmt.Sprintf("--%s (BOON_%s, %[1]s): %[3]v", setting,
			strings.ToUpper(strings.ReplaceAll(setting, "-", "_")), err))
	}
}

// config is what the flags say, and the level of its log.
func (c *serveCmd) config(t *terminal.Terminal) (config server.Config, level *slog.LevelVar, err error) {
	var wrong faults
	keep := time.Duration(c.KeepDays) * 24 * time.Hour
	if keep < server.KeepRequests {
		keep = 0
		wrong.of("keep-requests", errors.New("it is a number of days, at least 30: a caller may repeat a request as long"))
	}
	if c.GiftCache < 0 || c.GiftCache > maxGiftCache {
		wrong.of("gift-cache", fmt.Errorf("it is a number of megabytes from 0 to %d", maxGiftCache))
	}
	proxies, err := clientip.ParseProxies(c.Proxies)
	wrong.of("trusted-proxies", err)
	allowed, err := webhook.ParseAllow(c.Webhooks)
	wrong.of("webhooks-allow", err)
	smtp, texts := c.gateways(&wrong)
	provider, err := c.openID()
	wrong.add(err)
	law, err := c.law()
	wrong.add(err)
	collected, err := telemetry.Read(t.Getenv)
	wrong.add(err)
	level = new(slog.LevelVar)
	log := c.logger(t, level)
	build := thisBuild()
	config = server.Config{
		WebhooksAllow: allowed, CashOutLaw: law, Fonts: print.NewFonts(log, c.Fonts),
		SMTP: smtp, SMS: texts, OpenID: provider, Proxies: proxies,
		RetryFor: c.RetryFor, Version: build.Version, Commit: build.Commit,
		Listen: c.Listen, AdminListen: c.AdminListen, Data: c.Data, KeyFile: keyFile(t, c.KeyFile), Database: c.Database,
		PublicURL: c.PublicURL, GiftCache: c.GiftCache << 20,
		Outbox: c.Outbox, OutboxAnyway: c.Anyway,
		KeepRequests: keep,
		Logger:       log, Telemetry: collected,
	}
	if c.GiftCache == 0 {
		config.GiftCache = -1
	}
	wrong.add(c.tlsFlags.source(&config))
	if len(wrong) == 0 {
		return config, level, nil // what the service itself refuses, it tells
	}
	for _, err := range config.Wrong() {
		wrong.add(err)
	}
	return config, nil, terminal.UsageError(strings.Join(wrong, "\n"))
}

// law reads the table of law about cash.
func (c *serveCmd) law() (gift.CashOutLaw, error) {
	if c.CashOutLaw == "" {
		return cashout.Law(), nil
	}
	data, err := os.ReadFile(c.CashOutLaw)
	if err != nil {
		return nil, terminal.UsageError(fmt.Sprintf("--cash-out-law (BOON_CASH_OUT_LAW, cash-out-law): %v", err))
	}
	law, err := cashout.Parse(data)
	if err != nil {
		return nil, terminal.UsageError(fmt.Sprintf("--cash-out-law (BOON_CASH_OUT_LAW, cash-out-law): %s:\n%v",
			c.CashOutLaw, err))
	}
	return law, nil
}

// check prints what the service would say at its start.
func check(t *terminal.Terminal, config server.Config) error {
	r, err := server.Check(t, config)
	if err != nil {
		return err
	}
	return tell(t, r)
}

// tell prints a report.
func tell(t *terminal.Terminal, r server.Report) error {
	var pairs []string
	for _, f := range r.Facts {
		pairs = append(pairs, f.Name, f.Value)
	}
	terminal.Facts(t.Stdout, pairs...)
	for _, text := range r.Notes {
		fmt.Fprintf(t.Stdout, "Note: %s.\n", strings.TrimSuffix(terminal.Cell(text), "."))
	}
	for _, text := range r.Wrong {
		fmt.Fprintf(t.Stdout, "WRONG: %s.\n", strings.TrimSuffix(terminal.Cell(text), "."))
	}
	if len(r.Wrong) > 0 {
		return terminal.ErrQuiet // it was told
	}
	fmt.Fprintln(t.Stdout, "Nothing looks wrong.")
	return nil
}

// gateways reads where messages go. What is refused is never repeated: it holds passwords.
func (c *serveCmd) gateways(wrong *faults) (smtp *mail.Server, texts *sms.Account) {
	if c.RetryFor < time.Minute || c.RetryFor > maxRetryFor {
		wrong.of("delivery-retry-for", errors.New("it is a time from 1m to 720h, such as 24h"))
	}
	if c.Outbox && c.SMTP+c.SMS != "" {
		wrong.add(errors.New("--outbox is for development and excludes --smtp and --sms: choose one or the other"))
		return nil, nil
	}
	var err error
	if c.SMTP != "" {
		smtp, err = mail.ParseServer(c.SMTP)
		wrong.of("smtp", err)
	}
	if c.SMS != "" {
		texts, err = sms.ParseAccount(c.SMS)
		wrong.of("sms", err)
	}
	return smtp, texts
}

const maxRetryFor = 30 * 24 * time.Hour
