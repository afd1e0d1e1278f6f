package setup_test

import (
	"strings"
	"testing"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup"
)

const (
	sandbox = "  - id: 00000000-0000-4000-8000-000000000002\n    name: Sandbox\n    mode: test\n    currency: USD\n" +
		"    timeZone: UTC\n"
	testSecret = "boon_test_secret_of_the_sandbox_0123456789"
	liveSecret = "boon_live_secret_of_the_sandbox_0123456789"
)

var sandboxID = guid.ID{6: 0x40, 8: 0x80, 15: 0x02}

// TestKeysAreOfOneMode: keys say in which mode they work, and are told from those of the other.
func TestKeysAreOfOneMode(t *testing.T) {
	t.Parallel()
	w := open(t)
	keys := "    keys: [{name: till, role: till}, {name: own, role: till, secret: " + testSecret + "}]\n" +
		"systemKeys: [{name: partner, mode: test, accounts: [" + sandboxID.String() + "]}]\n"
	report := apply(t, w, minimal+sandbox+keys)
	for _, k := range report.Keys {
		if !strings.HasPrefix(k.Text, "boon_test_") || !merchant.ValidKey(k.Text) {
			t.Errorf("a key of a test account is %s", k.Text)
		}
		if caller, ok := directory(t, w).Authenticate(k.Text, noon); !ok || caller.Account != nil && !caller.Account.Test {
			t.Errorf("%s is %+v", k.Name, caller)
		}
	}
	if !authenticates(t, w, testSecret) || len(report.Keys) != 2 {
		t.Errorf("made %+v", report)
	}
	if again := apply(t, w, minimal+sandbox+keys); len(again.Changes) > 0 {
		t.Errorf("applying it again did %v", again.Changes)
	}
	for said, file := range map[string]string{
		"that of key live, which is for test accounts, will not do": minimal + sandbox +
			"    keys: [{name: live, role: till, secret: " + liveSecret + "}]\n",
		"that of key plain, which is for test accounts, will not do": minimal + sandbox +
			"    keys: [{name: plain, role: till, secret: " + oldSecret + "}]\n",
		"that of key test, which is for live accounts, will not do": minimal +
			"    keys: [{name: test, role: till, secret: boon_test_another_secret_0123456789abcdef}]\n" + sandbox,
		"The key mixed is for live accounts, and account " + sandboxID.String() + " is none": minimal + sandbox +
			"systemKeys: [{name: mixed, accounts: [" + sandboxID.String() + "]}]\n",
		"The key mixed is for test accounts, and account " + harborID.String() + " is none": minimal + sandbox +
			"systemKeys: [{name: mixed, mode: test, accounts: [" + harborID.String() + "]}]\n",
	} {
		if got := refused(t, w, file); !strings.Contains(got, said) {
			t.Errorf("want %q, got %q", said, got)
		}
	}
	_, err := setup.Parse("setup.yaml", []byte(minimal+strings.Replace(sandbox, "mode: test", "mode: sandbox", 1)))
	if err == nil || !strings.Contains(err.Error(), "setup.yaml:8: accounts[1].mode: This is live or test.") {
		t.Errorf("an unknown mode: %v", err)
	}
	_, _, err = setup.CreateKey(t.Context(), w, setup.KeyRequest{Name: "all",
		Accounts: []guid.ID{sandboxID}}, noon, chance(1))
	if err == nil || !strings.Contains(err.Error(), "is a test account; a key works in one mode only") {
		t.Errorf("a live system key for a test account: %v", err)
	}
	_, _, err = setup.CreateKey(t.Context(), w, setup.KeyRequest{Account: harborID, Name: "t",
		Permissions: tillMay, Test: true},
		noon, chance(2))
	if err == nil || !strings.Contains(err.Error(), "is a live account, and so are its keys") {
		t.Errorf("a test key for a live account: %v", err)
	}
}

// TestASystemKeyKeepsItsMode: whom it served before it could serve no more, and its text would say the wrong mode.
func TestASystemKeyKeepsItsMode(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+sandbox+"systemKeys: [{name: partner, mode: test, accounts: ["+sandboxID.String()+"]}]\n")
	for _, secret := range []string{"", ", secret: " + newSecret} {
		got := refused(t, w, minimal+sandbox+"systemKeys: [{name: partner, accounts: ["+harborID.String()+"]"+secret+"}]\n")
		if got != "setup.yaml:11: systemKeys[0]: The key partner is for test accounts; a key works in one mode only. Give "+
			"the one for live accounts another name." {
			t.Error(got)
		}
	}
	_, _, err := setup.CreateKey(t.Context(), w, setup.KeyRequest{Name: "partner"}, noon, chance(1))
	if err == nil || !strings.Contains(err.Error(), "is for test accounts; a key works in one mode only") {
		t.Errorf("a second one of the other mode: %v", err)
	}
}

// TestAModeIsForGood: an account keeps its mode, be it only for its keys.
func TestAModeIsForGood(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+sandbox)
	live := strings.Replace(sandbox, "mode: test", "mode: live", 1)
	const want = "The mode cannot change from test to live: this account's keys and gifts are of its mode. Make a new " +
		"account for live."
	if got := refused(t, w, minimal+live); !strings.Contains(got, want) {
		t.Errorf("got %q", got)
	}
	if got := refused(t, w, minimal+strings.Replace(sandbox, "    mode: test\n", "", 1)); !strings.Contains(got, want) {
		t.Errorf("got %q", got)
	}
	if a := directory(t, w).Accounts[sandboxID]; !a.Test || a.Mode() != merchant.TestMode {
		t.Errorf("the account is %+v", a)
	}
}

// TestAKeyOfAnEarlierReleaseStaysLive: what its text says does not matter, as its account is what it was.
func TestAKeyOfAnEarlierReleaseStaysLive(t *testing.T) {
	t.Parallel()
	w := open(t)
	apply(t, w, minimal+locationLines)
	const text = "boon_test_of_an_earlier_release_0123456789"
	err := w.Configure(t.Context(), func(*merchant.Directory, setup.Uses) (setup.Changes, error) {
		return setup.Changes{Keys: []*merchant.Key{{ID: guid.ID{9}, Kind: merchant.AccountKey, AccountID: harborID,
			Name: "till",
			Hash: merchant.HashKey(text), CreatedAt: noon, Permissions: tillMay}}, What: "as before"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if report := apply(t, w, withKey(", secret: "+text)); !authenticates(t, w, text) || len(report.Keys) > 0 {
		t.Errorf("it is not known any more: %+v", report)
	}
}
