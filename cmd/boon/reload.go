package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"boon.example/internal/base/certificate"
	"boon.example/internal/command/terminal"
)

// logFlags say what is logged and how.
type logFlags struct {
	LogLevel  string `setting:"file" enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL" help:"Log lines of this level and of graver ones: ${enum}. Default: ${default}."`
	LogFormat string `setting:"file" enum:"json,text" default:"json" placeholder:"WORD" help:"How the log is written: ${enum}. Default: ${default}."`
}

// level is the one that is asked for.
func (f logFlags) level() (l slog.Level) {
	if err := l.UnmarshalText([]byte(f.LogLevel)); err != nil {
		panic(err) // enum lets nothing else pass
	}
	return l
}

// logger writes as the flags say, from a level that can change.
func (f logFlags) logger(t *terminal.Terminal, level *slog.LevelVar) *slog.Logger {
	level.Set(f.level())
	options := &slog.HandlerOptions{Level: level}
	if f.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(t.Stderr, options))
	}
	return slog.New(slog.NewJSONHandler(t.Stderr, options))
}

// reloads does again, at every SIGHUP until ctx ends, what can be done without a restart: it takes the log level from
// the settings, and reads the certificate, if it has one. Other settings that have changed are named in the log.
func (c *serveCmd) reloads(ctx context.Context, t *terminal.Terminal, command *kong.Context, level *slog.LevelVar,
	log *slog.Logger, source *certificate.Source) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangups)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				if source != nil {
					if err := source.Reload(); err != nil {
						log.Error("SIGHUP: the new certificate cannot be used; the one before is shown", "error", err)
					}
				}
				c.reload(t, command, level, log)
			}
		}
	}()
}

func (c *serveCmd) reload(t *terminal.Terminal, command *kong.Context, level *slog.LevelVar, log *slog.Logger) {
	var now commands
	read, err := parse(t, &now, command.Args, func(int) {})
	if err != nil {
		log.Error("SIGHUP: the settings are not understood; those before stay", "error", err)
		return
	}
	var changed []string
	for n, f := range read.Flags() {
		if before := command.Flags()[n]; f.Name != "log-level" &&
			!reflect.DeepEqual(f.Target.Interface(), before.Target.Interface()) {
			changed = append(changed, f.Name)
		}
	}
	if len(changed) > 0 {
		log.Warn("SIGHUP: settings have changed that need a restart", "settings", strings.Join(changed, ", "))
	}
	level.Set(now.Serve.level())
	log.Warn("SIGHUP: the log level was read again", "level", now.Serve.LogLevel)
}
