package boon_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	timeoutRow   = regexp.MustCompile("(?m)^[^|\n]+\\| ([0-9.]+ (?:ms|s|min)) \\| `([a-z/_]+\\.go)` `([A-Za-z_.]+)`")
	timeoutTerm  = regexp.MustCompile(`^(?:(\d+) ?\* ?)?time\.(Millisecond|Second|Minute)$`)
	timeoutUnits = map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute,
		"ms": time.Millisecond, "s": time.Second, "min": time.Minute}
)

// TestTimeoutsAreListed holds the table of timeouts in docs/operating/timeouts.md against the source, in both
// directions.
func TestTimeoutsAreListed(t *testing.T) {
	page, err := os.ReadFile("docs/operating/timeouts.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := timeoutRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 10 {
		t.Fatalf("docs/operating/timeouts.md has a table of %d timeouts", len(rows))
	}
	listed := map[string]bool{}
	for _, row := range rows {
		said, file, name := row[1], row[2], row[3]
		listed[file+" "+name] = true
		if want, ok := timeoutIn(t, file, name); !ok || want != timeoutSaid(t, said) {
			t.Errorf("docs/operating/timeouts.md says %s for %s in %s, which has %v (found: %v)", said, name, file, want, ok)
		}
	}
	declared := regexp.MustCompile(`(?m)^(?:const)?\s*([A-Za-z]*(?:Timeout|Deadline)) += [^\n]*time\.`)
	for _, dir := range []string{"client", "internal/face/api", "internal/face/api/manage", "internal/ledger/engine",
		"internal/server", "internal/service", "internal/store", "internal/store/db", "internal/base/admission",
		"internal/face/till", "internal/face/web"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range declared.FindAllSubmatch(source, -1) {
				if !strings.HasSuffix(file, "_test.go") && !listed[file+" "+string(m[1])] {
					t.Errorf("docs/operating/timeouts.md does not list %s of %s", m[1], file)
				}
			}
		}
	}
}

// timeoutSaid reads "400 ms".
func timeoutSaid(t *testing.T, text string) time.Duration {
	number, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(n * float64(timeoutUnits[unit]))
}

// timeoutIn finds what a file gives to a name: a sum of durations and of names of internal/ledger/engine/heavy.go, or a
// pragma's argument in milliseconds.
func timeoutIn(t *testing.T, file, name string) (sum time.Duration, ok bool) {
	source, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return 0, false
	}
	quoted := regexp.QuoteMeta(name)
	if m := regexp.MustCompile(quoted + `\((\d+)\)`).FindSubmatch(source); m != nil {
		n, err := strconv.Atoi(string(m[1]))
		return time.Duration(n) * time.Millisecond, err == nil
	}
	for _, m := range regexp.MustCompile(`\b`+quoted+` *[:=] *([^,\n/]+)`).FindAllSubmatch(source, -1) {
		if sum, ok = timeoutSum(t, string(m[1])); ok {
			break
		}
	}
	return sum, ok
}

func timeoutSum(t *testing.T, expression string) (sum time.Duration, ok bool) {
	for term := range strings.SplitSeq(expression, "+") {
		term = strings.TrimSpace(term)
		if other, is := strings.CutPrefix(term, "engine."); is {
			d, ok := timeoutIn(t, "internal/ledger/engine/heavy.go", other)
			if !ok {
				return 0, false
			}
			sum += d
			continue
		}
		parts := timeoutTerm.FindStringSubmatch(term)
		if parts == nil {
			return 0, false
		}
		n, _ := strconv.Atoi(parts[1]) // digits, or nothing
		sum += time.Duration(max(n, 1)) * timeoutUnits[parts[2]]
	}
	return sum, true
}
