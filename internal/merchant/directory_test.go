package merchant

import (
	"testing"
	"time"

	"boon.example/internal/guid"
)

// TestKeysWorkInOneMode: whatever a set-up was made to say, a key of one mode is none at an account of the other.
func TestKeysWorkInOneMode(t *testing.T) {
	t.Parallel()
	account := guid.ID{1}
	for _, test := range []struct{ key, account bool }{{true, true}, {false, false}, {true, false}, {false, true}} {
		d := Directory{Accounts: map[guid.ID]*Account{account: {ID: account, Test: test.account}},
			Keys: map[KeyHash]*Key{
				HashKey("own"):     {Kind: AccountKey, AccountID: account, Test: test.key},
				HashKey("partner"): {Kind: SystemKey, Accounts: []guid.ID{account}, Test: test.key},
			}}
		same := test.key == test.account
		if _, ok := d.Authenticate("own", time.Now()); ok != same {
			t.Errorf("%+v: an account's key works: %t", test, ok)
		}
		partner, ok := d.Authenticate("partner", time.Now())
		if !ok {
			t.Fatal("a system key does not work")
		}
		if _, err := d.SendingAccount(partner, account, ""); (err == nil) != same {
			t.Errorf("%+v: a system key sends: %v", test, err)
		}
		if _, err := d.AccountOf(partner, guid.ID{}, ""); (err == nil) != same {
			t.Errorf("%+v: a system key looks up: %v", test, err)
		}
	}
}
