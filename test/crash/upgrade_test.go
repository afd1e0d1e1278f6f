package crash

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/store/pgtest"
)

const upgradeKills = 50

// TestUpgrade runs the program of an older version and this one side by side on one store, while this one brings the schema up to date and
// while both are killed at random. Tills call both, and shops see whole lives of gifts through.
func TestUpgrade(t *testing.T) {
	older := os.Getenv("TEST_UPGRADE_FROM")
	if older == "" {
		t.Skip("TEST_UPGRADE_FROM names no older program; test/upgrade/run builds one and runs this test")
	}
	t.Run("sqlite", func(t *testing.T) { upgrade(t, older) })
	t.Run("postgres", func(t *testing.T) {
		database, err := pgtest.Start()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := database.Close(); err != nil {
				t.Error(err)
			}
		})
		upgrade(t, older, "--database", database.URL)
	})
}

func upgrade(t *testing.T, older string, store ...string) {
	boon := installBy(t, older, store...)
	programs := []string{older, binary}
	servers := []*server{boon.startBy(t, older, freeAddress(t)), nil}
	newAddress := freeAddress(t)
	l := &tills{urls: []string{servers[0].url, "http://" + newAddress}, hot: 4, pause: 5 * time.Millisecond, strict: true}
	l.gifts = sell(t, servers[0].url, 20)
	stop := make(chan struct{})
	waitForTills, shops := l.work(t, 8, stop), startShops(t, l.urls, 4, stop)
	time.Sleep(300 * time.Millisecond)
	early := boon.cutShort(t, newAddress)
	servers[1] = boon.start(t, newAddress)
	killed := [2]int{}
	for range upgradeKills {
		time.Sleep(time.Duration(50+rand.IntN(250)) * time.Millisecond)
		n := rand.IntN(2)
		killed[n]++
		servers[n].kill(t)
		servers[n] = boon.startBy(t, programs[n], servers[n].address)
	}
	close(stop)
	waitForTills()
	shops.wait()
	for _, s := range servers {
		l.check(t, s.url)
		shops.check(t, s.url)
	}
	for _, s := range servers {
		s.kill(t)
	}
	boon.run(t, "verify", "--adopt") // what the old program entered has no seals
	said := boon.run(t, "verify")
	if len(shops.lives) < upgradeKills || len(l.history) < upgradeKills {
		t.Errorf("only %d lives of gifts and %d redemptions: there was hardly any load", len(shops.lives), len(l.history))
	}
	t.Logf("the new program killed %d times before it served; then the old program %d times and the new one %d times; %d redemptions and %d whole lives of gifts acknowledged, each once, "+
		"%d and %d calls repeated; %s", early, killed[0], killed[1], len(l.history), len(shops.lives), l.repeats, shops.repeats, strings.TrimSpace(said))
}

// cutShort starts the new program and kills it, each time a little later, until it has come to serve: so it dies at many points of the steps that
// it takes.
func (i installation) cutShort(t *testing.T, address string) (kills int) {
	t.Helper()
	for patience := time.Millisecond; ; patience += max(time.Millisecond, patience/20) {
		cmd := exec.Command(binary, append([]string{"serve", "--listen", address}, i...)...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		line, _ := bufio.NewReader(out).ReadString('\n')
		late.Stop()
		cmd.Process.Kill()
		cmd.Wait()
		if strings.HasPrefix(line, "listening on ") {
			return kills
		}
		kills++
		if patience > 30*time.Second {
			t.Fatal("the new program never came to serve")
		}
	}
}

// shops send gifts, validate, redeem and reverse, each call with a key of its own and until it is answered.
type shops struct {
	urls []string
	wait func()

	mu      sync.Mutex
	lives   []life
	repeats int
}

// life is what became of one gift: its id, and what it was redeemed and reversed under.
type life struct{ gift, redemption, reversal string }

func startShops(t *testing.T, urls []string, n int, stop <-chan struct{}) *shops {
	s := &shops{urls: urls}
	var wg sync.WaitGroup
	for shop := range n {
		wg.Go(func() {
			for serial := 0; ; serial++ {
				select {
				case <-stop:
					return
				default:
				}
				if !s.live(t, fmt.Sprintf("shop-%d-%d", shop, serial)) {
					return
				}
			}
		})
	}
	s.wait = wg.Wait
	return s
}

// live sees the life of one gift through.
func (s *shops) live(t *testing.T, key string) bool {
	var sent struct {
		Gifts []struct{ VoucherID, VoucherCode string }
	}
	var valid struct{ IsRedeemable bool }
	var redeemed struct{ RedemptionID string }
	var reversed struct{ ReversalID string }
	ok := s.see(t, "gifting/send-gift", key+"-send", sendBody(1), &sent) && len(sent.Gifts) == 1 &&
		s.see(t, "redemption/validate-gift", key+"-validate", `{"voucherCode":"`+sent.Gifts[0].VoucherCode+`"}`, &valid) && valid.IsRedeemable &&
		s.see(t, "redemption/redeem-gift", key+"-redeem", `{"voucherCode":"`+sent.Gifts[0].VoucherCode+`","amount":1}`, &redeemed) &&
		s.see(t, "redemption/reverse-redemption", key+"-reverse", `{"idempotencyKey":"`+key+`-redeem"}`, &reversed)
	if !ok {
		t.Errorf("the life of gift %s ended early: %+v %+v %+v %+v", key, sent, valid, redeemed, reversed)
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives = append(s.lives, life{sent.Gifts[0].VoucherID, redeemed.RedemptionID, reversed.ReversalID})
	return true
}

// see makes a call until it is answered, and then once more, of whichever program: the answer is the same.
func (s *shops) see(t *testing.T, path, key, body string, into any) bool {
	var first []byte
	for begun := time.Now(); time.Since(begun) < 2*time.Minute; {
		status, answer, err := post(s.urls[rand.IntN(len(s.urls))], "/api/integration/"+path, key, body)
		switch {
		case err != nil || status == http.StatusServiceUnavailable:
			s.mu.Lock()
			s.repeats++
			s.mu.Unlock()
			time.Sleep(time.Duration(5+rand.IntN(20)) * time.Millisecond)
		case status >= 300:
			t.Errorf("%s was refused: %d %s", key, status, answer)
			return false
		case first == nil:
			first = answer
		default:
			if !bytes.Equal(first, answer) {
				t.Errorf("%s was answered in two ways: %s and %s", key, first, answer)
			}
			return json.Unmarshal(answer, into) == nil
		}
	}
	t.Errorf("nobody told within two minutes what became of %s", key)
	return false
}

// check looks for every life in the history of its gift: issued, redeemed and given back, each once.
func (s *shops) check(t *testing.T, url string) {
	t.Helper()
	for _, l := range s.lives {
		var page struct {
			Entries []struct{ Kind, RedemptionID, ReversalID string }
		}
		get(t, url, "/api/integration/gifting/gifts/"+l.gift+"/history", &page)
		e := page.Entries
		whole := len(e) == 3 && e[0].Kind == "ISSUED" && e[1].Kind == "REDEMPTION" && e[1].RedemptionID == l.redemption &&
			e[2].Kind == "REVERSAL" && e[2].ReversalID == l.reversal
		if !whole {
			t.Errorf("the history of gift %s is %+v, want it issued, redeemed as %s and given back as %s", l.gift, e, l.redemption, l.reversal)
		}
	}
}
