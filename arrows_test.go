package boon_test

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// arrows says which of our packages each package may import. What is not listed here fails the test, so that a new
// package is a decision. One import stands in one line, sorted, so that two changes beside each other merge.
var arrows = map[string][]string{
	"client": {},
	"cmd/boon": {
		"client",
		"examples",
		"internal/base/certificate",
		"internal/base/clientip",
		"internal/base/durable",
		"internal/base/nice",
		"internal/base/normalize",
		"internal/base/openid",
		"internal/base/telemetry",
		"internal/books",
		"internal/cashout",
		"internal/chain",
		"internal/command/access",
		"internal/command/agents",
		"internal/command/bench",
		"internal/command/demo",
		"internal/command/doctor",
		"internal/command/manual",
		"internal/command/movein",
		"internal/command/remote",
		"internal/command/reports",
		"internal/command/terminal",
		"internal/event",
		"internal/export",
		"internal/gift",
		"internal/ledger",
		"internal/ledger/verify",
		"internal/merchant",
		"internal/pin",
		"internal/post/mail",
		"internal/post/print",
		"internal/post/sms",
		"internal/post/webhook",
		"internal/sealed",
		"internal/server",
		"internal/setup",
		"internal/setup/document",
		"internal/setup/written",
		"internal/staff",
		"internal/store",
		"internal/store/erase",
		"internal/store/transfer",
	},
	"docs":                      {},
	"examples":                  {},
	"internal/base/admission":   {},
	"internal/base/certificate": {},
	"internal/base/clientip":    {},
	"internal/base/connections": {
		"internal/base/clientip",
	},
	"internal/base/durable": {},
	"internal/base/fair": {
		"internal/gift",
	},
	"internal/base/jsontape":  {},
	"internal/base/nice":      {},
	"internal/base/normalize": {},
	"internal/base/jwks":      {},
	"internal/base/openid":    {},
	"internal/base/phone": {
		"internal/base/phrase",
	},
	"internal/base/phrase": {},
	"internal/base/publickey": {
		"internal/base/phrase",
	},
	"internal/base/ratelimit":   {},
	"internal/base/scratch":     {},
	"internal/base/slowhash":    {},
	"internal/base/span":        {},
	"internal/base/spreadsheet": {},
	"internal/base/telemetry": {
		"internal/base/span",
	},
	"internal/books": {
		"internal/gift",
		"internal/merchant",
	},
	"internal/books/journal": {
		"internal/base/spreadsheet",
		"internal/books",
		"internal/merchant",
	},
	"internal/books/report": {
		"internal/books",
	},
	"internal/calendar": {},
	"internal/cashout": {
		"internal/gift",
		"internal/merchant",
		"internal/wire",
	},
	"internal/chain": {
		"internal/gift",
		"internal/sealed",
	},
	"internal/command/access": {
		"internal/base/clientip",
		"internal/command/terminal",
		"internal/guid",
		"internal/merchant",
		"internal/setup",
		"internal/store",
	},
	"internal/command/agents": {
		"internal/command/terminal",
	},
	"internal/command/bench": {
		"client",
		"internal/command/load",
		"internal/command/remote",
		"internal/command/terminal",
	},
	"internal/command/demo": {
		"client",
		"examples",
		"internal/command/terminal",
	},
	"internal/command/doctor": {
		"internal/command/terminal",
		"internal/sealed",
		"internal/server",
		"internal/store",
	},
	"internal/command/load":   {},
	"internal/command/manual": {},
	"internal/command/movein": {
		"internal/base/durable",
		"internal/base/nice",
		"internal/command/terminal",
		"internal/event",
		"internal/export",
		"internal/gift",
		"internal/guid",
		"internal/intake",
		"internal/intake/page",
		"internal/merchant",
		"internal/money",
		"internal/post/print",
		"internal/store",
	},
	"internal/command/remote": {
		"client",
		"internal/command/terminal",
		"internal/gift",
		"internal/gift/codes",
		"internal/merchant",
		"internal/post/qr",
		"internal/post/webhook",
	},
	"internal/command/reports": {
		"client",
		"internal/books/journal",
		"internal/command/remote",
		"internal/command/terminal",
	},
	"internal/command/terminal": {
		"internal/pin",
	},
	"internal/contact": {
		"internal/base/phone",
		"internal/base/phrase",
		"internal/refusal",
	},
	"internal/event": {
		"internal/gift",
		"internal/merchant",
	},
	"internal/export": {
		"internal/base/spreadsheet",
		"internal/gift",
		"internal/merchant",
		"internal/wire",
	},
	"internal/face/agent": {
		"docs",
		"internal/base/admission",
		"internal/ledger",
		"internal/merchant",
		"internal/refusal",
		"internal/service",
	},
	"internal/face/api": {
		"internal/base/admission",
		"internal/base/fair",
		"internal/event",
		"internal/face/api/gifts",
		"internal/face/api/manage",
		"internal/face/api/payload",
		"internal/face/api/reports",
		"internal/face/reference",
		"internal/gift",
		"internal/gift/codes",
		"internal/gift/operation",
		"internal/ledger",
		"internal/merchant",
		"internal/post/card",
		"internal/service",
		"internal/wire",
	},
	"internal/face/api/gifts": {
		"internal/base/fair",
		"internal/base/normalize",
		"internal/face/api/outcome",
		"internal/face/api/payload",
		"internal/gift",
		"internal/gift/codes",
		"internal/gift/operation",
		"internal/ledger",
		"internal/merchant",
		"internal/order",
		"internal/post/card",
		"internal/sale",
		"internal/service",
		"internal/ticket",
		"internal/ticket/format",
		"internal/wire",
	},
	"internal/face/api/manage": {
		"internal/base/clientip",
		"internal/base/fair",
		"internal/base/ratelimit",
		"internal/base/scratch",
		"internal/base/spreadsheet",
		"internal/event",
		"internal/export",
		"internal/face/api/payload",
		"internal/gift",
		"internal/gift/codes",
		"internal/intake",
		"internal/intake/page",
		"internal/ledger",
		"internal/ledger/engine",
		"internal/merchant",
		"internal/pin",
		"internal/post/print",
		"internal/service",
		"internal/wire",
	},
	"internal/face/api/outcome": {
		"internal/face/api/payload",
		"internal/gift",
		"internal/gift/codes",
		"internal/ledger",
		"internal/wire",
	},
	"internal/face/api/payload": {
		"internal/event",
		"internal/gift",
		"internal/gift/codes",
		"internal/gift/operation",
		"internal/merchant",
		"internal/ticket",
		"internal/wire",
	},
	"internal/face/api/reports": {
		"internal/base/fair",
		"internal/base/spreadsheet",
		"internal/books",
		"internal/books/journal",
		"internal/books/report",
		"internal/event",
		"internal/face/api/payload",
		"internal/ledger",
		"internal/ledger/engine",
		"internal/merchant",
		"internal/service",
		"internal/wire",
	},
	"internal/face/console": {
		"internal/base/fair",
		"internal/base/openid",
		"internal/face/console/desk",
		"internal/face/console/gifts",
		"internal/face/console/moving",
		"internal/face/console/reports",
		"internal/face/console/setup",
		"internal/face/console/signin",
		"internal/face/console/stock",
		"internal/face/console/today",
		"internal/gift",
		"internal/merchant",
		"internal/service",
	},
	"internal/face/console/desk": {
		"internal/base/admission",
		"internal/ledger",
		"internal/merchant",
		"internal/post/card",
		"internal/post/locale",
		"internal/service",
		"internal/staff",
		"internal/wire",
	},
	"internal/face/console/figures": {
		"internal/post/locale",
	},
	"internal/face/console/gifts": {
		"internal/contact",
		"internal/face/console/desk",
		"internal/gift",
		"internal/gift/codes",
		"internal/gift/operation",
		"internal/imports",
		"internal/merchant",
		"internal/post/card",
		"internal/sendlist",
		"internal/service",
		"internal/staff",
	},
	"internal/face/console/moving": {
		"internal/calendar",
		"internal/export",
		"internal/face/console/desk",
		"internal/merchant",
		"internal/money",
		"internal/refusal",
	},
	"internal/face/console/reports": {
		"internal/base/spreadsheet",
		"internal/face/console/desk",
		"internal/face/console/figures",
		"internal/merchant",
		"internal/post/locale",
		"internal/service",
		"internal/staff",
	},
	"internal/face/console/setup": {
		"internal/base/fair",
		"internal/contact",
		"internal/face/console/desk",
		"internal/gift",
		"internal/gift/codes",
		"internal/merchant",
		"internal/post/locale",
		"internal/post/picture",
		"internal/post/qr",
		"internal/service",
		"internal/setup",
		"internal/setup/document",
		"internal/setup/form",
		"internal/setup/written",
	},
	"internal/face/console/signin": {
		"internal/base/clientip",
		"internal/base/fair",
		"internal/base/openid",
		"internal/base/ratelimit",
		"internal/face/console/desk",
		"internal/merchant",
		"internal/post/card",
		"internal/post/qr",
		"internal/service",
		"internal/staff",
	},
	"internal/face/console/stock": {
		"internal/face/console/desk",
		"internal/gift",
		"internal/gift/operation",
		"internal/guid",
		"internal/merchant",
		"internal/money",
		"internal/order",
		"internal/refusal",
		"internal/service",
	},
	"internal/face/console/today": {
		"internal/base/fair",
		"internal/books",
		"internal/face/console/desk",
		"internal/face/console/figures",
		"internal/face/console/gifts",
		"internal/gift",
		"internal/merchant",
		"internal/service",
		"internal/staff",
	},
	"internal/face/provider": {
		"internal/gift",
		"internal/gift/codes",
		"internal/gift/operation",
		"internal/ledger",
		"internal/merchant",
		"internal/service",
	},
	"internal/face/reference": {
		"client",
		"docs",
		"internal/gift",
		"internal/gift/operation",
	},
	"internal/face/till": {
		"internal/base/fair",
		"internal/base/ratelimit",
		"internal/event",
		"internal/face/web",
		"internal/gift",
		"internal/merchant",
		"internal/pin",
		"internal/post/card",
		"internal/post/locale",
		"internal/service",
		"internal/wire",
	},
	"internal/face/web": {
		"internal/base/clientip",
		"internal/base/fair",
		"internal/base/ratelimit",
		"internal/event",
		"internal/gift",
		"internal/gift/codes",
		"internal/guest",
		"internal/merchant",
		"internal/post/bars",
		"internal/post/card",
		"internal/post/locale",
		"internal/post/message",
		"internal/post/pass",
		"internal/post/pass/google",
		"internal/post/print",
		"internal/post/qr",
	},
	"internal/gift": {
		"internal/gift/codes",
		"internal/merchant",
	},
	"internal/gift/codes": {
		"internal/merchant",
	},
	"internal/gift/operation": {
		"internal/gift",
		"internal/merchant",
	},
	"internal/guest": {
		"internal/base/normalize",
		"internal/gift",
		"internal/merchant",
	},
	"internal/guid": {},
	"internal/imports": {
		"internal/base/normalize",
		"internal/base/spreadsheet",
		"internal/gift",
		"internal/gift/codes",
		"internal/merchant",
	},
	"internal/intake": {
		"internal/base/nice",
		"internal/books",
		"internal/contact",
		"internal/event",
		"internal/gift",
		"internal/gift/codes",
		"internal/imports",
		"internal/ledger",
		"internal/merchant",
		"internal/money",
		"internal/sealed",
	},
	"internal/intake/page": {
		"internal/intake",
		"internal/post/print",
	},
	"internal/jobs": {},
	"internal/jobs/closing": {
		"internal/books",
		"internal/jobs",
		"internal/merchant",
	},
	"internal/jobs/expiry": {
		"internal/gift",
		"internal/jobs",
		"internal/merchant",
	},
	"internal/jobs/retention": {
		"internal/event",
		"internal/gift",
		"internal/merchant",
		"internal/store",
		"internal/store/erase",
	},
	"internal/ledger": {
		"internal/gift",
		"internal/gift/codes",
		"internal/gift/operation",
		"internal/merchant",
		"internal/sale",
	},
	"internal/ledger/engine": {
		"internal/base/fair",
		"internal/base/span",
		"internal/gift",
		"internal/ledger",
	},
	"internal/ledger/verify": {
		"internal/gift",
		"internal/ledger",
	},
	"internal/merchant": {
		"internal/base/phone",
	},
	"internal/money": {
		"internal/base/phrase",
	},
	"internal/order": {
		"internal/gift",
		"internal/merchant",
	},
	"internal/pin": {
		"internal/base/slowhash",
	},
	"internal/post/bars": {},
	"internal/post/card": {
		"internal/gift",
		"internal/gift/codes",
		"internal/merchant",
		"internal/post/locale",
	},
	"internal/post/delivery": {
		"internal/base/fair",
		"internal/base/span",
		"internal/base/spreadsheet",
		"internal/gift",
		"internal/gift/codes",
		"internal/ledger",
		"internal/merchant",
		"internal/post/card",
		"internal/post/locale",
		"internal/post/message",
		"internal/post/picture",
		"internal/post/print",
		"internal/post/qr",
	},
	"internal/post/guestlink": {
		"internal/gift",
		"internal/guest",
		"internal/merchant",
		"internal/post/card",
		"internal/post/letter",
		"internal/post/locale",
		"internal/post/mail",
		"internal/post/message",
	},
	"internal/post/lease": {},
	"internal/post/letter": {
		"internal/post/card",
		"internal/post/message",
	},
	"internal/post/locale": {
		"internal/gift",
		"internal/merchant",
	},
	"internal/post/mail": {
		"internal/post/message",
	},
	"internal/post/message": {
		"internal/gift",
		"internal/merchant",
	},
	"internal/post/notice": {
		"internal/merchant",
		"internal/post/card",
		"internal/post/letter",
		"internal/post/locale",
		"internal/post/mail",
		"internal/post/message",
		"internal/staff",
	},
	"internal/post/pass": {
		"internal/event",
		"internal/gift",
		"internal/post/card",
		"internal/post/picture",
	},
	"internal/post/pass/google": {
		"internal/event",
		"internal/gift",
		"internal/merchant",
		"internal/post/card",
		"internal/post/locale",
		"internal/post/pass",
	},
	"internal/post/pass/push": {
		"internal/base/fair",
		"internal/event",
		"internal/gift",
		"internal/merchant",
		"internal/post/lease",
		"internal/post/pass",
		"internal/refusal",
	},
	"internal/post/picture": {},
	"internal/post/print": {
		"internal/base/nice",
		"internal/gift",
		"internal/merchant",
		"internal/post/bars",
		"internal/post/card",
		"internal/post/locale",
		"internal/post/qr",
	},
	"internal/post/qr": {},
	"internal/post/sms": {
		"internal/gift",
		"internal/post/message",
	},
	"internal/post/webhook": {
		"internal/base/fair",
		"internal/base/span",
		"internal/event",
		"internal/gift",
		"internal/merchant",
		"internal/post/lease",
	},
	"internal/refusal": {
		"internal/base/phrase",
	},
	"internal/sale": {
		"internal/gift",
	},
	"internal/sealed": {
		"internal/base/durable",
		"internal/gift",
		"internal/gift/codes",
	},
	"internal/sendlist": {
		"internal/gift",
		"internal/imports",
	},
	"internal/server": {
		"internal/base/admission",
		"internal/base/certificate",
		"internal/base/clientip",
		"internal/base/connections",
		"internal/base/fair",
		"internal/base/jwks",
		"internal/base/nice",
		"internal/base/openid",
		"internal/base/span",
		"internal/base/telemetry",
		"internal/event",
		"internal/face/agent",
		"internal/face/api",
		"internal/face/api/manage",
		"internal/face/console",
		"internal/face/console/gifts",
		"internal/face/console/setup",
		"internal/face/console/signin",
		"internal/face/provider",
		"internal/face/till",
		"internal/face/web",
		"internal/gift",
		"internal/gift/codes",
		"internal/gift/operation",
		"internal/jobs",
		"internal/jobs/closing",
		"internal/jobs/expiry",
		"internal/jobs/retention",
		"internal/ledger",
		"internal/ledger/engine",
		"internal/ledger/verify",
		"internal/merchant",
		"internal/post/delivery",
		"internal/post/guestlink",
		"internal/post/mail",
		"internal/post/message",
		"internal/post/notice",
		"internal/post/pass",
		"internal/post/pass/google",
		"internal/post/pass/push",
		"internal/post/print",
		"internal/post/sms",
		"internal/post/webhook",
		"internal/sealed",
		"internal/service",
		"internal/setup",
		"internal/staff",
		"internal/store",
	},
	"internal/service": {
		"internal/base/admission",
		"internal/base/clientip",
		"internal/base/fair",
		"internal/base/nice",
		"internal/base/normalize",
		"internal/base/ratelimit",
		"internal/cashout",
		"internal/event",
		"internal/gift",
		"internal/gift/codes",
		"internal/gift/operation",
		"internal/ledger",
		"internal/ledger/engine",
		"internal/merchant",
		"internal/post/locale",
		"internal/wire",
	},
	"internal/setup": {
		"internal/base/normalize",
		"internal/gift",
		"internal/merchant",
		"internal/post/card",
		"internal/post/pass",
		"internal/setup/document",
		"internal/setup/told",
		"internal/wire",
	},
	"internal/setup/document": {
		"internal/base/clientip",
		"internal/base/normalize",
		"internal/base/publickey",
		"internal/event",
		"internal/gift",
		"internal/merchant",
		"internal/pin",
		"internal/post/pass",
		"internal/post/pass/google",
		"internal/post/picture",
		"internal/setup/told",
		"internal/setup/written",
		"internal/ticket/format",
		"internal/wire",
	},
	"internal/setup/form": {
		"internal/merchant",
		"internal/setup/document",
		"internal/ticket/format",
	},
	"internal/setup/told": {
		"internal/contact",
		"internal/merchant",
	},
	"internal/setup/written": {
		"internal/merchant",
	},
	"internal/staff": {
		"internal/base/normalize",
		"internal/base/slowhash",
		"internal/merchant",
	},
	"internal/store": {
		"internal/base/ratelimit",
		"internal/base/span",
		"internal/books",
		"internal/chain",
		"internal/event",
		"internal/gift",
		"internal/gift/codes",
		"internal/gift/operation",
		"internal/intake",
		"internal/ledger",
		"internal/merchant",
		"internal/post/message",
		"internal/sealed",
		"internal/store/breakage",
		"internal/store/check",
		"internal/store/db",
		"internal/store/erase",
		"internal/store/feed",
		"internal/store/guests",
		"internal/store/hooks",
		"internal/store/imported",
		"internal/store/lookup",
		"internal/store/misses",
		"internal/store/passes",
		"internal/store/record",
		"internal/store/sendlists",
		"internal/store/setup",
		"internal/store/staff",
		"internal/store/sums",
		"internal/store/tables",
	},
	"internal/store/breakage": {
		"internal/books",
		"internal/event",
		"internal/store/db",
		"internal/store/setup",
	},
	"internal/store/check": {
		"internal/books",
		"internal/chain",
		"internal/event",
		"internal/gift",
		"internal/gift/operation",
		"internal/ledger",
		"internal/ledger/verify",
		"internal/merchant",
		"internal/store/breakage",
		"internal/store/db",
		"internal/store/imported",
		"internal/store/record",
		"internal/store/setup",
		"internal/store/sums",
	},
	"internal/store/db": {
		"internal/base/durable",
		"internal/base/nice",
		"internal/chain",
		"internal/gift",
		"internal/sealed",
		"internal/store/files",
	},
	"internal/store/erase": {
		"internal/base/normalize",
		"internal/chain",
		"internal/event",
		"internal/gift",
		"internal/gift/operation",
		"internal/ledger",
		"internal/merchant",
		"internal/post/message",
		"internal/sealed",
		"internal/store/db",
		"internal/store/files",
		"internal/store/lookup",
		"internal/store/record",
	},
	"internal/store/feed": {
		"internal/base/fair",
		"internal/event",
		"internal/gift",
		"internal/ledger",
		"internal/merchant",
		"internal/store/db",
		"internal/store/record",
	},
	"internal/store/files": {
		"internal/base/durable",
		"internal/chain",
		"internal/sealed",
	},
	"internal/store/guests": {
		"internal/guest",
		"internal/store/db",
	},
	"internal/store/hooks": {
		"internal/event",
		"internal/gift",
		"internal/merchant",
		"internal/sealed",
		"internal/store/db",
		"internal/store/lease",
	},
	"internal/store/imported": {
		"internal/event",
		"internal/gift",
		"internal/gift/codes",
		"internal/intake",
		"internal/ledger",
		"internal/store/db",
		"internal/store/feed",
		"internal/store/record",
		"internal/store/setup",
		"internal/store/sums",
	},
	"internal/store/lease": {
		"internal/store/db",
	},
	"internal/store/lookup": {
		"internal/base/fair",
		"internal/event",
		"internal/gift",
		"internal/gift/codes",
		"internal/ledger",
		"internal/store/db",
		"internal/store/record",
	},
	"internal/store/misses": {
		"internal/base/ratelimit",
		"internal/event",
		"internal/gift",
		"internal/merchant",
		"internal/store/db",
		"internal/store/feed",
	},
	"internal/store/passes": {
		"internal/event",
		"internal/merchant",
		"internal/sealed",
		"internal/store/db",
		"internal/store/lease",
	},
	"internal/store/record": {
		"internal/chain",
		"internal/gift",
		"internal/gift/codes",
		"internal/gift/operation",
		"internal/ledger",
		"internal/merchant",
		"internal/sealed",
		"internal/store/db",
	},
	"internal/store/sendlists": {
		"internal/sendlist",
		"internal/store/db",
	},
	"internal/store/setup": {
		"internal/chain",
		"internal/event",
		"internal/gift",
		"internal/merchant",
		"internal/sealed",
		"internal/store/db",
		"internal/store/feed",
	},
	"internal/store/staff": {
		"internal/event",
		"internal/staff",
		"internal/store/db",
		"internal/store/setup",
	},
	"internal/store/sums": {
		"internal/base/nice",
		"internal/books",
		"internal/gift",
		"internal/merchant",
		"internal/store/db",
		"internal/store/record",
	},
	"internal/store/tables": {},
	"internal/store/transfer": {
		"internal/base/durable",
		"internal/gift",
		"internal/ledger",
		"internal/ledger/verify",
		"internal/sealed",
		"internal/store/check",
		"internal/store/db",
		"internal/store/files",
		"internal/store/setup",
		"internal/store/tables",
	},
	"internal/ticket": {
		"internal/gift",
		"internal/merchant",
	},
	"internal/ticket/format": {
		"internal/base/jsontape",
		"internal/base/normalize",
		"internal/gift",
		"internal/ticket",
		"internal/wire",
	},
	"internal/wire": {
		"internal/base/jsontape",
		"internal/base/normalize",
		"internal/gift",
		"internal/gift/codes",
	},
}

// vocabulary are the packages that every other one may import, as they know only each other.
var vocabulary = []string{"internal/base/phrase", "internal/guid", "internal/money", "internal/refusal",
	"internal/contact", "internal/calendar"}

// forTests are the packages that only tests import: they may import what they like, and no product code imports them.
var forTests = []string{"internal/boontest", "internal/face/api/contract", "internal/face/provider/providertest",
	"internal/post/delivery/deliverytest", "internal/base/openid/openidtest", "internal/post/pass/passtest",
	"internal/racetest",
	"internal/refusal/refusaltest", "internal/store/pgtest", "internal/store/storetest",
	"internal/store/storetest/template"}

const module = "boon.example/"

func TestArrowsPointOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from, imports := strings.TrimPrefix(fields[0], module), fields[1:]
		if from+"/" == module || slices.Contains(forTests, from) {
			continue
		}
		allowed, known := arrows[from]
		if !known {
			t.Errorf("package %s has no place in the plan: add it to arrows and to ARCHITECTURE.md", from)
		}
		for _, to := range imports {
			to, ours := strings.CutPrefix(to, module)
			if ours && !slices.Contains(allowed, to) &&
				(!slices.Contains(vocabulary, to) || slices.Contains(vocabulary, from)) {
				t.Errorf("%s imports %s: that arrow is not in the plan", from, to)
			}
			if strings.HasPrefix(from, "internal/base/") && ours && !strings.HasPrefix(to, "internal/base/") &&
				to != "internal/guid" {
				t.Errorf("%s imports %s: what is in base knows nothing of gifts", from, to)
			}
			if from == "internal/gift" && !ours && strings.Contains(to, ".") {
				t.Errorf("internal/gift imports %s: the domain knows the standard library and telephone numbers only", to)
			}
		}
	}
}

// providers are the packages of the protocols of platforms. They are alike: what one may import, all may, and server
// imports each.
var providers = func() (all []string) {
	found, err := filepath.Glob("internal/face/provider/*/*.go")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, file := range found {
		folder := filepath.ToSlash(filepath.Dir(file))
		if !slices.Contains(all, folder) && !slices.Contains(forTests, folder) {
			all = append(all, folder)
		}
	}
	for _, folder := range all {
		arrows[folder] = []string{"internal/base/admission", "internal/base/jwks", "internal/base/publickey",
			"internal/face/provider", "internal/gift", "internal/gift/codes", "internal/gift/operation",
			"internal/ledger", "internal/merchant", "internal/service"}
	}
	arrows["internal/server"] = append(arrows["internal/server"], all...)
	return all
}()

// faces are the packages that speak to callers. They stand side by side on service.
var faces = append([]string{"internal/face/api", "internal/face/console", "internal/face/till"}, providers...)

// TestFacesStandSideBySide: no face needs another one, by whatever way, and what they stand on needs none of them.
func TestFacesStandSideBySide(t *testing.T) {
	for _, from := range append(faces, "internal/service", "internal/face/provider", "internal/base/admission") {
		out, err := exec.Command("go", "list", "-deps", "./"+from).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for _, to := range strings.Fields(string(out)) {
			if to = strings.TrimPrefix(to, module); to != from && slices.Contains(faces, to) {
				t.Errorf("%s needs %s", from, to)
			}
		}
	}
}

// TestClientStandsAlone: the client is a module of its own, which asks for no other.
func TestClientStandsAlone(t *testing.T) {
	const outside = "{{if not .Standard}}{{.ImportPath}}{{end}}"
	for _, ask := range [][]string{{"list", "-m", "all"}, {"list", "-deps", "-test", "-f", outside, "./..."}} {
		out, err := exec.Command("go", append([]string{"-C", "client"}, ask...)...).Output()
		if err != nil {
			t.Fatalf("go %s: %v", ask, err)
		}
		if len(out) == 0 {
			t.Errorf("go %s names nothing", ask)
		}
		for line := range strings.Lines(string(out)) {
			if name := strings.Fields(line)[0]; !strings.HasPrefix(name, module+"client") {
				t.Errorf("the client needs %s", name)
			}
		}
	}
}

// TestMapIsWhole: every package has its line in ARCHITECTURE.md; those of providers share one.
func TestMapIsWhole(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, plan, _ := strings.Cut(string(page), "\n## The map\n")
	plan, _, _ = strings.Cut(plan, "\n## ")
	for _, folder := range slices.Concat(slices.Collect(maps.Keys(arrows)), forTests) {
		name := path.Base(folder)
		if !slices.Contains(providers, folder) && !regexp.MustCompile(`\b`+name+`\b`).MatchString(plan) {
			t.Errorf("the map of ARCHITECTURE.md lacks %s", folder)
		}
	}
}

// TestModulesAreNamed: what is compiled into the program is in THIRD_PARTY.md, with its licence.
func TestModulesAreNamed(t *testing.T) {
	named, err := os.ReadFile("THIRD_PARTY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range compiled(t) {
		_, name, deep := strings.Cut(path, "/") // of modules that share a beginning, it is written once
		if deep && path+"/" != module && !strings.HasPrefix(path, module) &&
			!regexp.MustCompile(`\b`+regexp.QuoteMeta(name[strings.Index(name, "/")+1:])+`\b`).Match(named) {
			t.Errorf("THIRD_PARTY.md lacks %s", path)
		}
	}
}

// compiled lists the modules of the program.
func compiled(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/boon").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
}

// TestModulesOfTestsAreNamed: go.mod asks for modules that only tests import. CONTRIBUTING.md names each of them, and
// why its tests do not move to the module test; it names no other.
func TestModulesOfTestsAreNamed(t *testing.T) {
	program := compiled(t)
	asked, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\nModule | Tests that import it | Why they stay\n---|---|---\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var named, only []string
	for row := range strings.Lines(table) {
		cell, _, _ := strings.Cut(row, " | ")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
			named = append(named, m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(asked), -1) {
		if !slices.Contains(program, m[1]) {
			only = append(only, m[1])
		}
	}
	slices.Sort(named)
	slices.Sort(only)
	if !slices.Equal(named, only) {
		t.Errorf("CONTRIBUTING.md names %q; of go.mod, only tests import %q", named, only)
	}
}

// TestProgramsFit: what is in the module test compiles against the product as it is, which go build ./... does not
// tell.
func TestProgramsFit(t *testing.T) {
	if out, err := exec.Command("go", "-C", "test", "vet", "./...").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// maxCode is how many lines of code a package has at most, so that it can be read in an afternoon. A package that grows
// beyond is cut into parts that somebody new would guess. There is no exception; one would need a sentence here.
const maxCode = 3_000

// TestPackagesFit: no package has more than maxCode lines of code, which are neither blank nor a comment. Tests are not
// counted.
func TestPackagesFit(t *testing.T) {
	for folder := range arrows {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		code := 0
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				code += linesOfCode(t, file)
			}
		}
		if code > maxCode {
			t.Errorf("%s has %d lines of code, %d are the most", folder, code, maxCode)
		}
	}
}

// linesOfCode counts the lines of a file that are neither blank nor a comment.
func linesOfCode(t *testing.T, file string) (code int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			code++
		}
	}
	return code
}
