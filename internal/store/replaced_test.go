package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// replaceCard replaces the card of a voucher so many times in one group, from noon on, and gives the cards.
func replaceCard(t testing.TB, s *Store, v *gift.Voucher, times int) (cards []ledger.Secrets) {
	t.Helper()
	runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(v)}}, func(st *ledger.State) (c ledger.Changes) {
		cards = nil
		after := *st.Vouchers[ref(v)]
		for range times {
			var e gift.Entry
			var err error
			at := noon.AddDate(0, 0, after.Seq)
			after, e, err = after.Replace(gift.Replace{Context: gift.Context{EntryID: newID(), Now: at},
				Caller: &merchant.Caller{}})
			if err != nil {
				t.Fatal(err)
			}
			card := ledger.Secrets{Code: newCode(), Token: newToken()}
			cards, c.Entries = append(cards, card), append(c.Entries, e)
			c.Rekeyed = append(c.Rekeyed, ledger.Rekeyed{AccountID: v.AccountID, VoucherID: v.ID, Secrets: card,
				Replaced: e.Seq})
		}
		c.Vouchers = []gift.Voucher{after}
		return c
	})
	return cards
}

// testReplaced: cards that were replaced are known as such, each with its time, also when a gift was replaced several
// times in a group, or went to somebody else later. What its codes were before that leads nowhere.
func testReplaced(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 2)
	v, first := &g[0].Voucher, ledger.Secrets{Code: g[0].Card.Code, Token: g[0].Card.Token}
	known := func(card ledger.Secrets, replaced time.Time) {
		t.Helper()
		byCode, ofCode := s.GiftByCode(t.Context(), card.Code)
		byToken, ofToken := s.GiftByToken(t.Context(), card.Token)
		for _, err := range []error{ofCode, ofToken} {
			old, ok := errors.AsType[*gift.ReplacedError](err)
			if ok == replaced.IsZero() || ok && (!old.At.Equal(replaced) || old.Voucher.ID != v.ID) {
				t.Errorf("replaced at %v: %v", replaced, err)
			}
		}
		if replaced.IsZero() && (byCode.ID != v.ID || byToken.ID != v.ID) || !replaced.IsZero() &&
			(byCode.ID != guid.ID{} || byToken.ID != guid.ID{}) {
			t.Errorf("they lead to %s and %s", byCode.ID, byToken.ID)
		}
		before := s.CodeLookUps()
		compared, err := s.GiftWithCode(t.Context(), v.AccountID, v.ID, card.Code)
		if diff := cmp.Diff(fmt.Sprint(ofCode), fmt.Sprint(err)); diff != "" || compared.ID != byCode.ID {
			t.Errorf("compared with its own: %s, %s", compared.ID, diff)
		}
		for _, other := range [][2]guid.ID{{v.AccountID, g[1].ID}, {newID(), v.ID}} {
			if _, err := s.GiftWithCode(t.Context(), other[0], other[1], card.Code); !errors.Is(err, refusal.NotFound) {
				t.Errorf("compared with that of gift %s: %v", other[1], err)
			}
		}
		if n := s.CodeLookUps() - before; n != 0 {
			t.Errorf("a comparison looks a code up %d times", n)
		}
	}
	day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
	second := replaceCard(t, s, v, 1)[0]
	known(first, day(1))
	known(second, time.Time{})
	rotate(t, s)
	more := replaceCard(t, s, v, 3)
	known(first, day(1))
	known(second, day(2))
	known(more[0], day(3))
	known(more[1], day(4))
	known(more[2], time.Time{})
	read, err := s.Gift(t.Context(), v.AccountID, v.ID)
	must(t, err)
	if read.Replaced != 5 || read.Card.Code != more[2].Code || read.Card.Token != more[2].Token {
		t.Errorf("it has another code, or says that it was replaced by entry %d", read.Replaced)
	}
	elsewhere := ledger.Secrets{Code: newCode(), Token: newToken()}
	save(t, s, ledger.Changes{Rekeyed: []ledger.Rekeyed{{AccountID: v.AccountID, VoucherID: v.ID, Secrets: elsewhere}}})
	known(second, day(2))
	known(elsewhere, time.Time{})
	for _, err := range []error{errorOf(s.GiftByCode(t.Context(), more[2].Code)),
		errorOf(s.GiftByToken(t.Context(), more[2].Token))} {
		if !errors.Is(err, refusal.NotFound) {
			t.Errorf("a code of before a resend elsewhere: %v", err)
		}
	}
	known(elsewhere, time.Time{})
	taken := map[codes.VoucherCode]bool{}
	runGroup(t, s, ledger.Want{Codes: []codes.VoucherCode{first.Code, elsewhere.Code, more[2].Code}},
		func(st *ledger.State) ledger.Changes { taken = st.Codes; return ledger.Changes{} })
	if !taken[first.Code] || !taken[elsewhere.Code] || taken[more[2].Code] {
		t.Errorf("the codes in use are %v", taken)
	}
}

func errorOf[T any](_ T, err error) error { return err }
