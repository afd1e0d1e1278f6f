# make demo   the whole story over real HTTP, then a server to play with
# make test   every test on both databases, and once more with the race detector, the long ones shortened
# make lint   staticcheck and the other linters of .golangci.yml, and whether go.mod is tidy
# make race   every test at full length with the race detector
# make torture   every promise of docs/why/promises.md against the tests that try to break it, controls included; some minutes
# make bench  the standing comparison on both stores, into docs/why/benchmarks.md; part of it: make bench BENCH="-quick", see test/bench
# make fuzz   every fuzz target for FUZZTIME (default 20s)
# make screenshots   the pictures in docs/pictures; needs chromium and pdftoppm
# make release   programs, packages, checksums and lists of modules, into dist/

GO       ?= go
FUZZTIME ?= 20s
# The service is built without C, and so is everything here: compiled once. Only the race detector needs a C compiler.
export CGO_ENABLED = 0
# make vet has looked at everything, and no test needs what a debugger does.
TEST      = test -count=1 -vet=off -ldflags=-w -timeout=30m
# What storms, browsers and disks do at full length, make torture and make race do; and on PostgreSQL, what says nothing of a store (pgtest.Once).
SHORT     = $(TEST) -short
# The race detector as make test uses it: where goroutines meet. It does not look into SQLite, which is C made into Go and takes ten times as long
# under it, nor at tests that make many calls one after the other, nor at one that counts memory, of which it takes more. make race looks at everything.
RACE      = $(SHORT) -race -gcflags=modernc.org/sqlite/lib=-race=false
# Nor at hours of a gateway that is away, one message after the other.
MEET      = -skip "TestBreaker" ./internal/delivery ./internal/load ./internal/mail ./internal/ratelimit ./internal/sealed ./internal/sms ./internal/web \
            ./internal/webhook
# Of the tests of the service, not those of what it says, or refuses, to one who asks alone.
MEET_SERVER = -skip "Memory|TestCheck|TestRefuses|TestStartsLoudly|Nginx|Board|Language|LooksChange|TestNames|TestOutbox|Address|Forged|Proxies|TestPrint|WhatIsNot|TooLong|Unclean|PublicURL|OtherOrigins|TestToday|WhoMaySell|WhatSaysTEST|Networks|Notice" ./internal/server
# Of the tests of the interface, those that call it more than once at a time; of those of the store, those that use it so.
MEET_API  = -run "Race|Racing|AtOnce|Wait|Overload|Instances|Judged|Thief|Against|While|Guess|Example|TakenBack|Exports" ./internal/api
MEET_STORE = -run "TestStore$$|AtOnce|While|Beside|ChainsHold|Timeouts|Copy|Event|Expiry|PowerCut|StayNoted|Unconfirmed" ./internal/store
# Of the engine, neither its model, whose commands follow each other, nor a simulated twenty minutes of tills; a quarter of what rapid draws.
MEET_LEDGER = -skip "Model|AHundredOrders" ./internal/ledger -rapid.checks=25
# The programs that use the whole are a module of their own, so that the product needs none of their dependencies.
PROGRAMS  = $(GO) -C test
# So is the client, whose callers need none of ours.
CLIENT    = $(GO) -C client
BENCH    ?= -write docs/why/benchmarks.md

.PHONY: demo build test tests race races vet lint fuzz bench screenshots torture release

demo:
	@echo "Compiling Boon: some minutes the first time, seconds from then on."
	@$(MAKE) --no-print-directory build
	@bin/boon demo

build:
	@$(GO) build -trimpath -o bin/boon ./cmd/boon

# A private PostgreSQL server that is gone when its command ends; installed where it is missing and apt is there.
bin/with-postgres: FORCE
	@$(PROGRAMS) build -o ../$@ ./postgres
FORCE:

test:
	@begun=$$(date +%s); $(MAKE) --no-print-directory vet tests || exit 1; \
	taken=$$(($$(date +%s) - begun)); printf 'make test took %d min %d s.\n' $$((taken / 60)) $$((taken % 60))

tests: bin/with-postgres
	@# At the same time: the programs mostly wait, for browsers and for lines that are cut. The race detector follows the product. The longest begin first.
	bin/with-postgres $(PROGRAMS) $(SHORT) ./torture ./till ./... & programs=$$!; \
	bin/with-postgres $(GO) $(SHORT) ./internal/api ./cmd/boon ./... && $(CLIENT) $(SHORT) ./... && $(MAKE) --no-print-directory races; product=$$?; wait $$programs && exit $$product
	@for tool in chromium zbarimg pdftoppm nginx promtool node npm python3 php helm pgbouncer zsh fish mandoc java systemd-analyze; do command -v $$tool >/dev/null || \
	  echo "LEFT OUT: there is no $$tool, so the tests that need it (pages in a browser, QR codes read by a scanner, the proxy of deploy/nginx, the alert rules, the scripts of the till alone, the clients in Python and TypeScript, the samples and the client in PHP, the Helm chart, PgBouncer, the completions, the manual page, the client of openapi-generator, the unit of systemd) did not run in full."; done
	@find /usr/share/fonts /usr/local/share/fonts -name '*.tt[cf]' 2>/dev/null | grep -qi 'vl-gothic\|cjk' || echo "LEFT OUT: there is no Japanese font, so no page in Japanese was printed."
	@test -w /dev/fuse || echo "LEFT OUT: power cuts and failing disks (test/power), which need Linux, /dev/fuse and the right to mount."

# Only the store and the engine run on PostgreSQL, too. What all need is compiled first: the three sequences would each do it.
races: bin/with-postgres
	@if command -v $$($(GO) env CC) >/dev/null; then echo "Where goroutines meet, under the race detector:"; \
	  export CGO_ENABLED=1; $(GO) build -race -gcflags=modernc.org/sqlite/lib=-race=false ./internal/... && \
	  bin/with-postgres sh -c 'embedded="env -u TEST_POSTGRES_URL"; $$embedded $(GO) $(RACE) $(MEET) & meet=$$!; \
	    { $(GO) $(RACE) $(MEET_STORE) && $(GO) $(RACE) $(MEET_LEDGER); } & stored=$$!; \
	    $$embedded $(GO) $(RACE) $(MEET_SERVER) && $$embedded $(GO) $(RACE) $(MEET_API) && \
	    $$embedded $(CLIENT) $(RACE) ./... && $$embedded $(PROGRAMS) $(RACE) ./client; rest=$$?; \
	    wait $$meet && wait $$stored && exit $$rest'; \
	else echo "The race detector needs a C compiler and there is none: left out."; fi

# On the disk, whose time the promise about overload counts in.
torture: bin/with-postgres
	@TESTS_ON_DISK=1 bin/with-postgres $(PROGRAMS) run ./torture -promises all

race: bin/with-postgres
	CGO_ENABLED=1 bin/with-postgres $(GO) test -race ./...
	CGO_ENABLED=1 $(CLIENT) test -race ./...
	CGO_ENABLED=1 bin/with-postgres $(PROGRAMS) test -race ./...

vet:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt differs in: $$unformatted"; exit 1; }
	$(GO) vet ./...
	$(CLIENT) vet ./...
	$(PROGRAMS) vet ./...

# Its version is pinned here and not in go.mod: its 170 modules are none of ours. Built once, it comes from Go's cache.
LINT      = $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
lint:
	@for module in $$(git ls-files '*go.mod'); do cd $$(dirname $$module) && $(GO) mod tidy -diff && $(LINT) run ./... && cd - >/dev/null || exit 1; done

fuzz:
	@for module in . client; do for pkg in $$($(GO) -C $$module list ./...); do \
	  for target in $$($(GO) -C $$module test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; $(GO) -C $$module test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; done; done

bench:
	$(PROGRAMS) build -o ../bin/bench ./bench
	bin/bench $(BENCH)

screenshots:
	@$(PROGRAMS) run ./screenshots

# What a tag publishes, as a snapshot in dist/.
release:
	$(GO) run github.com/goreleaser/goreleaser/v2@v2.15.0 release --snapshot --clean
