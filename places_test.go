package boon_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sharedPlaces finds what several callers of the product share and can fill: channels with room, turns, limiters, pools
// of connections, and maps and lists behind a mutex. Each is named by its package and by what it is kept in.
func sharedPlaces(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	eachFile(t, func(file string, parsed *ast.File) {
		for _, name := range placesIn(parsed) {
			found[path.Dir(file)+" "+name] = true
		}
	})
	return found
}

// eachFile reads the files of the product.
func eachFile(t *testing.T, read func(file string, parsed *ast.File)) {
	t.Helper()
	for _, root := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err == nil {
				read(filepath.ToSlash(file), parsed)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// placesIn names the shared places of a file: what a construction is assigned to, or the construction itself.
func placesIn(file *ast.File) (names []string) {
	target := map[ast.Expr]ast.Expr{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			target[n.Value] = n.Key
		case *ast.AssignStmt:
			for i := range n.Rhs {
				target[n.Rhs[i]] = n.Lhs[min(i, len(n.Lhs)-1)]
			}
		case *ast.CallExpr:
			if isPlace(n) {
				name := types.ExprString(n)
				if at := target[n]; at != nil {
					name = types.ExprString(at)
				}
				names = append(names, name)
			}
		case *ast.TypeSpec:
			if fields, ok := n.Type.(*ast.StructType); ok && guardsAList(fields) {
				names = append(names, "type "+n.Name.Name)
			}
		}
		return true
	})
	return names
}

// isPlace reports whether a call makes or bounds something that callers share.
func isPlace(c *ast.CallExpr) bool {
	name := types.ExprString(c.Fun)
	if i := strings.IndexByte(name, '['); i > 0 {
		name = name[:i]
	}
	switch name {
	case "make":
		_, channel := c.Args[0].(*ast.ChanType)
		return channel && len(c.Args) > 1
	case "fair.New", "fair.NewShared", "ratelimit.NewLimiter", "ratelimit.NewLimiterBy", "admission.New",
		"semaphore.NewWeighted", "rate.NewLimiter":
		return true
	}
	return strings.HasSuffix(name, ".SetMaxOpenConns") || strings.HasSuffix(name, ".SetLimit")
}

// guardsAList reports whether a struct has a mutex and a map or a list that can grow behind it.
func guardsAList(s *ast.StructType) bool {
	mutex, list := false, false
	for _, f := range s.Fields.List {
		switch of := types.ExprString(f.Type); {
		case of == "sync.Mutex" || of == "sync.RWMutex":
			mutex = true
		case strings.HasPrefix(of, "map[") || strings.HasPrefix(of, "[]"):
			list = true
		}
	}
	return mutex && list
}

// places says of each shared place how it is shared, where it is, and what it holds. For each the question was: who
// else waits when one account fills it?
const places = `turns, by account | internal/base/admission type Control | places of calls in flight; an account leaves half to the next, and guests together to accounts
turns, by account | internal/face/api/manage files | files that are uploaded, checked and written; an account leaves half to the next
turns, by account | internal/face/api/manage checks | files that are checked, which takes memory
turns, by account | internal/face/api/manage writing | imports that are written
turns, by account | internal/face/api/manage type importing | one import of each account, written or taken back
turns, by account | internal/face/api/manage pins | hashes of new PINs
turns, by account | internal/face/api/manage prints | stocks that are printed
turns, by account | internal/face/api/reports Places | reports that are made
turns, by account | internal/service tests | calls of test accounts, half of the places for each
turns, by account | internal/face/till busy | hashes of PINs at sign-in
turns, by account | internal/face/console/setup busy | pictures that are read, designs that are drawn
turns, by account | internal/face/console/signin busy | checks of passwords
turns, by account | internal/face/till days | lists of a day
turns, by account | internal/face/web printing | PDFs of single gifts
turns, by account | internal/server printer | PDFs of orders, on pages and in mails
turns, by account | internal/face/web fair.New(sheetPrinters) | PDFs of orders, where nobody else prints any
turns, by account | internal/ledger/engine verifying | dry runs that show verification codes
turns, by account | internal/store/lookup lists | readers of lists
turns, by account | internal/store/lookup tills | readers of lists of a key
turns, by account | internal/store/lookup guests | readers of lists of guests
turns, by account | internal/store/lookup orders | readers of orders and purchases
turns, by account | internal/store/feed reading | reads of those that wait for events
turns, by account | internal/post/webhook d.backlogReads | reads of endpoints that are behind
turns, by account | internal/base/fair type Places | what gives these turns
turns, by account | internal/post/delivery senders | messages on their way: ClaimJobs takes accounts in turns
turns, by account | internal/server a.admission | the one admission.Control of the service
share of an account | internal/base/fair type Share | memory of large bodies, silent test calls: half of what others leave
share of an account | internal/post/delivery type lanes | slow messages: half of what others leave
share of an account | internal/store/sums type openDays | sums of open days in memory: half of what others leave
share of an account | internal/store/sums type knownTotals | sums of closed months in memory: half of all; whose are lost has them read once more
share of an account | internal/ledger/engine type Engine | heavy commands: 32 of an account, in turns by account
share of an account | internal/store/feed type watch | calls that wait for events; room is made at who has most
share of an account | internal/post/webhook d.calls | calls in flight: an account has 27 of 512, a ninth of what others leave, in turns
share of an account | internal/post/pass/push f.places | pushes in flight: an account has half of what others leave, in turns
share of an account | internal/post/webhook d.slow | calls to slow endpoints: an account has 27 of 384, a ninth of what others leave, in turns
share of an account | internal/post/webhook d.busy | calls that use the processor, for 1 ms each; an account has 27 calls in all
share of an account | internal/base/connections type Connections | connections, by client network
one party only | internal/face/api/manage type changeLimiter | changes of the set-up, of an account
one party only | internal/service g.Limiter | wrong codes, of a key and location
one party only | internal/face/till t.pins | wrong PINs, of a till and person
one party only | internal/face/console/signin f.limits | wrong sign-ins, of a name and of a network
one party only | internal/base/ratelimit type Limiter | buckets of these; those that nobody uses are dropped
one party only | internal/face/web type misses | wrong addresses of gifts, of a network, and registrations of phones, of a gift; beyond 50,000 all are forgotten
one party only | internal/post/pass/google type work | what is to be written at Google of an account
one party only | internal/post/pass/google turns | calls to Google of an account, 8 at once
one party only | internal/base/jwks type Keys | the keys of the shops of providers; who waits for a shop's keys is called by that shop
nobody waits | internal/post/pass/google type Writer | what is done for each account
nobody waits | internal/store/sums type knownMonths | months of closed days in memory, one list for each account; whose list is lost has its days read once more
one party only | internal/post/pass/push type queue | pushes of an account that wait, one for each of its phones
one party only | internal/post/webhook calls | calls of an account's endpoints
one party only | internal/post/webhook type paces | calls of an account at a destination
one party only | internal/post/webhook type stream | events of an account that its endpoints have not got
one party only | internal/base/admission turn | the answer to one call
one party only | internal/store/feed make(chan struct{}, 1) | the waking of one call
one party only | internal/store/feed more | the waking of one call
first come is right | internal/ledger/engine queue | commands: admission lets 512 in, and a group takes all that wait
first come is right | internal/store/lookup type lookupBatcher | look-ups: a statement answers all that wait
first come is right | internal/store/lookup type cache | gifts in memory: what an account takes away from others costs them a statement each
first come is right | internal/store/db type Watch | the watching connection: a look-up in memory asks it one short question
first come is right | internal/store/db writer.SetMaxOpenConns(1) | the writer: admission bounds the calls, and each is short
first come is right | internal/store/db readers.SetMaxOpenConns(pool) | readers, likewise
first come is right | internal/store/db db.SetMaxOpenConns(max(2, size / 2)) | connections to PostgreSQL, likewise
first come is right | internal/store/db beside.SetMaxOpenConns(1) | the checkpointer, which serves no caller
first come is right | internal/post/pass/push type Follower | phones that have just registered, of an account 1,000 at most
first come is right | internal/post/webhook type Deliverer | attempts to be saved: a log, for which no delivery waits
first come is right | internal/post/print f.checkers | checks of what a font can write, which take microseconds
first come is right | internal/store/transfer batches | rows of a copy, beside no callers
nobody waits | internal/face/api type codesSeen | when the audit trail was told of a key
nobody waits | internal/face/api type keyNames | names of keys
nobody waits | internal/post/delivery type pictureCache | the newest pictures of mails
nobody waits | internal/post/mail type Carrier | idle connections to the mail server
turns, by account | internal/face/web type passes | pictures of passes, drawn by whoever has a turn to print
nobody waits | internal/post/print type Fonts | fonts that were opened
nobody waits | internal/server type keyUses | when keys were used
nobody waits | internal/base/span type Tracer | causes of the newest events
nobody waits | internal/store type keptCounts | counts of kept calls, of a key
nobody waits | internal/store type usedRecords | set-up records that are in use
nobody waits | internal/store type writers | hash chains that go on
nobody waits | internal/store/check type Check | what one verification has found
nobody waits | internal/ledger/verify type bar | how far one verification is
nobody waits | internal/ledger/verify side.SetLimit(max(1, readers)) | readers of one verification, which give way to tills
nobody waits | internal/store/hooks type Hooks | saved attempts, of an endpoint
nobody waits | internal/face/till type shifts | shifts of tills
nobody waits | internal/face/till type toldOf | what the audit trail was told of a person
nobody waits | internal/post/pass/push type Sender | connections by certificate
nobody waits | internal/post/webhook type Sender | networks of endpoints
nobody waits | internal/ledger/verify type Auditor | gifts that this process changed, for the auditor
a signal | internal/post/delivery w.wake |
a signal | internal/ledger/engine wake |
a signal | internal/server failed |
a signal | internal/store back |
a signal | internal/store/db make(chan struct{}, 1) |
a signal | internal/post/webhook wake |
`

// notServed are programs of ours that serve no accounts.
var notServed = []string{"cmd/boon ", "internal/face/api/contract ", "internal/boontest ",
	"internal/post/delivery/deliverytest ", "internal/command/load ", "internal/base/openid/openidtest ",
	"internal/store/pgtest "}

// TestSharedPlacesAreListed: who adds a place that accounts share says how one of them is kept from filling it.
func TestSharedPlacesAreListed(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for row := range strings.Lines(places) {
		how, rest, _ := strings.Cut(strings.TrimSpace(row), " | ")
		where, holds, _ := strings.Cut(strings.TrimSuffix(rest, " |"), " | ")
		if holds == "" && how != "a signal" {
			t.Errorf("the row of %s does not say what it holds", where)
		}
		listed[where] = true
	}
	found := sharedPlaces(t)
	for place := range found {
		if !listed[place] && !slices.ContainsFunc(notServed, func(p string) bool { return strings.HasPrefix(place, p) }) {
			t.Errorf("%s is shared: add a row to places, and a turn or a share where one account can fill it", place)
		}
	}
	for place := range listed {
		if !found[place] {
			t.Errorf("%s is not there any more: take its row out of places", place)
		}
	}
}

// TestTurnsAreOfAccounts: whoever waits for a turn waits in the name of an account. A place that is taken in the name
// of something else, such as a till, is one that the account with the most of these has.
func TestTurnsAreOfAccounts(t *testing.T) {
	t.Parallel()
	calls := 0
	eachFile(t, func(file string, parsed *ast.File) {
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 3 {
				return true
			}
			take, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || take.Sel.Name != "Take" || notTurns[types.ExprString(take.X)] {
				return true
			}
			calls++
			in := types.ExprString(call.Args[1])
			if !strings.HasSuffix(strings.TrimSuffix(strings.ToLower(in), ".id"), "account") &&
				!strings.HasSuffix(in, ".AccountID") && in != "c.place.of.ID" {
				t.Errorf("%s: %s takes a place in the name of %s, which is no account", file, types.ExprString(take.X), in)
			}
			return true
		})
	})
	if calls < 12 {
		t.Errorf("only %d calls wait for a turn", calls)
	}
}

// notTurns have a method Take as well.
var notTurns = map[string]bool{"rate": true, "changeRate": true, "anonymousRate": true, "c.unanswered": true,
	"l.records": true, "c.Service.memory": true}
