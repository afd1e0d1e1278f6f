package lookup

import (
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
)

// cache remembers gifts that were looked up, so that the next look-up needs no statement. It has them in the clear:
// they are as sensitive as the key file, and are nowhere but in memory.
//
// # Invariants
//
//  1. A gift is given only after Watch.Current was true within the same look-up, or Watch.CurrentWithin within the
//     transaction that asks: it is as new as the database was then.
//  2. A gift is put only if it was not forgotten since before it began to be read (stamp). So what was read before a
//     commit is not put after it.
//  3. What is found by a secret is forgotten with its gift. That a secret leads to no gift is not remembered. Where a
//     code may be that of several gifts (see pendingLookup.first), and not the likeliest was found, all is forgotten
//     when another of its hashes comes to lead to a gift.
//  4. A remembered gift is changed only by the commit that saved the change, from the entry that it had (Saving). A
//     change that was not announced within the same transaction, or is of another table, has the gift be forgotten.
//  5. A gift goes in and out as a copy: nobody changes what another look-up was given.
//  6. The two generations together hold no more than their limit, by an estimate that counts texts and lists.
type cache struct {
	watch *db.Watch

	mu         sync.Mutex
	young, old generation // what was used last is young
	limit      int64      // of the bytes of a generation

	saving map[db.GiftKey]Moved // what the open transaction of the writer is about to save

	forgotten [4096]db.GiftChange // the newest, in a ring
	count     uint64              // how many were forgotten
	allAt     uint64              // count when all were, last

	hits, misses atomic.Int64
}

// generation is what was used since the one before it was full.
type generation struct {
	gifts   map[db.GiftKey]*remembered
	secrets map[string]db.GiftKey // by question
	others  map[string]bool       // see foundBy; some may be of gifts that were forgotten
	bytes   int64
}

// question is what a look-up by a secret asks: the same question has the same answer until a gift changes.
func question(kind string, first guid.ID, hashes [][]byte) string {
	var text strings.Builder
	text.Grow(len(kind) + len(first) + len(hashes)*sha256.Size)
	text.WriteString(kind)
	text.Write(first[:])
	for _, hash := range hashes {
		text.Write(hash)
	}
	return text.String()
}

// remembered is a gift with the secrets that it was looked up by.
type remembered struct {
	gift    gift.Gift
	secrets []foundBy
	bytes   int64
}

// foundBy is a question whose answer is a gift; replaced is the number of the entry that took the secret away. If one
// of the others, hashes of secrets, comes to lead to a gift, the answer may be another.
type foundBy struct {
	question string
	replaced int
	others   []string
}

// giftTables are the tables that look-ups read gifts from: see db.WatchGifts.
var giftTables = map[string]int{"voucher": 0, "card": 0, "secret": 2, "item_list": -1, "order_terms": -1,
	// The state, the third column, says whether gifts are there. How far an import is concerns none that was read.
	"gift_import": db.Whether(2)}

// Remember has gifts that are looked up be remembered, if db.Options.GiftCache says so. It is called before any gift is
// looked up.
func (r *Reader) Remember() {
	c := &cache{limit: r.db.GiftCache / 2, saving: map[db.GiftKey]Moved{}}
	if c.watch = r.db.WatchGifts(giftTables, c.forget, c.begun); c.watch != nil {
		r.cache = c
	}
}

// bySecret gives the gift that is the answer to a question, if it is remembered, and the number of the entry that took
// the secret away.
func (c *cache) bySecret(asked string) (g gift.Gift, replaced int, ok bool) {
	current := c.watch.Current()
	c.mu.Lock()
	defer c.mu.Unlock()
	of, known := c.young.secrets[asked]
	if !known {
		of, known = c.old.secrets[asked]
	}
	r := c.use(of)
	if !current || !known || r == nil {
		c.misses.Add(1)
		return g, 0, false
	}
	c.hits.Add(1)
	for i := range r.secrets {
		if r.secrets[i].question == asked {
			replaced = r.secrets[i].replaced
		}
	}
	return copied(&r.gift), replaced, true
}

// byID gives a gift, if it is remembered.
func (c *cache) byID(account, id guid.ID) (g gift.Gift, ok bool) {
	if c == nil {
		return g, false
	}
	current := c.watch.Current()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.use(db.GiftKey{Account: account, ID: id})
	if !current || r == nil {
		c.misses.Add(1)
		return g, false
	}
	c.hits.Add(1)
	return copied(&r.gift), true
}

// use finds a gift and makes it young; nil: it is not there.
func (c *cache) use(key db.GiftKey) *remembered {
	if r := c.young.gifts[key]; r != nil {
		return r
	}
	r := c.old.gifts[key]
	if r != nil {
		c.old.drop(key)
		c.add(key, r)
	}
	return r
}

// stamp is taken before a gift begins to be read that may be put.
func (c *cache) stamp() uint64 {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// put remembers a gift that was read after a stamp was taken, unless it may have changed since.
func (c *cache) put(stamp uint64, g *gift.Gift, by ...foundBy) {
	if c == nil {
		return
	}
	key := db.GiftKey{Account: g.AccountID, ID: g.ID}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.allAt > stamp || c.count-stamp > uint64(len(c.forgotten)) {
		return
	}
	for n := stamp; n < c.count; n++ {
		f := &c.forgotten[n%uint64(len(c.forgotten))]
		if f.GiftKey == key || slices.ContainsFunc(by, func(b foundBy) bool { return slices.Contains(b.others, f.Secret) }) {
			return
		}
	}
	r := &remembered{gift: copied(g), secrets: by}
	for _, before := range []*generation{&c.young, &c.old} {
		if b := before.gifts[key]; b != nil {
			for _, s := range b.secrets {
				if !slices.ContainsFunc(by, func(f foundBy) bool { return f.question == s.question }) {
					r.secrets = append(r.secrets, s)
				}
			}
			before.drop(key)
		}
	}
	r.bytes = size(r)
	if r.bytes <= c.limit {
		c.add(key, r)
	}
}

// add makes a gift young, and the young ones old where they would be too many.
func (c *cache) add(key db.GiftKey, r *remembered) {
	if c.young.gifts == nil || c.young.bytes+r.bytes > c.limit {
		c.old = c.young
		c.young = generation{gifts: map[db.GiftKey]*remembered{}, secrets: map[string]db.GiftKey{},
			others: map[string]bool{}}
	}
	c.young.gifts[key] = r
	c.young.bytes += r.bytes
	for i := range r.secrets {
		c.young.secrets[r.secrets[i].question] = key
		for _, other := range r.secrets[i].others {
			c.young.others[other] = true
		}
	}
}

func (g *generation) drop(key db.GiftKey) {
	r := g.gifts[key]
	if r == nil {
		return
	}
	for i := range r.secrets {
		delete(g.secrets, r.secrets[i].question)
	}
	delete(g.gifts, key)
	g.bytes -= r.bytes
}

// forget drops gifts that were changed, or all. It is told before whoever changed them is answered.
func (c *cache) forget(changed []db.GiftChange, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer clear(c.saving)
	all = all || slices.ContainsFunc(changed, func(f db.GiftChange) bool {
		return c.young.others[f.Secret] || c.old.others[f.Secret]
	})
	if all {
		c.young, c.old = generation{}, generation{}
		c.count++
		c.allAt = c.count
		return
	}
	for _, f := range changed {
		if !c.move(f) {
			c.young.drop(f.GiftKey)
			c.old.drop(f.GiftKey)
		}
		c.forgotten[c.count%uint64(len(c.forgotten))] = f
		c.count++
	}
}

// Moved is all that a change of value without holds changes of a voucher.
type Moved struct {
	Account, ID guid.ID
	Was         int // the number of the entry that the voucher had
	Seq         int
	Last        guid.ID
	Balance     money.Amount
	Status      gift.Status
}

// move changes a remembered gift to what was saved of it, and tells whether it could.
func (c *cache) move(f db.GiftChange) bool {
	m, saved := c.saving[f.GiftKey]
	r := c.use(f.GiftKey)
	if !saved || f.Table != "voucher" || r == nil || r.gift.Seq != m.Was {
		return false
	}
	delete(c.saving, f.GiftKey) // a second change of the row is another one
	v := &r.gift.Voucher
	v.Seq, v.Last, v.Balance, v.Status = m.Seq, m.Last, m.Balance, m.Status
	return true
}

// begun tells that a transaction of the writer has begun. What the one before it announced and did not save is void.
func (c *cache) begun() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.saving)
}

// Saving tells what the open transaction of the writer is about to save: remembered gifts are changed once it has
// committed. What else the transaction changes is noticed.
func (r *Reader) Saving(moved []Moved) {
	c := r.cache
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.saving)
	for _, m := range moved {
		c.saving[db.GiftKey{Account: m.Account, ID: m.ID}] = m
	}
}

// Vouchers hands on those of some vouchers that are in memory, and gives the others. It is called within a transaction
// of the writer: so what it hands on is what the database has until that commits.
func (r *Reader) Vouchers(wanted []ledger.Ref, each func(gift.Voucher)) (rest []ledger.Ref) {
	c := r.cache
	if c == nil || !c.hasAny(wanted) || !c.watch.CurrentWithin() {
		return wanted
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ref := range wanted {
		if found := c.use(db.GiftKey{Account: ref.AccountID, ID: ref.ID}); found != nil {
			each(copied(&found.gift).Voucher)
		} else {
			rest = append(rest, ref)
		}
	}
	return rest
}

func (c *cache) hasAny(wanted []ledger.Ref) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(wanted, func(ref ledger.Ref) bool {
		return c.use(db.GiftKey{Account: ref.AccountID, ID: ref.ID}) != nil
	})
}

// copied is a gift whose lists nobody else has.
func copied(g *gift.Gift) gift.Gift {
	c := *g
	c.Holds, c.Items = slices.Clone(g.Holds), slices.Clone(g.Items)
	return c
}

// size estimates how many bytes a gift takes.
func size(r *remembered) int64 {
	const maps, text = 300, 100 // an entry in each of the maps, and what they keep free
	bytes := int(unsafe.Sizeof(remembered{})) + maps
	for _, s := range r.secrets {
		bytes += 2*int(unsafe.Sizeof(s)) + len(s.question) + len(s.others)*text
	}
	v, k, p := &r.gift.Voucher, &r.gift.Card, &r.gift.Card.Purchase
	for _, text := range []string{v.MadeBy, v.Verification, v.CustomerID, k.Label, k.Terms, k.PromotionalTerms, k.Sender,
		k.Recipient, k.Contact, k.Message, k.DeliveryZone, k.Notes, k.RelatedOrderID, k.RelatedOrderNumber, k.Language,
		p.Reference,
		p.FirstName, p.LastName, p.EmailAddress} {
		bytes += len(text)
	}
	bytes += len(v.Holds) * int(unsafe.Sizeof(gift.OpenHold{}))
	for i := range v.Items {
		bytes += int(unsafe.Sizeof(v.Items[i])) + len(v.Items[i].Name)
	}
	return int64(bytes)
}

// CacheUse is how often a gift was found in memory, and how often it was not; zero, where nothing is remembered.
func (r *Reader) CacheUse() (hits, misses int64) {
	if r.cache == nil {
		return 0, 0
	}
	return r.cache.hits.Load(), r.cache.misses.Load()
}
