package sms

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/post/delivery/deliverytest"
)

// fickle is a gateway that does everything that gateways do, by lot. It knows a text by its recipient, who gets one
// only.
type fickle struct{ *deliverytest.Fickle }

// Recipients whose numbers begin so are nobody's, or their gateway's queue is always full.
const nobody, full = "+1415555", "+1415556"

func (f fickle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	to := r.PostForm.Get("To")
	f.Tried(to)
	trick := f.Draw(to)
	switch {
	case strings.HasPrefix(to, nobody):
		http.Error(w, `{"code":21211,"message":"The 'To' number is not a valid phone number."}`, http.StatusBadRequest)
	case strings.HasPrefix(to, full):
		http.Error(w, `{"code":21611,"message":"The queue is full"}`, http.StatusBadRequest)
	case trick == 0: // taken, but a proxy waits for the answer no longer
		f.Took(to, to, true)
		http.Error(w, "<html>", http.StatusGatewayTimeout)
	case trick == 1:
		w.Header().Set("Retry-After", "30")
		http.Error(w, `{"code":20429,"message":"Too Many Requests"}`, http.StatusTooManyRequests)
	case trick == 2: // taken, but the answer is lost
		f.Took(to, to, true)
		panic(http.ErrAbortHandler)
	case trick == 3: // not taken, and the answer is lost
		panic(http.ErrAbortHandler)
	case trick == 4: // taken in the end, long after the sender's timeout
		time.Sleep(2 * answerTimeout)
		f.Took(to, to, true)
	default:
		f.Took(to, to, false)
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"sid":"SM1","status":"queued"}`)
	}
}

// TestEveryTextArrives: through a gateway that refuses, stalls and hangs up, each gift ends as decided. Each text was
// taken exactly once where the answer was known, and at most twice where it was not.
func TestEveryTextArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := deliverytest.NewFickle(3, 4)
		story := &deliverytest.Story{
			Server: f, Carrier: serve(t, f), SendTimeout: time.Minute, Method: contact.SMS, Gifts: 100,
			Somebody: "+1415557", Nobody: nobody, Full: full, Refusal: "21211",
			Contact: func(who string, n int) string { return fmt.Sprintf("%s%04d", who, n) },
		}
		story.Run(t)
	})
}

// serve runs the gateway until the test ends, and gives a carrier to it.
func serve(t *testing.T, f *deliverytest.Fickle) *Carrier {
	dial := f.Serve(t, &http.Server{Handler: fickle{f}, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)})
	c := NewCarrier(Account{SID: "AC1", Token: token, Host: "localhost", From: "+14155550100", Plain: true},
		"https://gifts.example.com")
	c.client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn,
		error) {
		return dial()
	}
	t.Cleanup(c.Close)
	return c
}
