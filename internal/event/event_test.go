package event_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
)

// TestEntriesAreEvents: every kind of entry is an event of a gift, and one of the types that are listed.
func TestEntriesAreEvents(t *testing.T) {
	types := event.Types()
	for _, kind := range gift.Kinds() {
		e := gift.Entry{Kind: kind}
		if !strings.HasPrefix(string(e.EventType()), "gift.") || !slices.Contains(types, e.EventType()) {
			t.Errorf("%s is the event %q", kind, e.EventType())
		}
	}
	if e := (gift.Entry{Kind: gift.Redemption, HoldID: guid.ID{1}}); e.EventType() != gift.EventHoldCaptured {
		t.Errorf("a capture is %q", e.EventType())
	}
	if len(slices.Compact(types)) != len(types) || slices.Contains(types, "") {
		t.Errorf("types %v", types)
	}
}

// TestEventPlaces: a place comes back from what is kept of it.
func TestEventPlaces(t *testing.T) {
	p := event.After(1<<40+3, 512, guid.ID{12: 1, 13: 2, 14: 3, 15: 4})
	if got := event.ParsePlace(p.Bytes()); got != p || p.Mark != [4]byte{1, 2, 3, 4} || p.IsZero() {
		t.Errorf("%v became %v", p, got)
	}
}

// TestEventsAreDocumented: the page about events tells of every type.
func TestEventsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/events.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range event.Types() {
		if !strings.Contains(string(page), "`"+string(kind)+"`") {
			t.Errorf("docs/reference/events.md does not tell of %s", kind)
		}
	}
}
