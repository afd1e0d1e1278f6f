// Move measures boon copy: it fills a data folder with gifts that have a history, has the binary copy it, and prints
// what that prints. With -kill, a first copy into another folder is killed -9, and verify must refuse what it left.
//
//	go -C test run ./move -vouchers 100000 -kill 5s
//	go -C test run ./move -vouchers 1000000 -to postgres://boon@127.0.0.1/boon
//
// Each gift is issued, redeemed twice, and given back once; send-gift, both redemptions and the reversal have their
// idempotency records: four entries and four records a gift.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store"
)

func main() {
	vouchers := flag.Int("vouchers", 100_000, "gifts to fill the source with")
	kill := flag.Duration("kill", 0, "kill a first copy, into another folder, after so long; 0: none")
	to := flag.String("to", "", "where to copy to; default: a new folder")
	binary := flag.String("boon", "bin/boon", "the program")
	flag.Parse()
	if err := run(*vouchers, *kill, *to, *binary); err != nil {
		log.Fatal(err)
	}
}

func run(vouchers int, kill time.Duration, to, binary string) (err error) {
	dir, err := os.MkdirTemp("", "boon-move-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	from := filepath.Join(dir, "from")
	if to == "" {
		to = filepath.Join(dir, "to")
	}
	begun := time.Now()
	if err := fill(context.Background(), from, vouchers); err != nil {
		return fmt.Errorf("filling the source: %w", err)
	}
	info, err := os.Stat(filepath.Join(from, store.DatabaseName))
	if err != nil {
		return err
	}
	fmt.Printf("%d gifts with history, %d MB, made in %.0f s\n", vouchers, info.Size()>>20, time.Since(begun).Seconds())
	if kill > 0 {
		if err := killed(binary, from, filepath.Join(dir, "cut"), kill); err != nil {
			return err
		}
	}
	last := exec.Command(binary, "copy", "--from", from, "--to", to)
	last.Stdout, last.Stderr = os.Stdout, os.Stderr
	return last.Run()
}

// killed kills a copy in the middle, and checks that nothing opens what it left.
func killed(binary, from, to string, after time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	if exec.CommandContext(ctx, binary, "copy", "--from", from, "--to", to).Run() == nil { // it ends with SIGKILL
		return errors.New("the copy was done before it was killed; kill it sooner with -kill")
	}
	said, err := exec.Command(binary, "verify", "--data", to).CombinedOutput()
	if err == nil || !strings.Contains(string(said), "did not end") {
		return fmt.Errorf("after a kill, boon verify says: %s", said)
	}
	fmt.Printf("killed after %s: %s", after, said)
	return nil
}

// groupSize is how many gifts are made, or redeemed, in one transaction.
const groupSize = 5000

// fill makes gifts of ten accounts.
func fill(ctx context.Context, dir string, vouchers int) (err error) {
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	accounts := make([]guid.ID, 10)
	for i := range accounts {
		accounts[i] = newID()
	}
	for done := 0; done < vouchers; done += groupSize {
		account, n := accounts[done/groupSize%len(accounts)], min(groupSize, vouchers-done)
		err := fillGroup(ctx, s, account, n)
		for try := 0; err != nil && try < 3; try++ { // among a million codes, two may well be equal
			err = fillGroup(ctx, s, account, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func fillGroup(ctx context.Context, s *store.Store, account guid.ID, n int) error {
	c := ledger.Changes{}
	for range n {
		g, issued, err := newGift(account)
		if err != nil {
			return err
		}
		c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, issued)
		c.Requests = append(c.Requests, request(account, operation.SendGift, guid.ID{}, 870))
	}
	if err := s.Group(ctx, ledger.Want{}, func(*ledger.State) ledger.Changes { return c }); err != nil {
		return err
	}
	later := ledger.Changes{}
	for i := range c.Gifts {
		if err := history(&later, c.Gifts[i].Voucher); err != nil {
			return err
		}
	}
	var want ledger.Want
	for _, v := range later.Vouchers {
		want.Vouchers = append(want.Vouchers, ledger.Ref{AccountID: v.AccountID, ID: v.ID})
	}
	return s.Group(ctx, want, func(*ledger.State) ledger.Changes { return later })
}

func newGift(account guid.ID) (g gift.Gift, issued gift.Entry, err error) {
	code, err := codes.NewVoucherCode(rand.Reader)
	if err != nil {
		return g, issued, err
	}
	token, err := codes.NewToken(rand.Reader)
	if err != nil {
		return g, issued, err
	}
	now := time.Now()
	g = gift.Gift{
		Voucher: gift.Voucher{ID: newID(), AccountID: account, OrderID: newID(), ProgramID: merchant.BusinessProgram.ID,
			Currency: money.Currency{Code: "USD", Decimals: 2}, Funded: 10_000, Balance: 10_000, CreatedAt: now},
		Card: gift.Card{Code: code, Token: token, Sender: "Ann Lee", Recipient: "Bob", Contact: "bob@example.com",
			Message: "Happy birthday!",
			Method:  contact.Printed, DeliveryZone: "UTC",
			Purchase: gift.Purchase{Reference: "R-" + uuid.NewString(), FirstName: "Ann", LastName: "Lee",
				EmailAddress: "ann@example.com"}},
	}
	g, issued = g.Begin(gift.Context{EntryID: newID(), Now: now, RequestID: uuid.NewString()})
	return g, issued, nil
}

// history redeems a gift twice and gives the first one back.
func history(c *ledger.Changes, v gift.Voucher) error {
	when := func() gift.Context {
		return gift.Context{EntryID: newID(), Now: time.Now(), RequestID: uuid.NewString()}
	}
	after, first, err := v.Redeem(gift.Redeem{Context: when(), Amount: 1_500})
	if err != nil {
		return err
	}
	after, second, err := after.Redeem(gift.Redeem{Context: when(), Amount: 2_000})
	if err != nil {
		return err
	}
	after, back, err := after.Reverse(gift.Undoable{Entry: first}, gift.Reverse{Context: when(),
		Caller: &merchant.Caller{}})
	if err != nil {
		return err
	}
	c.Vouchers, c.Entries = append(c.Vouchers, after), append(c.Entries, first, second, back)
	c.Requests = append(c.Requests, request(v.AccountID, operation.RedeemGift, first.ID, 300),
		request(v.AccountID, operation.RedeemGift, second.ID, 300),
		request(v.AccountID, operation.ReverseRedemption, back.ID, 300))
	return nil
}

func request(account guid.ID, o operation.Name, entry guid.ID, size int) ledger.Request {
	return ledger.Request{RequestKey: ledger.RequestKey{AccountID: account, Operation: o,
		Key: uuid.Must(uuid.NewV7()).String()},
		Answer: ledger.Answer{Code: ledger.OK, Body: append(make([]byte, size), entry.String()...)}, EntryID: entry,
		At: time.Now()}
}

func newID() guid.ID { return guid.ID(uuid.Must(uuid.NewV7())) }
