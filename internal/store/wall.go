package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// A wall stands between the accounts: the second one, behind the WHERE of every statement, where the database can build it. Whoever runs
// statements says by their context whose rows they are about: within some accounts, or everywhere. A statement whose context says nothing
// sees no row of any account and can write none.

// sight is whose rows can be seen.
type sight struct {
	all      bool
	accounts []gift.ID
}

type sightKey struct{}

// within is a context for statements on the rows of these accounts.
func within(ctx context.Context, accounts ...gift.ID) context.Context {
	return context.WithValue(ctx, sightKey{}, sight{accounts: accounts})
}

// everywhere is a context for the few statements that by their nature are about the rows of all accounts.
func everywhere(ctx context.Context) context.Context {
	return context.WithValue(ctx, sightKey{}, sight{all: true})
}

const allAccounts = "*"

// sightOf is what the database is told: "" when the context says nothing.
func sightOf(ctx context.Context) string {
	s, said := ctx.Value(sightKey{}).(sight)
	switch {
	case !said:
		return ""
	case s.all:
		return allAccounts
	case len(s.accounts) == 0:
		return ""
	}
	return s.text()
}

// text lists accounts as an array of BYTEA is written, each once and in order, so that equal sights read the same.
func (s sight) text() string {
	accounts := s.accounts
	if len(accounts) > 1 {
		accounts = slices.Clone(accounts)
		slices.SortFunc(accounts, func(a, b gift.ID) int { return bytes.Compare(a[:], b[:]) })
		accounts = slices.Compact(accounts)
	}
	text := make([]byte, 0, 2+len(accounts)*(4+2*len(gift.ID{})))
	text = append(text, '{')
	for i := range accounts {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, `\\x`...)
		text = hex.AppendEncode(text, accounts[i][:])
	}
	return string(append(text, '}'))
}

// wanted are the accounts that a group asks about.
func wanted(w *ledger.Want) (accounts []gift.ID) {
	for _, refs := range [][]ledger.Ref{w.Redemptions, w.Vouchers, w.SentBy, w.Resends, w.Posts, w.Withdrawn} {
		accounts = adding(accounts, refs, func(r *ledger.Ref) gift.ID { return r.AccountID })
	}
	for _, keys := range [][]ledger.RequestKey{w.Requests, w.Undo} {
		accounts = adding(accounts, keys, func(k *ledger.RequestKey) gift.ID { return k.AccountID })
	}
	return adding(accounts, w.Counts, func(k *ledger.CountKey) gift.ID { return k.AccountID })
}

// changed adds the accounts that a group writes to.
func changed(accounts []gift.ID, c *ledger.Changes) []gift.ID {
	accounts = append(accounts, countAccounts(c.Counts)...)
	accounts = adding(accounts, c.Gifts, func(g *gift.Gift) gift.ID { return g.AccountID })
	accounts = adding(accounts, c.Vouchers, func(v *gift.Voucher) gift.ID { return v.AccountID })
	accounts = adding(accounts, c.Entries, func(e *gift.Entry) gift.ID { return e.AccountID })
	accounts = adding(accounts, c.Requests, func(r *ledger.Request) gift.ID { return r.AccountID })
	accounts = adding(accounts, c.Replays, func(k *ledger.RequestKey) gift.ID { return k.AccountID })
	accounts = adding(accounts, c.Jobs, func(j *ledger.Job) gift.ID { return j.AccountID })
	accounts = adding(accounts, c.Moved, func(j *ledger.Job) gift.ID { return j.AccountID })
	accounts = adding(accounts, c.Done, func(d *ledger.Done) gift.ID { return d.AccountID })
	accounts = adding(accounts, c.Resends, func(r *ledger.Resent) gift.ID { return r.AccountID })
	return adding(accounts, c.Ways, func(r *ledger.Redirected) gift.ID { return r.AccountID })
}

// adding leaves out what was added last, so that the list is short where one account does the most.
func adding[T any](accounts []gift.ID, items []T, account func(*T) gift.ID) []gift.ID {
	for i := range items {
		if a := account(&items[i]); len(accounts) == 0 || accounts[len(accounts)-1] != a {
			accounts = append(accounts, a)
		}
	}
	return accounts
}
