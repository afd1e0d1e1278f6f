package lookup

import (
	"encoding/binary"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
)

func giftNumber(n int) *gift.Gift {
	g := &gift.Gift{}
	binary.BigEndian.PutUint64(g.ID[:], uint64(n))
	return g
}

func keyNumber(n int) db.GiftChange { return db.GiftChange{GiftKey: db.GiftKey{ID: giftNumber(n).ID}} }

func (c *cache) has(n int) bool { return c.use(keyNumber(n).GiftKey) != nil }

// TestCachePutsNothingOld: what was read before it was forgotten is not put after it.
func TestCachePutsNothingOld(t *testing.T) {
	t.Parallel()
	c := &cache{limit: 1 << 20, saving: map[db.GiftKey]Moved{}}
	for name, test := range map[string]struct {
		between func()
		put     bool
	}{
		"nothing":         {func() {}, true},
		"another gift":    {func() { c.forget([]db.GiftChange{keyNumber(2)}, false) }, true},
		"the gift":        {func() { c.forget([]db.GiftChange{keyNumber(2), keyNumber(1)}, false) }, false},
		"all":             {func() { c.forget(nil, true) }, false},
		"all, and others": {func() { c.forget(nil, true); c.forget([]db.GiftChange{keyNumber(2)}, false) }, false},
		"more than is known": {func() {
			for n := range len(c.forgotten) + 1 {
				c.forget([]db.GiftChange{keyNumber(n + 10)}, false)
			}
		}, false},
	} {
		c.forget(nil, true)
		stamp := c.stamp()
		test.between()
		c.put(stamp, giftNumber(1))
		if c.has(1) != test.put {
			t.Errorf("a gift that was read before %s was forgotten is put: %t", name, !test.put)
		}
	}
}

// TestCacheForgetsSecrets: with a gift, what it was found by is forgotten.
func TestCacheForgetsSecrets(t *testing.T) {
	t.Parallel()
	c := &cache{limit: 1 << 20, saving: map[db.GiftKey]Moved{}}
	c.put(c.stamp(), giftNumber(1), foundBy{question: "its code"})
	c.put(c.stamp(), giftNumber(1), foundBy{question: "its token"})
	if len(c.young.secrets) != 2 {
		t.Errorf("a gift is found by %d secrets", len(c.young.secrets))
	}
	c.forget([]db.GiftChange{keyNumber(1)}, false)
	if len(c.young.secrets)+len(c.young.gifts) != 0 || c.young.bytes != 0 {
		t.Errorf("of a forgotten gift there are %d secrets, %d gifts, %d bytes", len(c.young.secrets), len(c.young.gifts),
			c.young.bytes)
	}
}

// TestCacheForgetsBesideNewSecrets: where a code may be that of several gifts, a gift that is meant more and comes
// later is found, though what was found before has not changed.
func TestCacheForgetsBesideNewSecrets(t *testing.T) {
	t.Parallel()
	c := &cache{limit: 1 << 20, saving: map[db.GiftKey]Moved{}}
	asked := foundBy{question: "a code at an account", others: []string{"as Boon's", "as another system's"}}
	c.put(c.stamp(), giftNumber(1), asked)
	other := keyNumber(2)
	other.Secret = "of something else"
	if c.forget([]db.GiftChange{other}, false); !c.has(1) {
		t.Error("a secret that has nothing to do with a look-up made its answer be forgotten")
	}
	other.Secret = "as another system's"
	if c.forget([]db.GiftChange{other}, false); c.has(1) {
		t.Error("the code leads to another gift now, and the earlier one is remembered")
	}
	stamp := c.stamp()
	c.forget([]db.GiftChange{other}, false)
	if c.put(stamp, giftNumber(1), asked); c.has(1) {
		t.Error("the code came to lead to another gift while the earlier one was read, and that is remembered")
	}
}

// TestCacheMovesWhatWasSaved: a gift is changed by the commit that saved the change, and forgotten by every other one.
func TestCacheMovesWhatWasSaved(t *testing.T) {
	t.Parallel()
	key := keyNumber(1)
	key.Table = "voucher"
	card := key
	card.Table = "card"
	for name, test := range map[string]struct {
		was     int
		changed []db.GiftChange
		failed  bool
		seq     int // that is remembered; 0: nothing is
	}{
		"what was saved":               {3, []db.GiftChange{key}, false, 4},
		"from another entry":           {2, []db.GiftChange{key}, false, 0},
		"and its card":                 {3, []db.GiftChange{key, card}, false, 0},
		"its card, and what was saved": {3, []db.GiftChange{card, key}, false, 0},
		"twice":                        {3, []db.GiftChange{key, key}, false, 0},
		"a commit that failed":         {3, []db.GiftChange{key}, true, 0},
	} {
		r := &Reader{cache: &cache{limit: 1 << 20, saving: map[db.GiftKey]Moved{}}}
		g := giftNumber(1)
		g.Seq = 3
		r.cache.put(r.cache.stamp(), g)
		r.Saving([]Moved{{ID: g.ID, Was: test.was, Seq: 4}})
		r.cache.forget(test.changed, test.failed)
		seq := 0
		if found := r.cache.use(key.GiftKey); found != nil {
			seq = found.gift.Seq
		}
		if seq != test.seq || len(r.cache.saving) > 0 {
			t.Errorf("%s: entry %d is remembered, want %d; %d are still to be saved", name, seq, test.seq, len(r.cache.saving))
		}
	}
}

// TestCacheIsBounded: the gifts that are used stay, and others go.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	each := size(&remembered{gift: *giftNumber(1), secrets: []foundBy{{question: "12345678"}}})
	c := &cache{limit: 100 * each}
	for n := range 10_000 {
		c.put(c.stamp(), giftNumber(n), foundBy{question: fmt.Sprintf("%08d", n)})
		if !c.has(0) {
			t.Fatalf("the gift that is always used has gone after %d others", n)
		}
	}
	held := c.young.bytes + c.old.bytes
	gifts := len(c.young.gifts) + len(c.old.gifts)
	if held > 2*c.limit || gifts < 100 || gifts > 200 || len(c.young.secrets)+len(c.old.secrets) != gifts {
		t.Errorf("%d gifts, %d secrets, %d bytes of %d", gifts, len(c.young.secrets)+len(c.old.secrets), held, 2*c.limit)
	}
	large := giftNumber(20_000)
	large.Card.Message = strings.Repeat("x", int(c.limit))
	if c.put(c.stamp(), large); c.has(20_000) || !c.has(0) {
		t.Error("a gift that is larger than the cache is in it, or took the others away")
	}
}

// TestCacheGivesCopies: who changes what a look-up gave changes nothing else.
func TestCacheGivesCopies(t *testing.T) {
	t.Parallel()
	g := giftNumber(1)
	g.Holds, g.Items = []gift.OpenHold{{Left: 5}}, []merchant.Item{{ID: "tea"}}
	one := copied(g)
	one.Holds[0].Left, one.Items[0].ID = 7, "coffee"
	if g.Holds[0].Left != 5 || g.Items[0].ID != "tea" {
		t.Errorf("a copy shares its lists: %+v", g)
	}
}

// TestAllTablesOfAGiftAreWatched: no look-up that is remembered reads from a table whose changes are not noticed.
func TestAllTablesOfAGiftAreWatched(t *testing.T) {
	t.Parallel()
	from := regexp.MustCompile(`(?:FROM|JOIN)\s+(\w+)`)
	read := map[string]bool{}
	for _, text := range []string{selectBySecrets.SQLite, selectGiftByID} {
		for _, m := range from.FindAllStringSubmatch(text, -1) {
			read[m[1]] = true
		}
	}
	delete(read, "json_each") // what is asked for
	got, want := slices.Sorted(maps.Keys(read)), slices.Sorted(maps.Keys(giftTables))
	if !slices.Equal(got, want) {
		t.Errorf("gifts are read from %v, and watched are %v", got, want)
	}
}
