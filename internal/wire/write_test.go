package wire

import (
	"bytes"
	"strings"
	"testing"
)

// What a writer has cut off stays as it is when the writer goes on, and is nowhere else.
func TestCut(t *testing.T) {
	t.Parallel()
	w := NewWriter(64)
	for _, text := range []string{"482913576024", strings.Repeat("long", 10_000), "270969856634"} {
		w.Open()
		w.Text("voucherCode", text)
		w.Close()
		got, want := w.Cut(), `{"voucherCode":"`+text+`"}`
		if memory := w.b[:cap(w.b)]; bytes.Contains(memory, []byte(text)) {
			t.Errorf("the writer still has %q", memory)
		}
		w.Open()
		w.Text("voucherCode", "000000000000")
		w.Close()
		if w.Cut(); string(got) != want {
			t.Errorf("%s became %s", want, got)
		}
	}
}
