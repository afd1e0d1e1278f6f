package reference

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"boon.example/internal/gift/operation"
)

// sample is a call as a program makes it.
type sample struct{ Language, Name, Text string }

// samples writes the call in every language: by our client, where there is one. Each finds the service's address and
// its key in the environment, so that no key stands in a program. One that changes something shows the safe way: its
// Idempotency-Key is kept first, an attempt ends after 5 seconds, and is repeated with a random pause under that key;
// what a guest waits for is then undone by it.
func (c call) samples() []sample {
	return []sample{{"curl", "curl", c.curl()}, {"go", "Go", c.golang()}, {"ts", "TypeScript", c.typescript()},
		{"python", "Python", c.python()}, {"php", "PHP", c.php()}}
}

// keptFirst and undone are said in every language.
const (
	keptFirst = "One key for one call, kept before it: run again, this repeats the same call, which takes effect once."
	undone    = "No answer to three tries: undo it by its key, until that is answered, also hours later."
	safely    = "No answer to three tries: it is undone. Voided: nothing is taken. UnknownOutcome: undo it by the key."
)

// keyFile is where a sample keeps its Idempotency-Key; it stands for a column of the caller's database.
func (c call) keyFile() string { return path.Base(c.path) + ".key" }

// theKey stands for the Idempotency-Key of a call until a language writes the name of its variable.
const theKey = "THE KEY"

// undo is the call that undoes this one.
func (c call) undo() (u call, is bool) {
	this := operation.Name(kebab(c.id))
	by := this.UndoneBy()
	if by == "" {
		return call{}, false
	}
	all := map[string]json.RawMessage{}
	add := func(name, value string) {
		if value != "" {
			all[name], _ = json.Marshal(value) // a text can be JSON
		}
	}
	add("idempotencyKey", theKey)
	if by.Undoes()[0] != this { // the first is meant where none is named
		add("operation", string(this))
	}
	names := []string{"voucherID", "voucherCode", "voucherPublicToken"}
	if by == operation.ReverseRedemption {
		names = append(names, "organizationID")
		add("reason", "no answer")
	}
	for _, m := range (node{raw: json.RawMessage(c.body)}).members() {
		if slices.Contains(names, m.name) {
			all[m.name] = m.raw
		}
	}
	body, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err) // its members are JSON
	}
	at := path.Dir(c.path) + "/" + string(by)
	return call{id: camel(by), method: "POST", path: at, address: at, body: string(body), once: true}, true
}

var capitals = regexp.MustCompile("([A-Z])")

// kebab is the name of an operation as it stands in addresses.
func kebab(operation string) string {
	return strings.ToLower(capitals.ReplaceAllString(operation, "-$1"))
}

// camel is the operationId of an operation.
func camel(o operation.Name) string {
	first, rest, _ := strings.Cut(string(o), "-")
	for word := range strings.SplitSeq(rest, "-") {
		first += strings.ToUpper(word[:1]) + word[1:]
	}
	return first
}

// seconds are how long an attempt waits: 5, as a till does, but for what the service may take longer for.
func (c call) seconds() int {
	if c.uploads {
		return 660
	}
	slow := slices.Contains([]string{"createStock", "exportStock", "advanceClock", "listEvents"}, c.id)
	if slow {
		return 60
	}
	return 5
}

// lines leaves out the empty ones.
func lines(all ...string) string {
	var b strings.Builder
	for _, line := range all {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func (c call) when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

func (c call) curl() string {
	if c.once {
		return c.curlOnce()
	}
	parts := []string{fmt.Sprintf(`curl -sS --max-time %d -X %s "$BOON_URL%s"`, c.seconds(), c.method, c.address)}
	if c.method == "GET" || c.id == "validateGift" { // which may be repeated, as they change nothing
		parts[0] = strings.Replace(parts[0], " -X", " --retry 2 -X", 1)
	}
	if !c.open {
		parts = append(parts, `-H "Authorization: $BOON_KEY"`)
	}
	if c.uploads {
		parts = append(parts, `-H "Content-Type: text/csv"`, "--data-binary @cards.csv")
	}
	if c.body != "" {
		parts = append(parts, `-H "Content-Type: application/json"`, "-d "+quoted(c.body))
	}
	return strings.Join(parts, " \\\n  ") + "\n"
}

// curlOnce is a script for bash.
func (c call) curlOnce() string {
	made := fmt.Sprintf(`post %s "$key" %s`, c.address, quoted(c.body))
	if u, is := c.undo(); is {
		body := strings.ReplaceAll(quoted(u.body), theKey, `'"$key"'`)
		made += " || {\n  # " + undone + "\n  until post " + u.address + ` "undo-$key" ` + body + "\n  do sleep 60; done\n}\n"
	} else {
		made += " ||\n  echo 'No answer: run this again, also hours later.'\n"
	}
	return fmt.Sprintf(`# %[1]s
[ -s %[2]s ] || openssl rand -hex 16 > %[2]s
key=$(cat %[2]s)

post() { # PATH KEY BODY: three tries of %[3]d seconds under one key
  for pause in 0 200 500; do
    [ $pause = 0 ] || sleep 0.$((pause + RANDOM %% pause))
    answer=$(curl -sS --max-time %[3]d -w ' %%{http_code}' "$BOON_URL$1" -H "Authorization: $BOON_KEY" \
      -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3") &&
      case $answer in
        *REQUEST_IN_PROGRESS* | *' 429' | *' 5'??) ;; # not yet
        *'"requestID"'*) echo "${answer%% *}"; return ;;
      esac
  done
  return 1
}

`, keptFirst, c.keyFile(), c.seconds()) + made
}

// quoted is a text in a shell's quotes.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
