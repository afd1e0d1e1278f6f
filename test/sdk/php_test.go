package sdk_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"boon.example/examples"
	"boon.example/internal/store/pgtest"
)

// TestShopInPHP runs the example shop of the client in PHP.
func TestShopInPHP(t *testing.T) {
	t.Parallel()
	has(t, "php")
	if got := run(t, service(t), "../../sdk/php", "php", "examples/shop.php"); got != story {
		t.Errorf("the shop tells\n%s", got)
	}
}

// asked is a call as a scripted service got it.
type asked struct{ path, key, body string }

// scripted answers calls in turn, the last answer for ever. An empty answer is a connection that is closed.
func scripted(t *testing.T, answers ...string) (address string, all func() []asked) {
	t.Helper()
	var mu sync.Mutex
	var calls []asked
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		calls = append(calls, asked{r.URL.RequestURI(), r.Header.Get("Idempotency-Key"), string(body)})
		answer := answers[min(len(calls), len(answers))-1]
		mu.Unlock()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, answer) // whoever hung up does not read it
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []asked {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(calls)
	}
}

func reply(status int, kind, body string, headers ...string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n%s", status, kind, len(body),
		strings.Join(append(headers, ""), "\r\n"), body)
}

func refusal(status int, code string, headers ...string) string {
	return reply(status, "application/problem+json", fmt.Sprintf(`{"code":%q,"status":%d,"messages":[{"path":"amount",`+
		`"text":"Because."}],"requestID":"req-1"}`, code, status), headers...)
}

// phpSays runs a program with the client in PHP, and gives what it prints.
func phpSays(t *testing.T, env []string, program string) string {
	t.Helper()
	has(t, "php")
	const head = `require 'boon.php'; use Boon\Amount, Boon\BoonError, Boon\Client;
		function boon(...$more) {
			return new Client(getenv('BOON_URL'), 'boon_test_not_a_real_key', ...$more, pause: 0.001, maxPause: 0.01); }
		function told(callable $call) {
			try { echo json_encode($call(), JSON_UNESCAPED_SLASHES); }
			catch (\Throwable $e) { echo basename(strtr($e::class, '\\', '/')), ' ', $e->code ?? $e->key ?? ''; } }
		`
	return run(t, env, "../../sdk/php", "php", "-d", "display_errors=stderr", "-r", head+program)
}

// TestClientInPHP: what is repeated, what is thrown, and what is refused before anything is sent.
func TestClientInPHP(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	const redeem = `told(fn() => boon()->redeemSafely(new Amount('9.50'), ['voucherID' => 'v'], 'mine'));`
	const dry = `told(fn() => boon()->dryRun()->call('POST', '/api/integration/redemption/redeem-gift',
		['voucherID' => 'v', 'amount' => new Amount('9.50')], 'mine')['dryRun']);`
	const look = `told(fn() => boon()->gift('a/../b?'));`
	const books = `told(fn() => boon()->journal(['from' => '2026-11-01', 'format' => 'xero']));`
	journal := reply(200, "application/json", "{}\n",
		"Content-Digest: sha-256=:yj0WO6sFU4GCciYUBWjzvvfqrBh869doeOC2Pp5EI1Y=:",
		`Boon-Proof: {"reportID":"r-1","sha256":"ca3d"}`)
	const kept = `{"file":"{}\n","proof":"{\"reportID\":\"r-1\",\"sha256\":\"ca3d\"}","reportID":"r-1","sha256":"ca3d"}`
	json := func(body string) string { return reply(200, "application/json", body) }
	done := json(`{"redemptionID":"r1","amount":9.50,"requestID":"q"}`)
	undone := json(`{"reversalID":"u1","requestID":"q"}`)
	const issued = `{"name":"account.issuedPerDay","unit":"minor-units","limit":5,"left":3,"resets":60,"window":90000}`
	counted := reply(200, "application/json", `{"redemptionID":"r1","amount":9.50,"requestID":"q"}`,
		`RateLimit-Policy: "key.giftsPerDay";q=100;qu="gifts";w=90000, "account.issuedPerDay";q=5;qu="minor-units";w=90000`,
		`RateLimit: "account.issuedPerDay";r=3;t=60, "key.giftsPerDay";r=99;t=60, "other";r=1;t=1`)
	for name, tt := range map[string]struct {
		answers []string
		program string
		says    string
		calls   int
	}{
		"done":                  {[]string{done}, redeem, `{"redemptionID":"r1","amount":"9.50","requestID":"q"}`, 1},
		"no answer, then done":  {[]string{"", "", done}, redeem, `{"redemptionID":"r1","amount":"9.50","requestID":"q"}`, 3},
		"a long pause is asked": {[]string{refusal(503, "UNAVAILABLE", "Retry-After: 99"), undone}, redeem, "Voided mine", 2},
		"in progress":           {[]string{refusal(409, "REQUEST_IN_PROGRESS"), done}, redeem, "", 2},
		"a gateway's":           {[]string{reply(502, "text/html", "<p>"), done}, redeem, "", 2},
		"a portal's":            {[]string{reply(200, "text/html", "<p>Sign in"), done}, redeem, "", 2},
		"cut short":             {[]string{done[:len(done)-5], done}, redeem, "", 2},
		"of no redemption":      {[]string{json(`{"requestID":"q"}`), done}, redeem, "", 2},
		"a list":                {[]string{json(`["requestID"]`), json(strings.Repeat("[", 100_000)), done}, redeem, "", 3},
		"chunked": {[]string{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"10\r\n{\"redemptionID\":\r\n14;x\r\n\"r1\",\"requestID\":\"q\"\r\n1\r\n}\r\n0\r\n\r\n"}, redeem, "", 1},
		"a chunk lost": {[]string{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"10\r\n{\"redemptionID\":\r\n", done}, redeem, "", 2},
		"refused":       {[]string{refusal(409, "INSUFFICIENT_BALANCE")}, redeem, "BoonError INSUFFICIENT_BALANCE", 1},
		"too many":      {[]string{refusal(429, "RATE_LIMITED", "Retry-After: 60")}, redeem, "BoonError RATE_LIMITED", 1},
		"voided":        {[]string{"", "", "", undone}, redeem, "Voided mine", 4},
		"it never came": {[]string{"", "", "", refusal(404, "NOT_FOUND")}, redeem, "Voided mine", 4},
		"it was another sale's": {[]string{"", "", "", refusal(422, "IDEMPOTENCY_MISMATCH")}, redeem,
			"BoonError IDEMPOTENCY_MISMATCH", 4},
		"no answer to the reversal": {[]string{""}, redeem, "UnknownOutcome mine", 6},
		"a reversal of nothing":     {[]string{"", "", "", done}, redeem, "UnknownOutcome mine", 6},
		"a refusal after no answer": {[]string{"", refusal(403, "NOT_AUTHORIZED"), undone}, redeem, "Voided mine", 3},
		"a redirect is not followed": {[]string{reply(307, "text/html", "", "Location: http://127.0.0.1:1/")}, look,
			"BoonError ", 1},
		"a look has no answer":      {[]string{""}, look, "Unreachable ", 4},
		"a look at what is no gift": {[]string{json(`{"status":"ok"}`)}, look, "BoonError ", 4},
		"a dry run":                 {[]string{json(`{"redemptionID":"r","dryRun":true,"requestID":"q"}`)}, dry, "true", 1},
		"not a dry run":             {[]string{done}, dry, "NotDry ", 1},
		"a dry run refused":         {[]string{refusal(409, "NOT_FOUND")}, dry, "BoonError NOT_FOUND", 1},
		"a webhook is made only once": {[]string{""},
			`told(fn() => boon()->call('POST', '/api/integration/webhooks', []));`, "UnknownOutcome ", 1},
		"a call gets a key": {[]string{"", json(`{"requestID":"q"}`)},
			`told(fn() => boon()->call('POST', '/api/integration/gifting/block-gift', []));`, "", 2},
		"a file": {[]string{reply(200, "text/csv", "code\r\n1")},
			`echo boon()->file('/api/integration/gifting/orders/o/stock');`, "code\r\n1", 1},
		"reports": {[]string{json(`{"report":{"rows":[{"closing":108.30}]},"requestID":"q"}`)}, `
			$noon = new DateTimeImmutable('2026-11-30T12:00:00-05:00');
			foreach ([boon()->liability(), boon()->liability(['at' => $noon]), boon()->rollForward(['from' => '2026-11-01']),
				boon()->redemptions(['from' => '2026-11-01', 'groupBy' => 'day']), boon()->settlement(['from' => '2026-11-01']),
				boon()->ageing(), boon()->breakage(['rate' => 7.5]), boon()->dormant(['months' => 36])] as $r) {
				echo $r['report']['rows'][0]['closing'], ' '; }`, strings.Repeat("108.30 ", 8), 8},
		"what is left of limits": {[]string{counted, strings.Replace(counted, "q=100", "q=many", 1), done}, `$boon = boon();
			for ($n = 0; $n < 3; $n++) {
				$boon->redeemSafely(new Amount('9.50'), ['voucherID' => 'v'], 'mine');
				echo json_encode($boon->quotas()); }`,
			`[` + issued + `,{"name":"key.giftsPerDay","unit":"gifts","limit":100,"left":99,"resets":60,"window":90000}]` +
				`[` + issued + `][]`, 3},
		"a report in CSV": {[]string{reply(200, "text/csv", "a\r\n1")},
			`echo boon()->file('/api/integration/reports/liability?format=csv');`, "a\r\n1", 1},
		"a journal":                    {[]string{journal}, books, kept, 1},
		"a journal without its proof":  {[]string{strings.Replace(journal, "Boon-P", "Boon-X", 1), journal}, books, kept, 2},
		"a journal of no proof":        {[]string{strings.Replace(journal, "{\"rep", "[{\"rep", 1), journal}, books, kept, 2},
		"a journal that broke":         {[]string{strings.Replace(journal, "{}\n", "{} ", 1), journal}, books, kept, 2},
		"a portal's journal":           {[]string{reply(200, "text/csv", "a"), done, journal}, books, kept, 3},
		"money is no float":            {[]string{""}, `told(fn() => boon()->sendGift(['monetaryGift' => ['value' => 9.5]], 'k'));`, "TypeError ", 0},
		"nothing is slipped in":        {[]string{""}, `told(fn() => boon()->call('GET', "/x\r\nX: y"));`, "ValueError ", 0},
		"nor by a key":                 {[]string{""}, `told(fn() => boon()->sendGift([], "k\r\nX: y"));`, "ValueError ", 0},
		"a key of the API is not told": {[]string{""}, `var_export(str_contains(print_r(boon(), true), 'not_a_real'));`, "false", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, all := scripted(t, tt.answers...)
			said := phpSays(t, append(os.Environ(), "BOON_URL="+address), tt.program)
			if tt.says != "" && said != tt.says || strings.Contains(said, "Error") && tt.says == "" {
				t.Errorf("it says %q, not %q", said, tt.says)
			}
			calls := all()
			if len(calls) != tt.calls {
				t.Errorf("%d calls: %+v", len(calls), calls)
			}
			judgePHP(t, calls)
		})
	}
}

// TestBooksInPHP: a report of a running service closes, and the digest of its journal is read.
func TestBooksInPHP(t *testing.T) {
	t.Parallel()
	env := service(t)
	at := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "BOON_URL=") })
	sold(t, strings.TrimPrefix(env[at], "BOON_URL="))
	said := phpSays(t, env, `$office = new Client(getenv('BOON_URL'), getenv('BOON_OFFICE_KEY'));
		$from = new DateTimeImmutable('-2 days');
		$rolled = $office->rollForward(['from' => $from])['report'];
		$owed = $office->liability(['at' => $rolled['to']])['report']['rows'][0]['owed'];
		$taken = $office->redemptions(['from' => $from])['report']['rows'];
		echo $office->ageing(['at' => $rolled['to']])['report']['rows'][0]['owed'], ' ';
		$lost = $office->breakage(['at' => $rolled['to'], 'rate' => '7.5'])['report'];
		echo $lost['rows'][0]['estimate'], ' ', count($lost['bookings']), ' ';
		echo count($office->dormant(['months' => 36])['report']['rows']), ' ';
		echo count($office->settlement(['from' => $from])['report']['debts']), ' ';
		$days = ['from' => $from->modify('-7 days')->format('Y-m-d'), 'to' => $from->format('Y-m-d')];
		echo $rolled['rows'][0]['issued'], ' ', $rolled['rows'][0]['closing'], ' ', $owed, ' ', count($taken), ' ';
		$journal = $office->journal($days);
		echo str_contains(strtolower($journal['file']), 'debit') ? 'a journal ' : 'no journal ';
		$proof = json_decode($journal['proof'], true);
		echo $proof['sha256'] === hash('sha256', $journal['file']) && $journal['reportID'] === $proof['reportID'] &&
			$proof['name'] === 'journal' && count($proof['chains']) > 0 ? 'and its proof ' : 'and no proof ';
		told(fn() => $office->journal(['from' => 'today']));`)
	if said != "25.00 0.00 0 0 0 25.00 25.00 25.00 0 a journal and its proof BoonError VALIDATION_FAILURE" {
		t.Errorf("it says %q", said)
	}
}

// TestCustomersInPHP: a gift is linked to a customer at a running service, found by that, and let go of.
func TestCustomersInPHP(t *testing.T) {
	t.Parallel()
	env := service(t)
	at := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "BOON_URL=") })
	sold(t, strings.TrimPrefix(env[at], "BOON_URL="))
	said := phpSays(t, env, `$office = new Client(getenv('BOON_URL'), getenv('BOON_OFFICE_KEY'));
		$ids = fn($filter) => array_column(iterator_to_array($office->gifts($filter), false), 'voucherID');
		[$gift] = $ids([]);
		$of = fn() => $ids(['customerID' => 'C-20177']) === [$gift] ? 'it' : count($ids(['customerID' => 'C-20177']));
		echo $office->linkCustomer(['voucherID' => $gift, 'customerID' => 'C-20177'], 'link')['outcome'], ' ', $of(), ' ';
		told(fn() => $office->linkCustomer(['voucherID' => $gift, 'customerID' => 'another'], 'again'));
		echo ' ', $office->unlinkCustomer(['voucherID' => $gift], 'unlink')['outcome'], ' ', $of(), '.';`)
	if said != "DONE it BoonError ALREADY_LINKED DONE 0." {
		t.Errorf("it says %q", said)
	}
}

// TestReceiptsInPHP: two gifts pay for one sale at a running service, a redemption of one has a receipt, and giving the
// sale back gives both back.
func TestReceiptsInPHP(t *testing.T) {
	t.Parallel()
	env := service(t)
	at := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "BOON_URL=") })
	sold(t, strings.TrimPrefix(env[at], "BOON_URL="))
	sold(t, strings.TrimPrefix(env[at], "BOON_URL="))
	said := phpSays(t, env, `$office = new Client(getenv('BOON_URL'), getenv('BOON_OFFICE_KEY'));
		$till = (new Client(getenv('BOON_URL'), getenv('BOON_TILL_KEY')))->receipts();
		$ids = array_column(iterator_to_array($office->gifts(), false), 'voucherID');
		$one = $till->call('POST', '/api/integration/redemption/redeem-gift',
			['voucherID' => $ids[0], 'amount' => new Amount('1.00')], 'one');
		echo count($one['receipt']['lines']) > 3 ? 'receipt ' : 'no receipt ';
		$sale = $till->redeemGifts([['voucherID' => $ids[0]], ['voucherID' => $ids[1]]], ['upTo' => new Amount('30.00')], 'two');
		echo count($sale['redemptions']), isset($sale['receipt']) ? ' receipt ' : ' ', $sale['amount'], ' ';
		$back = $till->reverseRedemption(Amount::all(), ['idempotencyKey' => 'two', 'operation' => 'redeem-gifts'], 'back');
		echo count($back['reversals']), '.';`)
	if said != "receipt 2 30.00 2." {
		t.Errorf("it says %q", said)
	}
}

// judgePHP: attempts of one call are the same, and a reversal names the key and the gift.
func judgePHP(t *testing.T, calls []asked) {
	t.Helper()
	first := map[string]asked{}
	for _, c := range calls {
		if _, known := first[c.path]; !known {
			first[c.path] = c
		}
		if c != first[c.path] {
			t.Errorf("%+v repeats %+v", c, first[c.path])
		}
		switch _, operation, _ := strings.Cut(c.path, "/redemption/"); operation {
		case "redeem-gift":
			if c.key != "mine" || c.body != `{"voucherID":"v","amount":9.50}` {
				t.Errorf("the redemption is %+v", c)
			}
		case "reverse-redemption":
			if c.key == "mine" || c.body != `{"voucherID":"v","idempotencyKey":"mine","operation":"redeem-gift",`+
				`"reason":"no answer to the till"}` {
				t.Errorf("the reversal is %+v", c)
			}
		}
	}
}

// TestSilenceInPHP: a service that says nothing, or a byte now and then, holds the client for the time that it has, and
// no longer; one that is not there is told apart.
func TestSilenceInPHP(t *testing.T) {
	t.Parallel()
	const call = `told(fn() => boon(0.2, 1)->call('POST', '/api/integration/gifting/block-gift', [], 'mine'));`
	for _, said := range []string{"", "HTTP/1.1 200 OK\r\nX: "} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			for err == nil && said != "" {
				_, err = io.WriteString(conn, said)
			}
			_, _ = io.Copy(io.Discard, conn) // until the client hangs up
		}()
		if got := phpSays(t, append(os.Environ(), "BOON_URL=http://"+l.Addr().String()), call); got != "UnknownOutcome mine" {
			t.Errorf("it says %q", got)
		}
		<-gone
	}
	if got := phpSays(t, append(os.Environ(), "BOON_URL=http://127.0.0.1:1"), call); got != "Unreachable " {
		t.Errorf("of no service it says %q", got)
	}
}

// TestTLSInPHP: certificates are checked, and so is the name in them.
func TestTLSInPHP(t *testing.T) {
	t.Parallel()
	has(t, "php")
	env := overTLS(t, service(t))
	var url, file string
	for _, v := range env {
		if at, is := strings.CutPrefix(v, "BOON_TLS_URL="); is {
			url = at
		}
		if at, is := strings.CutPrefix(v, "BOON_TLS_CERT="); is {
			file = at
		}
	}
	for _, tt := range []struct{ url, trusted, says string }{
		{url, file, "BoonError NOT_FOUND"},
		{url, filepath.Join(t.TempDir(), "none"), "Unreachable "},
		{strings.Replace(url, "127.0.0.1", "localhost", 1), file, "Unreachable "},
	} {
		said := phpSays(t, append(env, "BOON_URL="+tt.url, "SSL_CERT_FILE="+tt.trusted, "SSL_CERT_DIR=/none"),
			`told(fn() => (new Client(getenv('BOON_URL'), '`+examples.HarborOfficeKey+`'))->gift('`+
				`01a1f97c-7e44-7b04-8d11-5b0c6b3e9b04'));`)
		if said != tt.says {
			t.Errorf("%s with %s: %q, not %q", tt.url, tt.trusted, said, tt.says)
		}
	}
}
