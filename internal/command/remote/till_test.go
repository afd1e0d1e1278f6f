package remote

import (
	"bytes"
	"strings"
	"testing"

	"boon.example/client"
	"boon.example/internal/post/qr"
)

// TestDrawQR reads the picture on the terminal back.
func TestDrawQR(t *testing.T) {
	t.Parallel()
	code, err := qr.Encode("http://127.0.0.1:8080/till/pair#ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	drawQR(&b, code)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if want := (code.Size + 2*qr.QuietZone + 1) / 2; len(lines) != want {
		t.Fatalf("%d lines, want %d", len(lines), want)
	}
	for y, line := range lines {
		line, ok := strings.CutPrefix(line, "\x1b[38;5;16;48;5;231m")
		line, ends := strings.CutSuffix(line, "\x1b[0m")
		if !ok || !ends {
			t.Fatalf("line %d has the colours of the terminal: %q", y, line)
		}
		for x, r := range []rune(line) {
			for half, dark := range []bool{r == '▀' || r == '█', r == '▄' || r == '█'} {
				if at := 2*y + half - qr.QuietZone; dark != code.Dark(x-qr.QuietZone, at) {
					t.Fatalf("the module %d, %d is drawn wrong", x-qr.QuietZone, at)
				}
			}
		}
	}
}

// TestPersonInHistories: whoever was signed in stands beside the till.
func TestPersonInHistories(t *testing.T) {
	t.Parallel()
	if got := by(&client.Entry{KeyName: "Counter 1", Person: "Ana"}); got != "Counter 1 (Ana)" {
		t.Errorf("reads %s", got)
	}
	if got := by(&client.Entry{KeyName: "Counter 1"}); got != "Counter 1" {
		t.Errorf("reads %s", got)
	}
}
