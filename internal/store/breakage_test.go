package store

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"boon.example/internal/books"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// bookBreakage books an amount for a month, unless the month is booked.
func bookBreakage(t *testing.T, s *Store, account guid.ID, month int) error {
	t.Helper()
	return s.Book(t.Context(), event.TrailEntry{AccountID: account, RequestID: "r"},
		func(earlier []books.Booked) ([]books.Booked, error) {
			for _, b := range earlier {
				if b.Month == month {
					return nil, errBooked
				}
			}
			of := map[books.Estimated]money.Amount{{ProgramID: merchant.BusinessProgram.ID, Currency: dollars}: 825,
				{ProgramID: merchant.PromotionalProgram.ID, Currency: dollars}: -7}
			return books.Book(earlier[:0], of, books.Booked{Month: month, Rate: 750, At: noon,
				KeyID: bookedBy}), nil
		})
}

// bookedBy is the key that books.
var bookedBy = guid.ID{7: 0x70, 15: 9}

var errBooked = errors.New("it is booked")

// testBreakage: what is booked comes back, and is booked once, whoever books at the same time; boon verify names what
// was changed, added and taken away.
func testBreakage(t *testing.T, open opener) {
	s, again := open(t)
	account := newID()
	instances := []*Store{s, again()}
	var all sync.WaitGroup
	var mu sync.Mutex
	booked := 0
	for n := range 6 {
		all.Go(func() {
			err := bookBreakage(t, instances[n%2], account, 202611)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				booked++
			case !errors.Is(err, errBooked):
				t.Errorf("booking fails: %v", err)
			}
		})
	}
	all.Wait()
	must(t, bookBreakage(t, s, account, 202612))
	got, err := s.Booked(t.Context(), account)
	must(t, err)
	if booked != 1 || len(got) != 4 || got[0].Month != 202611 || got[0].Amount != 825 || got[0].Rate != 750 ||
		got[0].ProgramID != merchant.BusinessProgram.ID || got[0].Currency != dollars || !got[0].At.Equal(noon) ||
		got[1].Amount != -7 {
		t.Errorf("booked %d times: %+v", booked, got)
	}
	if other, err := s.Booked(t.Context(), newID()); err != nil || len(other) > 0 {
		t.Errorf("another account has booked %v, %v", other, err)
	}
	named := func() (all []string) {
		t.Helper()
		for _, p := range s.CheckSince(nil, nil).Parts() {
			if p.Name == "booked breakage" {
				must(t, p.Run(t.Context(), func(problem string) { all = append(all, problem) }, func(int64) {}))
			}
		}
		return all
	}
	if found := named(); len(found) > 0 {
		t.Errorf("verify finds %q", found)
	}
	for _, forged := range []string{"rate = rate + 1", "booked_at = booked_at - 86400000000", "key_id = program_id",
		"amount = amount * 2", "decimals = 0"} {
		for _, sign := range []string{">", "<"} { // of the first row of a month, and of another one
			changed := func(set string) {
				run(t, s, `UPDATE breakage SET `+set+` WHERE account_id = $1 AND month = 202611 AND amount `+sign+` 0`, account[:])
			}
			changed(forged)
			if found := named(); !strings.Contains(strings.Join(found, " "), "2026-11") {
				t.Errorf("after %s of an amount %s 0 verify finds %q", forged, sign, found)
			}
			changed(map[bool]string{true: "amount = 825", false: "amount = -7"}[sign == ">"] + ", decimals = 2, rate = 750")
			run(t, s, `UPDATE breakage SET booked_at = $2, key_id = $3 WHERE account_id = $1 AND month = 202611`, account[:],
				noon.UnixMicro(), bookedBy[:])
			if found := named(); len(found) > 0 {
				t.Fatalf("once everything is as it was verify finds %q", found)
			}
		}
	}
	for statement, month := range map[string]string{
		`UPDATE breakage SET amount = amount + 1 WHERE account_id = $1 AND month = 202611 AND amount > 0`: "2026-11",
		`DELETE FROM breakage WHERE account_id = $1 AND month = 202612`:                                   "2026-12",
	} {
		run(t, s, statement, account[:])
		if found := named(); !strings.Contains(strings.Join(found, " "), month) {
			t.Errorf("after %s verify finds %q", statement, found)
		}
	}
}
