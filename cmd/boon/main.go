// Boon is the gift-card service and everything that belongs to it, in one binary: see boon --help.
//
// This package turns arguments into calls of the packages that do the work, and what they give back into text and an
// exit code. It makes no decision about gifts.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata"

	"github.com/alecthomas/kong"

	"boon.example/client"
	"boon.example/internal/command/agents"
	"boon.example/internal/command/bench"
	"boon.example/internal/command/remote"
	"boon.example/internal/command/reports"
	"boon.example/internal/command/terminal"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/staff"
)

func main() {
	if err := leaveNoCore(); err != nil {
		fmt.Fprintln(os.Stderr, "boon: a crash may write codes and keys to a core file, which cannot be switched off here:",
			err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // refused, or something went wrong
	exitUsage  = 2 // the command line or the configuration is not understood
)

// commands is the command line. What boon --help says is written here.
type commands struct {
	Demo    demoCmd        `cmd:"" help:"See everything happen once, on a temporary data folder, then keep a server to play with."`
	Serve   serveCmd       `cmd:"" help:"Run the service."`
	Apply   applyCmd       `cmd:"" help:"Make the set-up (accounts, locations, keys …) what a file says."`
	Setup   setupCmd       `cmd:"" help:"Write the set-up to a file."`
	ID      idCmd          `cmd:"" name:"id" help:"Make ids for a set-up file, and write those that it lacks."`
	Gift    remote.Gift    `cmd:"" help:"Send, look up and redeem gifts on a running service."`
	Stock   remote.Stock   `cmd:"" help:"Make cards to be sold, and have them printed."`
	Sheet   sheetCmd       `cmd:"" help:"Make a new link to the printed cards of an order, and revoke the earlier ones."`
	Export  exportCmd      `cmd:"" help:"Write all gifts of an account, or all that happened to them, to take them elsewhere."`
	Import  importCmd      `cmd:"" help:"Bring gifts of another system in, all at once, and take them back."`
	Key     keyCmd         `cmd:"" help:"Make, list and revoke API keys."`
	Events  remote.Events  `cmd:"" help:"Follow what happens in an account."`
	Webhook remote.Webhook `cmd:"" help:"Have what happens in an account sent to addresses, and look at the calls."`
	Audit   remote.Audit   `cmd:"" help:"List who did what in an account, from where."`
	Report  reports.Report `cmd:"" help:"Tell what is owed for gifts, how that came about, and what was redeemed."`
	MCP     agents.MCP     `cmd:"" name:"mcp" help:"Have agents that speak the Model Context Protocol look at gifts."`
	Listen  remote.Listen  `cmd:"" help:"Send what happens in an account to a developer's machine, as a webhook."`
	Till    tillCmd        `cmd:"" help:"Pair devices at the counter with a location, and make PINs for people."`
	Staff   staffCmd       `cmd:"" help:"Invite people to the console of an account, list them, and shut them out."`
	Erase   eraseCmd       `cmd:"" help:"Take a person's names, contact and messages out of gifts and their histories."`
	KeyFile keyFileCmd     `cmd:"" name:"key-file" help:"Rotate the keys that seal codes and tokens, and list them."`
	Doctor  doctorCmd      `cmd:"" help:"Look at the machine, the files and the gateways, and tell what is wrong."`
	Verify  verifyCmd      `cmd:"" help:"Recompute every balance from the ledger and check that everything holds."`
	Books   booksCmd       `cmd:"" help:"Work a closed day of the books out again."`
	Backup  backupCmd      `cmd:"" help:"Copy the embedded database while the service goes on."`
	Restore restoreCmd     `cmd:"" help:"Put a backup in the place of the embedded database."`
	Bench   bench.Command  `cmd:"" help:"Put load on a running service, measure it, and check the money afterwards."`
	Copy    copyCmd        `cmd:"" help:"Move an installation to another data folder or database."`
	Migrate migrateCmd     `cmd:"" help:"Bring the schema of the database up to date, without serving."`
	Ping    pingCmd        `cmd:"" help:"Ask whether the service on this machine can serve calls, as a health check."`
	Version versionCmd     `cmd:"" help:"Say which build this is."`
	Man     manCmd         `cmd:"" help:"Print the manual page."`

	Completion completionCmd `cmd:"" help:"Print a script that completes commands in bash, zsh or fish."`
	Complete   completeCmd   `cmd:"" hidden:""`

	Printed kong.VersionFlag `name:"version" help:"Say which version this is."`
}

const about = `Boon keeps gift cards: it sends them, tells what they are worth, and redeems them, each exactly once.

See it work:      boon demo
Then your own:    boon apply setup.yaml && boon serve --outbox
And a first gift: boon gift send --help

Settings come from flags, else from BOON_… in the environment, else (boon serve) from the --config file.
Exit codes: 0 done, 1 refused or failed, 2 not understood.`

// run is the whole program: it understands args, does what they say, and gives the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer,
	getenv func(string) string) int {
	t := &terminal.Terminal{Context: ctx, Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: getenv,
		Version: thisBuild().Version}
	if len(args) == 0 {
		run(ctx, []string{"--help"}, stdin, stderr, stderr, getenv)
		return exitUsage
	}
	if args[0] == "help" { // as many other programs have it: boon help gift send
		args = append(slices.Clone(args[1:]), "--help")
	}
	exited := false
	// --help exits, and what follows it does not matter
	command, err := parse(t, grammar(args[0]), args, func(int) { exited = true })
	switch {
	case exited:
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "boon: %s\n", terminal.Plain(err.Error()))
		fmt.Fprintln(stderr, "Try: boon "+helpFor(err)+"--help")
		return exitUsage
	}
	return report(t, command.Run(t), spoken(command))
}

// grammar is what arguments are read by, of which the first is given: the command that it names, alone, as it takes
// longer to read the tags of all commands than to do what most of them do. Where it names none, and for those that tell
// of the others, it is that of all.
func grammar(first string) any {
	all := reflect.TypeFor[commands]()
	version, _ := all.FieldByName("Printed")
	for f := range all.Fields() {
		name := cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name))
		if name == first && name != "man" && name != "complete" {
			return reflect.New(reflect.StructOf([]reflect.StructField{f, version})).Interface()
		}
	}
	return &commands{}
}

// parse understands args. It calls exit once it has printed a help text.
func parse(t *terminal.Terminal, into any, args []string, exit func(int)) (*kong.Context, error) {
	parser, err := kong.New(into, options(t, exit)...)
	if err != nil {
		panic(err) // the struct tags above are wrong
	}
	return parser.Parse(args)
}

// options are how the command line is read.
func options(t *terminal.Terminal, exit func(int)) []kong.Option {
	return []kong.Option{
		kong.TypeMapper(reflect.TypeFor[time.Time](), kong.MapperFunc(terminal.ReadMoment)),
		kong.Name("boon"), kong.Description(about), kong.Writers(t.Stdout, t.Stderr), kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{NoAppDescFormat: true, NoExpandSubcommands: true, Compact: true,
			WrapUpperBound: 110}),
		kong.ValueFormatter(describe), kong.WithBeforeResolve(func(c *kong.Context) error { return settings(t, c) }),
		kong.Vars{"version": "boon " + thisBuild().Version,
			"permissions": strings.Join(merchant.PermissionNames(), ", "), "keyFile": keyFileHelp,
			"staffRoles": strings.Join(staff.RoleNames(), ", "),
			"statuses":   words(gift.Statuses()), "kinds": words(gift.Kinds())},
	}
}

// words lists names as a help text does.
func words[T any](names []T) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = fmt.Sprint(name)
	}
	return strings.Join(texts, ", ")
}

// helpFor names the command that a parse error is about, followed by a space, if it got that far.
func helpFor(err error) string {
	p, ok := errors.AsType[*kong.ParseError](err)
	if !ok || p.Context == nil || p.Context.Selected() == nil {
		return ""
	}
	return strings.TrimPrefix(p.Context.Selected().FullPath(), "boon ") + " "
}

// report tells a failure and gives the exit code. g is how refusals name what was given.
//
// Nothing that a server or a file said can reach the terminal as a command.
func report(t *terminal.Terminal, err error, g given) int {
	usage, wrong := errors.AsType[terminal.UsageError](err)
	refusal, refused := errors.AsType[*client.Error](err)
	switch {
	case err == nil:
		return exitOK
	case wrong:
		fmt.Fprintf(t.Stderr, "boon: %s\n", terminal.Plain(string(usage)))
		return exitUsage
	case errors.Is(err, terminal.ErrQuiet):
	case errors.Is(err, syscall.ECONNREFUSED) && calledURL(err) != "":
		fmt.Fprintf(t.Stderr, "boon: No service listens at %s. Start boon serve there, or name another address in "+
			"BOON_URL or --url.\n", terminal.Plain(calledURL(err)))
	case errors.Is(err, http.ErrSchemeMismatch) && calledURL(err) != "":
		fmt.Fprintf(t.Stderr, "boon: The service at %s speaks http. Write http:// in BOON_URL or --url.\n",
			terminal.Plain(calledURL(err)))
	case refused && client.Refused(err):
		showRefusal(t, refusal, g)
	default:
		fmt.Fprintf(t.Stderr, "boon: %s\n", terminal.Plain(err.Error()))
	}
	return exitFailed
}

// calledURL is the address of the service that a call failed at; "": it was no call.
func calledURL(err error) string {
	called, is := errors.AsType[*url.Error](err)
	if !is {
		return ""
	}
	u, err := url.Parse(called.URL)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
