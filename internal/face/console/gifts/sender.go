package gifts

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/sendlist"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// Sender works on the lists that staff uploaded: it has the engine look at each order, and once somebody confirmed the
// list, it makes them, one after the other, as calls of whoever confirmed it. The idempotency keys of the orders are
// the list's own. So any number of processes may work on one list, and a list goes on after a crash: each gift is made
// once.
type Sender struct {
	Store      SenderStore
	Directory  func() *merchant.Directory // the newest set-up
	Operations http.Handler               // of the JSON interface
}

// SenderStore is what a Sender needs of a database.
type SenderStore interface {
	ListStore
	// DueSendLists are lists for which there is something to do, in turns.
	DueSendLists(ctx context.Context, now time.Time) ([]sendlist.Ref, error)
	// ClaimSendList gives a list that is due to one process for a while; refusal.NotFound: another one has it.
	ClaimSendList(ctx context.Context, of sendlist.Ref, now time.Time) (sendlist.List, sendlist.Content, error)
	// Members are the staff of an account.
	Members(ctx context.Context, account guid.ID) ([]staff.Member, error)
}

// pauseOfList is how long a list waits that could not go on.
const pauseOfList = 10 * time.Second

// Due are the lists for which there is something to do.
func (s *Sender) Due(ctx context.Context) ([]sendlist.Ref, error) {
	return s.Store.DueSendLists(ctx, time.Now())
}

// Step does the next thing for a list. It tells how many gifts it was about, and whether there is more to do.
func (s *Sender) Step(ctx context.Context, of sendlist.Ref) (done int, more bool, err error) {
	l, content, err := s.Store.ClaimSendList(ctx, of, time.Now())
	if errors.Is(err, refusal.NotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	n, order := l.Next()
	if order == nil {
		return 0, false, nil
	}
	told, err := s.call(ctx, &l, &content, n)
	from := time.Now()
	open := desk.Undecided(err)
	refused, decided := errors.AsType[*refusal.Error](err)
	if err != nil && open == nil && !decided {
		return 0, false, err // the lease ends by itself
	}
	err = s.Store.ChangeSendList(ctx, of.AccountID, of.ID, pausedUntil(from, open), func(l *sendlist.List) error {
		at, is := l.Next()
		switch {
		case at != n || is.Attempt != order.Attempt: // another process was faster
		case open != nil:
			l.Waits = strings.Join(desk.Said(open), " ")
		case l.ConfirmedAt.IsZero():
			l.Looked(n, problems(&content, order, refused)...)
		default:
			l.Made(n, told.OrderID, told.PrintURL, sentences(&content, order, refused), from)
		}
		more = l.Works() && open == nil
		return nil
	})
	if errors.Is(err, refusal.NotFound) { // it was thrown away while it was looked at
		return 0, false, nil
	}
	return order.Rows(), more, err
}

// pausedUntil is when a list is worked on again.
func pausedUntil(now time.Time, open *refusal.Error) time.Time {
	if open != nil {
		return now.Add(pauseOfList)
	}
	return now
}

// made is what is of interest of the answer of send-gift.
type made struct{ OrderID, PrintURL string }

// call has the engine look at an order, or make it.
func (s *Sender) call(ctx context.Context, l *sendlist.List, c *sendlist.Content, n int) (told made, err error) {
	body, err := orderOfList(c, &l.Orders[n])
	if err != nil {
		return told, err
	}
	members, err := s.Store.Members(ctx, l.AccountID)
	if err != nil {
		return told, err
	}
	account := s.Directory().Accounts[l.AccountID]
	at := slices.IndexFunc(members, func(m staff.Member) bool { return m.ID == l.MemberID })
	if account == nil || at < 0 {
		return told, refusal.New(refusal.NotAuthorized, "%s is not of the staff any more. Nothing more is sent for them.",
			l.Member)
	}
	caller := members[at].Caller(account)
	from, err := http.NewRequestWithContext(service.WithCaller(ctx, func(time.Time) (*merchant.Caller, error) {
		return caller, nil
	}), http.MethodPost, "/", nil)
	if err != nil {
		return told, err
	}
	from.Header.Set("Accept-Language", string(members[at].Language)) // in which they read what is wrong
	from.RemoteAddr = net.JoinHostPort(l.Address, "0")
	path, key := gifting+string(operation.SendGift), l.Key(n)
	if l.ConfirmedAt.IsZero() {
		path, key = path+"?dryRun=true", ""
	}
	err = desk.Operate(s.Operations, from, http.MethodPost, path, key, body, &told)
	return told, err
}

// problems is what is wrong with an order, each with its line.
func problems(c *sendlist.Content, o *sendlist.Order, refused *refusal.Error) (all []sendlist.Problem) {
	if refused == nil {
		return nil
	}
	for n, text := range desk.Said(refused) {
		lines, column := c.Places(o, refused.Messages[n].Path)
		if lines == nil {
			all = append(all, sendlist.Problem{Text: text})
		}
		for _, line := range lines {
			all = append(all, sendlist.Problem{Line: line, Column: column, Text: text})
		}
	}
	return all
}

// sentences is the same in sentences; nil: the order was made.
func sentences(c *sendlist.Content, o *sendlist.Order, refused *refusal.Error) (all []string) {
	for _, p := range problems(c, o, refused) {
		if p.Line > 0 {
			p.Text = strconv.Itoa(p.Line) + ": " + p.Text
		}
		all = append(all, p.Text)
	}
	return all
}
