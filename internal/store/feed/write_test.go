package feed

import (
	"encoding/json"
	"testing"

	"boon.example/internal/event"
	"boon.example/internal/guid"
)

// TestKeptBody: what is kept of an event without an entry is read again, by this program and by those before it.
func TestKeptBody(t *testing.T) {
	t.Parallel()
	id, other := guid.ID{15: 1}, guid.ID{15: 2}
	for _, test := range []struct {
		note event.Note
		kept string
	}{
		{event.Note{}, `{"id":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1]}`},
		{event.Note{GiftID: other},
			`{"id":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1],"gift":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2]}`},
		{event.Note{KeyID: other},
			`{"id":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1],"key":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,2]}`},
	} {
		text, err := json.Marshal(bodyOf(id, test.note))
		if err != nil || string(text) != test.kept {
			t.Errorf("%s is kept (%v), want %s", text, err, test.kept)
		}
		var b body
		if err := json.Unmarshal([]byte(test.kept), &b); err != nil || guid.ID(b.ID) != id || b.note() != test.note {
			t.Errorf("%s is read as %+v, %v", test.kept, b, err)
		}
	}
}
