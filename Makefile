# make demo   the whole story over real HTTP, then a server to play with
# make test   what a newcomer waits for: the whole product on the embedded database, pages in a browser, the clients
# make check  the rest: everything on PostgreSQL, the race detector, the programs that break the product, packages, linters
# make lint   staticcheck and the other linters of .golangci.yml, and whether go.mod is tidy
# make race   every test at full length with the race detector
# make torture   every promise of docs/why/promises.md against the tests that try to break it, controls included; some minutes
# make bench  the standing comparison on both stores, into docs/why/benchmarks.md; part of it: make bench BENCH="-quick", see test/bench
# make fuzz   every fuzz target for FUZZTIME (default 20s)
# make screenshots   the pictures in docs/pictures, and every page into dist/pages; needs chromium and pdftoppm
# make medusa  gifts in a shop of Medusa: it installs 1,063 packages, so make check leaves it out
# make release   programs, packages, checksums and lists of modules, into dist/

GO       ?= go
FUZZTIME ?= 20s
# The service is built without C, and so is everything here: compiled once. Only the race detector needs a C compiler.
export CGO_ENABLED = 0
# make check vets everything, and no test needs what a debugger does: to link it takes seconds.
TEST      = test -count=1 -vet=off -ldflags=-s -timeout=30m
# What storms, browsers and disks do at full length, make torture and make race do.
SHORT     = $(TEST) -short
# The race detector does not look into SQLite, which is C made into Go and takes ten times as long under it. A test that it
# does not run says so itself: see internal/racetest. make race looks at everything.
RACED     = -gcflags=modernc.org/sqlite/lib=-race=false
RACE      = $(SHORT) -race $(RACED)
# The programs that use the whole are a module of their own, so that the product needs none of their dependencies.
PROGRAMS  = $(GO) -C test
# So is the client, whose callers need none of ours.
CLIENT    = $(GO) -C client
# What of the programs is about the product itself: pages in a browser, clients in every language, certificates by ACME.
PRODUCT   = ./till ./screenshots ./sdk ./client ./acme
# The other programs.
empty    :=
OTHERS    = $(PROGRAMS) list ./... | grep -vE '/test/($(subst $(empty) $(empty),|,$(PRODUCT:./%=%)))$$'
# What runs its tests over either store (pgtest), and so once more.
EITHER    = ./internal/store ./internal/store/db ./internal/face/agent ./internal/face/api ./internal/server ./internal/face/console/signin ./internal/ledger ./internal/intake ./internal/post/delivery ./internal/setup ./internal/base/telemetry ./internal/jobs/expiry ./internal/jobs/closing
BENCH    ?= -write docs/why/benchmarks.md

.PHONY: demo build test tests check checks race races vet lint vulnerabilities package fuzz bench screenshots torture medusa release

demo:
	@echo "Compiling Boon: some minutes the first time, seconds from then on."
	@$(MAKE) --no-print-directory build
	@bin/boon demo

build:
	@$(GO) build -o bin/boon ./cmd/boon

# A private PostgreSQL server that is gone when its command ends; installed where it is missing and apt is there.
bin/with-postgres: FORCE
	@$(PROGRAMS) build -o ../$@ ./postgres
FORCE:

# The programs mostly wait, for browsers and the tools of others: so they run beside the rest. Some packages wait a lot as
# well: so three run at a time. The longest begin first.
test: begun := $(shell date +%s)
test: tests
	@taken=$$(($$(date +%s) - $(begun))); printf 'make test took %d min %d s.\n' $$((taken / 60)) $$((taken % 60))

LONGEST   = ./internal/server ./cmd/boon ./internal/face/api ./internal/store ./internal/post/delivery
tests: build # where Go's cache is empty, each of the commands would compile the service by itself
	$(PROGRAMS) $(SHORT) -p 3 $(PRODUCT) & programs=$$!; status=0; \
	$(GO) $(SHORT) -p 3 $(LONGEST) ./... || status=1; \
	$(CLIENT) $(SHORT) ./... || status=1; wait $$programs || status=1; exit $$status
	@test/leftout

# The linters and the package on an empty Debian take what the tests leave of the processors.
check: begun := $(shell date +%s)
check: checks
	@taken=$$(($$(date +%s) - $(begun))); printf 'make check took %d min %d s.\n' $$((taken / 60)) $$((taken % 60))

checks: bin/with-postgres vet
	@said=$$(mktemp); status=0; \
	nice -n 19 $(MAKE) --no-print-directory --keep-going lint vulnerabilities package >$$said 2>&1 & beside=$$!; \
	$(MAKE) --no-print-directory --keep-going second races programs || status=1; \
	wait $$beside || status=1; cat $$said; rm -f $$said; test/leftout check; exit $$status

# Everything on PostgreSQL that make test ran on the embedded database.
second: bin/with-postgres
	TEST_POSTGRES_ONLY=1 bin/with-postgres $(GO) $(SHORT) $(EITHER)

# The programs that try to break the product, and beside them the clients on PostgreSQL.
programs: bin/with-postgres
	@(status=0; export TEST_POSTGRES_ONLY=1; bin/with-postgres $(PROGRAMS) $(SHORT) ./sdk ./client || status=1; \
	  bin/with-postgres $(PROGRAMS) $(SHORT) -run '^TestADayOfAShop$$' ./till || status=1; exit $$status) & clients=$$!; status=0; \
	bin/with-postgres $(PROGRAMS) $(SHORT) ./torture $$($(OTHERS)) || status=1; wait $$clients || status=1; exit $$status

# The store and the engine run on both databases, the rest on the embedded one. The store waits for its databases, so it
# runs beside the rest: all is compiled before, lest both compile it.
races: bin/with-postgres
	@if command -v $$($(GO) env CC) >/dev/null; then echo "Under the race detector:"; export CGO_ENABLED=1; status=0; \
	  $(GO) build -race $(RACED) ./internal/... || status=1; \
	  bin/with-postgres $(GO) $(RACE) ./internal/store & store=$$!; \
	  $(GO) $(RACE) ./internal/face/api ./internal/server $$($(GO) list ./internal/... | grep -vE '/internal/(store|ledger)$$') || status=1; \
	  wait $$store || status=1; \
	  bin/with-postgres $(GO) $(RACE) ./internal/ledger -rapid.checks=25 || status=1; \
	  $(CLIENT) $(RACE) ./... || status=1; $(PROGRAMS) $(RACE) ./client || status=1; exit $$status; \
	else echo "The race detector needs a C compiler and there is none: left out."; fi

# Known faults of the modules that are called; one line where their database cannot be reached.
vulnerabilities:
	@test/vulnerabilities

# From an empty Debian to a redeemed gift; it says what it lacks, and that is no failure.
package:
	@test/debian/run || { status=$$?; [ $$status = 77 ] || exit $$status; }

# On the disk, whose time the promise about overload counts in.
torture: bin/with-postgres
	@TESTS_ON_DISK=1 bin/with-postgres $(PROGRAMS) run ./torture -promises all
	@bin/with-postgres $(GO) $(TEST) -run TestThereAndBack ./cmd/boon

# Minutes to install a shop, and one in which gifts pay there.
medusa: bin/with-postgres
	bin/with-postgres $(PROGRAMS) $(TEST) ./medusa

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
	@$(PROGRAMS) run ./screenshots -every

# What a tag publishes, as a snapshot in dist/.
release:
	$(GO) run github.com/goreleaser/goreleaser/v2@v2.15.0 release --snapshot --clean
