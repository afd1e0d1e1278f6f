package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"boon.example/test/rig"
)

// TestAuditorMissesWhatWasNotSaved: when a redemption is answered and not saved, the service itself notices and says
// so.
func TestAuditorMissesWhatWasNotSaved(t *testing.T) {
	t.Parallel()
	for _, mistake := range []string{"", "saves"} {
		i := install(t, "")
		i.Serve = []string{unsound, "--mistake", mistake}
		s := serve(t, i)
		c := rig.NewClient(1, 20*time.Second)
		t.Cleanup(c.Close)
		for n := range 40 { // one change in twenty is not saved
			id, _, err := c.SellOne(s.URL)
			check(t, err)
			_, err = c.Post(s.URL+rig.Redeem, rig.Accounts()[0].Keys[0], fmt.Sprintf("k-%d", n),
				fmt.Sprintf(`{"voucherID":%q,"amount":0.01}`, id))
			check(t, err)
		}
		for begun, want := time.Now(), mistake != ""; ; time.Sleep(50 * time.Millisecond) {
			a, err := c.Get(s.URL+"/metrics", "")
			check(t, err)
			looked, sound := !strings.Contains(string(a.Body), "boon_audit_gifts_total 0"), strings.Contains(string(a.Body),
				"boon_audit_faults_total 0")
			if looked && sound != want {
				break
			}
			if time.Since(begun) > time.Minute {
				t.Fatalf("told to make the mistake %q, the service looked over gifts (%v) and found everything sound (%v)", mistake,
					looked, sound)
			}
		}
	}
}
