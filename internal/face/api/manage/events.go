package manage

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/face/api/payload"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// Cursors marks cursors, so that what was not made here is known.
type Cursors interface {
	MarkCursor(text []byte) []byte
	CursorMarked(mark, text []byte) bool
}

// The longest that a caller waits for events, and how long such a call takes at most.
const (
	maxWait       = 25 * time.Second
	EventDeadline = maxWait + service.OtherDeadline
)

// ListEvents gives the events of the account after a cursor, the oldest first. With wait, it waits for one.
func ListEvents(c *Call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	query := event.Query{AccountID: c.Account.ID, Types: readEventTypes(q), Locations: c.Caller.Locations,
		Limit: q.Limit()}
	wait := readWait(q)
	now := q.Text("after") == "now"
	if !now {
		query.After = c.readCursor(q, &query)
	}
	if err := q.Err(); err != nil {
		return ledger.Answer{}, err
	}
	if now {
		var err error
		if query.After, err = c.Records.EventsEnd(c.Context(), query.AccountID); err != nil {
			return ledger.Answer{}, service.Stored(err)
		}
	}
	ctx := c.Context()
	if wait > 0 {
		ctx = c.HTTP.Context()
		// fails where there is no connection, and then nothing breaks the wait off
		_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(wait + service.OtherDeadline))
	}
	page, err := c.Records.Await(ctx, query, wait, c.Leave)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	names := payload.NamesFor(c.Caller, c.Account, c.Directory())
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.List("events")
		for n := range page.Events {
			w.Open()
			payload.WriteEvent(w, &page.Events[n], payload.View{Account: c.Account, Now: c.Now, Law: c.CashOutLaw(),
				Pages: c.PublicURL(), Masked: true}, names)
			w.Close()
		}
		w.EndList()
		w.Text("nextCursor", c.eventCursor(&query, page.Next))
		w.Boolean("hasMore", page.More)
	}), nil
}

// readEventTypes reads a list of types with commas between them, where gift.* stands for all that begin so.
func readEventTypes(q *wire.Query) (types []gift.EventType) {
	const name = "type"
	text := q.Line(name, 1_000)
	if text == "" {
		return nil
	}
	for one := range strings.SplitSeq(text, ",") {
		family, all := strings.CutSuffix(one, "*")
		before := len(types)
		for _, t := range event.Types() {
			if string(t) == one || all && strings.HasSuffix(family, ".") && strings.HasPrefix(string(t), family) {
				types = append(types, t)
			}
		}
		if len(types) == before {
			q.Add(name, "There is no such type of event; gift.redeemed is one, gift.* is all of gifts, and a comma is "+
				"between two.")
			return nil
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// readWait reads for how many seconds to wait.
func readWait(q *wire.Query) time.Duration {
	text := q.Text("wait")
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if most := int(maxWait / time.Second); err != nil || n < 0 || n > most || strconv.Itoa(n) != text {
		q.Add("wait", "The wait must be a whole number of seconds from 0 to %d.", most)
		return 0
	}
	return time.Duration(n) * time.Second
}

// placeSize is the length of a place in a cursor; a mark follows it.
const placeSize = 16

// bound is what a cursor is for: an account, types, and a place.
func bound(q *event.Query, place []byte) []byte {
	text := append([]byte(nil), q.AccountID[:]...)
	for _, t := range q.Types {
		text = append(append(text, t...), ' ')
	}
	return append(append(text, 0), place...)
}

// eventCursor names a place for whoever asks the same again.
func (c *Call) eventCursor(q *event.Query, p merchant.EventPlace) string {
	place := p.Bytes()
	return base64.RawURLEncoding.EncodeToString(append(place[:], c.Cursors.MarkCursor(bound(q, place[:]))...))
}

// readCursor reads what eventCursor made for the same account and types.
func (c *Call) readCursor(q *wire.Query, of *event.Query) (p merchant.EventPlace) {
	text := q.Text("after")
	if text == "" {
		return p
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < placeSize || !c.Cursors.CursorMarked(b[placeSize:], bound(of, b[:placeSize])) {
		q.Add("after", "This is not a cursor that this list gave out as nextCursor, for the same types; without one it "+
			"begins with the oldest event, with now after the newest.")
		return p
	}
	return event.ParsePlace([placeSize]byte(b[:placeSize]))
}
