package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/post/message"
	"boon.example/internal/refusal"
	"boon.example/internal/sealed"
	"boon.example/internal/store/transfer"
)

// rotate does both steps of a rotation.
func rotate(t *testing.T, s *Store) {
	t.Helper()
	added, err := s.AddKey(t.Context())
	must(t, err)
	used, err := s.UseKey(t.Context())
	must(t, err)
	if added != used || s.Keys().Current() != used {
		t.Fatalf("key %d was added, %d is used, %d is current", added, used, s.Keys().Current())
	}
}

func finds(t *testing.T, s *Store, gifts []gift.Gift) {
	t.Helper()
	for _, g := range gifts {
		byCode, err := s.GiftByCode(t.Context(), g.Card.Code)
		must(t, err)
		byToken, err := s.GiftByToken(t.Context(), g.Card.Token)
		must(t, err)
		if byCode.ID != g.ID || byToken.ID != g.ID || byCode.Card.Code != g.Card.Code {
			t.Errorf("gift %s is found as %s and %s", g.ID, byCode.ID, byToken.ID)
		}
	}
}

func verified(t *testing.T, s *Store) {
	t.Helper()
	r, err := verify.All(t.Context(), s, 2, func(int64, int64) {})
	must(t, err)
	if len(r.Problems) > 0 {
		t.Errorf("verify: %v", r.Problems)
	}
}

// TestRotation: two instances with one key file; what was made before each step, and during it, is found by both.
func TestRotation(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, again := open(t)
			b := again()
			account := newID()
			gifts := issue(t, a, account, 3)
			message := message.Message{ID: newID(), GiftID: gifts[0].ID, Text: "Hello", At: noon}
			must(t, a.KeepMessage(t.Context(), message))
			sold := ledger.Request{RequestKey: ledger.RequestKey{AccountID: account, Operation: operation.SendGift, Key: "k"},
				Fingerprint: a.Keys().Fingerprint([]byte("sell")), Answer: ledger.Answer{Code: ledger.OK, Body: []byte("sold")},
				At: noon}
			save(t, a, ledger.Changes{Requests: []ledger.Request{sold}})
			for range 2 {
				_, err := a.AddKey(t.Context())
				must(t, err)
				if _, err := a.AddKey(t.Context()); err == nil || !strings.Contains(err.Error(), "not used yet") {
					t.Errorf("a second key was added while one waits: %v", err)
				}
				gifts = append(gifts, issue(t, a, account, 1)...) // with the old key still
				used, err := a.UseKey(t.Context())
				must(t, err)
				// b was told nothing, and finds what it never had the key for.
				fresh := issue(t, a, account, 1)
				finds(t, b, fresh)
				gifts = append(append(gifts, fresh...), issue(t, b, account, 1)...)
				if _, err := b.Directory(t.Context()); err != nil || b.Keys().Current() != used {
					t.Errorf("b makes with key %d after it looked at the set-up, want %d: %v", b.Keys().Current(), used, err)
				}
				gifts = append(gifts, issue(t, b, account, 1)...)
				if _, err := a.UseKey(t.Context()); err == nil {
					t.Error("a key was used that nobody added")
				}
			}
			c := again() // an instance that starts later
			if c.Keys().Current() != 3 {
				t.Errorf("a new instance makes with key %d, want 3", c.Keys().Current())
			}
			for _, s := range []*Store{a, b, c} {
				finds(t, s, gifts)
				if _, err := s.GiftByCode(t.Context(), newCode()); !errors.Is(err, refusal.NotFound) {
					t.Errorf("an unknown code: %v, want gift.NotFound", err)
				}
				verified(t, s)
				if m, err := s.Message(t.Context(), message.ID); err != nil || m.Text != "Hello" {
					t.Errorf("a message: %q, %v", m.Text, err)
				}
				r, err := s.Requests(t.Context(), account, operation.SendGift, "k")
				if err != nil || len(r) != 1 || string(r[0].Answer.Body) != "sold" {
					t.Fatalf("an answer: %v, %v", r, err)
				}
				if same, err := s.Keys().Fingerprinted(r[0].Fingerprint, []byte("sell")); !same || err != nil {
					t.Errorf("its request is not told from another: %v", err)
				}
			}
			status, err := a.KeyStatus(t.Context())
			must(t, err)
			made := []int64{2 * (3 + 1), 2 * (1 + 2 + 1), 2 * (1 + 2)} // a code and a token of each gift
			if len(status) != len(made) {
				t.Fatalf("status: %+v", status)
			}
			for i, k := range status {
				if k.Made != made[i] || k.Used != (i == 2) {
					t.Errorf("status: %+v", k)
				}
			}
		})
	}
}

// TestCodesStayUniqueAcrossKeys: a code that an earlier key made is taken.
func TestCodesStayUniqueAcrossKeys(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			old := issue(t, s, newID(), 1)[0].Card.Code
			rotate(t, s)
			free := newCode()
			runGroup(t, s, ledger.Want{Codes: []codes.VoucherCode{old, free}}, func(st *ledger.State) ledger.Changes {
				if !st.Codes[old] || st.Codes[free] {
					t.Errorf("taken: %t and %t, want true and false", st.Codes[old], st.Codes[free])
				}
				return ledger.Changes{}
			})
			g, e := newGift(newID())
			g.Card.Code = old
			asked := 0
			runGroup(t, s, ledger.Want{Gifts: []*gift.Gift{&g}}, func(st *ledger.State) ledger.Changes {
				if asked++; st.Codes[old] {
					return ledger.Changes{}
				}
				return ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}}
			})
			if asked != 1 {
				t.Errorf("it was decided %d times on a code that an earlier key made", asked)
			}
		})
	}
}

// TestInstanceWithoutTheKey: one whose key file was not replaced, or whose operator added another key to it, says of
// nothing that it does not exist, and is well as soon as it has the file.
func TestInstanceWithoutTheKey(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		for _, mistake := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/another=%t", name, mistake), func(t *testing.T) {
				t.Parallel()
				s, again := open(t)
				forgotten(t, s, again(), mistake)
			})
		}
	}
}

func forgotten(t *testing.T, s, behind *Store, mistake bool) {
	account := newID()
	old := issue(t, s, account, 1)
	elsewhere := filepath.Join(t.TempDir(), sealed.FileName)
	copyFile(t, s.db.KeyFile.Path, elsewhere)
	if mistake {
		_, err := sealed.Add(elsewhere)
		must(t, err)
	}
	var err error
	behind.db.KeyFile.Path = elsewhere
	behind.db.Keys, err = sealed.Load(elsewhere)
	must(t, err)
	rotate(t, s)
	fresh := issue(t, s, account, 1)

	finds(t, behind, old)
	for _, c := range []codes.VoucherCode{fresh[0].Card.Code, newCode()} {
		if _, err := behind.GiftByCode(t.Context(), c); err == nil || errors.Is(err, refusal.NotFound) || !mistake &&
			!behind.Away(err) {
			t.Errorf("a code that it cannot look for: %v, want the key that is lacking", err)
		}
	}
	if err := behind.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), elsewhere) {
		t.Errorf("Ping: %v, want the file that lacks a key", err)
	}
	if _, err := behind.UseKey(t.Context()); err == nil {
		t.Error("an instance that lacks the key in use could change it")
	}
	if _, err := behind.Directory(t.Context()); err != nil {
		t.Errorf("the set-up must be seen still, with the API keys that were revoked: %v", err)
	}
	copyFile(t, s.db.KeyFile.Path, elsewhere)
	finds(t, behind, append(old, fresh...))
	must(t, behind.Ping(t.Context()))
	if behind.Keys().Current() != 2 {
		t.Errorf("it makes with key %d, want 2", behind.Keys().Current())
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, text, 0o600))
}

// TestCopyKeepsTheKeyInUse: what was rotated away from is not taken up again by moving.
func TestCopyKeepsTheKeyInUse(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
	s := openDir(t, from)
	gifts := issue(t, s, newID(), 2)
	rotate(t, s)
	gifts = append(gifts, issue(t, s, gifts[0].AccountID, 2)...)
	must(t, s.Close())
	r, err := transfer.Copy(t.Context(), Options{Dir: from}, Options{Dir: to}, func(string, int64, int64) {})
	must(t, err)
	moved := openDir(t, to)
	if len(r.Differences) > 0 || moved.Keys().Current() != 2 {
		t.Errorf("the copy makes with key %d, want 2; %v", moved.Keys().Current(), r.Differences)
	}
	finds(t, moved, gifts)
}
