package client_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/client"
)

// TestEventsFromNowCanBeResumed: also the first of them has a cursor from which it comes again.
func TestEventsFromNowCanBeResumed(t *testing.T) {
	t.Parallel()
	c, s := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("after") == client.EventsFromNow {
			fmt.Fprint(w, `{"events":[],"nextCursor":"here","hasMore":false,"requestID":"r"}`)
			return
		}
		fmt.Fprintf(w, `{"events":[{"id":"e%d"}],"nextCursor":"c%[1]d","hasMore":false,"requestID":"r"}`, n)
	})
	var cursors []string
	f := client.EventsFilter{After: client.EventsFromNow, Types: []string{"gift.*"}, Wait: 5 * time.Second}
	for e, err := range c.Events(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		if cursors = append(cursors, e.Cursor); len(cursors) == 2 {
			break
		}
	}
	if want := []string{"here", "c2"}; !slices.Equal(cursors, want) {
		t.Errorf("the cursors are %q, want %q", cursors, want)
	}
	const first = "/api/integration/events?after=now&type=gift.%2A"
	if got := s.all()[0].uri; got != first {
		t.Errorf("the first call was %s, want %s", got, first)
	}
}

// TestEventsWaitASecondAtLeast: the service waits for whole seconds, and none is no wait.
func TestEventsWaitASecondAtLeast(t *testing.T) {
	t.Parallel()
	c, s := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"events":[{"id":"e"}],"nextCursor":"c","hasMore":false,"requestID":"r"}`)
	})
	for _, err := range c.Events(t.Context(), client.EventsFilter{Wait: time.Millisecond}) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if got, want := s.all()[0].uri, "/api/integration/events?wait=1"; got != want {
		t.Errorf("called %s, want %s", got, want)
	}
}

// TestEventsOfGiftsThatAreGoodForManyItems: a page of 200, each with the gift and its 200 items, is read.
func TestEventsOfGiftsThatAreGoodForManyItems(t *testing.T) {
	t.Parallel()
	item := `{"id":"SQUARE-CATALOG-ITEM-00000001","name":"` + strings.Repeat("Large Oat Milk Latte, ", 3) + `"}`
	event := `{"id":"e","data":{"gift":{"eligibleItems":[` + strings.Repeat(item+",", 199) + item + `]}}}`
	page := `{"events":[` + strings.Repeat(event+",", 199) + event + `],"nextCursor":"c","hasMore":false,"requestID":"r"}`
	c, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, page) })
	n := 0
	for _, err := range c.Events(t.Context(), client.EventsFilter{PageSize: 200}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 200 {
		t.Errorf("%d events, want 200", n)
	}
}
