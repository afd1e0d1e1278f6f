package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/sealed"
)

// Every entry carries a seal: a MAC over the entry and over the seal before it, so that the entries of an account are chained. Several
// groups are written at once, by one instance or many, and one chain for each account would make them wait for each other. So
// the chain has strands: a group takes one that no other has, continues it, and gives it back once its commit is certain. A strand
// whose last commit failed, or may have, is never continued; a new one begins. How a strand begins notes how far the others had come,
// so that an old strand cannot lose its end unseen.

// link is a seal: the place of an entry in a strand of its account. Place 0 is the beginning of the strand. Strand 0 is made of the
// entries that an older program wrote, without seals, in the order of their ids; only how far it goes is ever noted.
type link struct {
	strand, place uint32
	mac           sealed.MAC
}

// linkSize is how many bytes a seal has.
const linkSize = 4 + 4 + len(sealed.MAC{})

func (l link) appendTo(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, l.strand)
	b = binary.BigEndian.AppendUint32(b, l.place)
	return append(b, l.mac[:]...)
}

// parseLink reads what appendTo made.
func parseLink(b []byte) (l link, ok bool) {
	if len(b) != linkSize {
		return l, false
	}
	l.strand, l.place = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	copy(l.mac[:], b[8:])
	return l, true
}

// sealer makes seals. It is not safe for concurrent use.
type sealer struct {
	chain   *sealed.Chain
	content []byte // of the last seal; kept for its memory
}

// What a MAC of a chain is over begins with one of these.
const (
	entryDomain  = 'E'
	strandDomain = 'S'
	setupDomain  = 'C'
)

// digest is the hash of everything that an entry says. That of a gift's first entry is also over what never changes of the gift; items is
// the key of the list of what it is good for.
func (s *sealer) digest(e *gift.Entry, of *gift.Voucher, items gift.ID) [sha256.Size]byte {
	b := appendEntry(s.content[:0], e)
	if e.Seq == 1 && of != nil {
		if b = appendTerms(b, of); !items.IsZero() { // gifts that were made before lists were kept say nothing
			b = append(append(b, 'I'), items[:]...) // no length of a text: that is what MadeBy would begin with
		}
	}
	s.content = b
	return sha256.Sum256(b)
}

// after says what the MAC of a link after another is over.
func (s *sealer) after(before link, digest [sha256.Size]byte) []byte {
	b := append(s.content[:0], entryDomain)
	b = binary.BigEndian.AppendUint32(b, before.strand)
	b = binary.BigEndian.AppendUint32(b, before.place+1)
	s.content = append(b, digest[:]...)
	return s.content
}

// next is the seal of an entry that follows another, or the beginning of a strand.
func (s *sealer) next(before link, digest [sha256.Size]byte) link {
	return link{before.strand, before.place + 1, s.chain.Next(before.mac, s.after(before, digest))}
}

// nextWith is next with the key of this id.
func (s *sealer) nextWith(id byte, before link, digest [sha256.Size]byte) (link, error) {
	mac, err := s.chain.With(id, before.mac, s.after(before, digest))
	return link{before.strand, before.place + 1, mac}, err
}

func appendNumber[N ~int64 | ~int](b []byte, n N) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(n))
}

func appendText[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(appendNumber(b, len(text)), text...)
}

// appendTime says a time as databases keep it, and that there is none.
func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, 0)
	}
	return appendNumber(append(b, 1), t.UnixMicro())
}

// appendEntry says every column of an entry. As all that is sealed, it is made of values and not of how a database keeps them. What it
// says is a storage format and never changes.
func appendEntry(b []byte, e *gift.Entry) []byte {
	for _, id := range [...]*gift.ID{&e.AccountID, &e.ID, &e.VoucherID, &e.Previous, &e.Actor.KeyID, &e.Actor.LocationID, &e.Reverses} {
		b = append(b, id[:]...)
	}
	b = appendNumber(b, e.Seq)
	b = appendNumber(b, e.Delta)
	b = appendNumber(b, e.Balance)
	b = appendNumber(b, e.Status)
	b = appendTime(b, e.At)
	b = appendText(b, e.Kind)
	b = appendText(b, e.Reference)
	b = appendText(b, e.Reason)
	return appendText(b, e.RequestID)
}

// appendTerms says every column of a voucher that never changes. A column that came later says something only where it is not empty.
func appendTerms(b []byte, v *gift.Voucher) []byte {
	for _, id := range [...]*gift.ID{&v.AccountID, &v.ID, &v.OrderID, &v.ProgramID, &v.LocationID, &v.PromotionID} {
		b = append(b, id[:]...)
	}
	b = append(b, byte(count(v.Item)), byte(count(v.Promotional)))
	b = appendText(b, v.Currency.Code)
	b = appendNumber(b, v.Currency.Decimals)
	b = appendNumber(b, v.Original)
	b = appendTime(b, v.ValidFrom)
	b = appendTime(b, v.ValidUntil)
	b = appendTime(b, v.CreatedAt)
	if v.MadeBy != "" {
		b = appendText(b, v.MadeBy)
	}
	return b
}

// beginning is a row of the table strand.
type beginning struct {
	account gift.ID
	number  uint32
	at      time.Time
	ends    []byte
}

// content is what the MAC of a beginning is over.
func (n *beginning) content() []byte {
	b := append([]byte{strandDomain}, n.account[:]...)
	b = appendNumber(b, int(n.number))
	b = appendTime(b, n.at)
	return appendText(b, n.ends)
}

func (n *beginning) row(mac sealed.MAC) []any {
	return []any{bare(n.account), int64(n.number), micros(n.at), n.ends, mac[:]}
}

// strand is what one writer at a time continues. It has a link in every account that it has written to.
type strand struct {
	sealer
	at map[gift.ID]link
}

// maxStrandAccounts bounds the memory of a strand.
const maxStrandAccounts = 100_000

// strands are those that nobody writes to just now.
type strands struct {
	mu   sync.Mutex
	free []*strand
}

// take gives the strand that was given back last, so that few are in use while few are needed.
func (s *strands) take(keys *sealed.Keys) *strand {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		last := s.free[n-1]
		s.free = s.free[:n-1]
		return last
	}
	return &strand{sealer: sealer{chain: keys.Chain()}, at: map[gift.ID]link{}}
}

// giveBack takes a strand back that is in the database as far as at says, for certain.
func (s *strands) giveBack(one *strand, at map[gift.ID]link) {
	maps.Copy(one.at, at)
	if len(one.at) > maxStrandAccounts {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, one)
}

const strandColumns = `account_id, number, began_at, ends, mac`

// How a strand begins. The newest row is asked for with a bound beyond all rows, so that a key finds it.
var (
	selectNewestStrand = asking("strands", `SELECT s.number FROM strand AS s WHERE s.account_id = $1 AND s.number < $2 ORDER BY s.number DESC LIMIT 1`)
	selectNewestSeals  = asking("seals", `SELECT e.seal FROM entry AS e WHERE e.account_id = $1 AND e.id <= $2 ORDER BY e.id DESC LIMIT 64`)
	insertStrand       = inserting("strand", strandColumns, "BNNBB", ` ON CONFLICT (account_id, number) DO NOTHING RETURNING account_id`)
)

// sealEntries gives the seals of entries, one for each, that continue a strand. Until the commit, g has it.
func (g *group) sealEntries(ctx context.Context, c *ledger.Changes) ([]any, error) {
	if len(c.Entries) == 0 {
		return nil, nil
	}
	g.strand, g.links = g.strands.take(g.keys), map[gift.ID]link{}
	var without []gift.ID
	for i := range c.Entries {
		account := c.Entries[i].AccountID
		if _, ok := g.links[account]; ok {
			continue
		}
		at, ok := g.strand.at[account]
		if g.links[account] = at; !ok || at.place == 1<<32-1 {
			without = append(without, account)
		}
	}
	if err := g.beginStrands(ctx, without); err != nil {
		return nil, fmt.Errorf("beginning a strand: %w", err)
	}
	issued := make(map[ledger.Ref]*gift.Voucher, len(c.Gifts))
	for i := range c.Gifts {
		issued[refOf(&c.Gifts[i].Voucher)] = &c.Gifts[i].Voucher
	}
	seals, room := make([]any, len(c.Entries)), make([]byte, 0, len(c.Entries)*linkSize)
	for i := range c.Entries {
		e := &c.Entries[i]
		var terms *gift.Voucher
		var items gift.ID
		if e.Seq == 1 {
			terms = issued[ledger.Ref{AccountID: e.AccountID, ID: e.VoucherID}]
		}
		if terms != nil {
			items = itemsID(terms)
		}
		l := g.strand.next(g.links[e.AccountID], g.strand.digest(e, terms, items))
		g.links[e.AccountID] = l
		room = l.appendTo(room)
		seals[i] = room[len(room)-linkSize : len(room) : len(room)]
	}
	return seals, nil
}

// beginStrands begins a strand in each of these accounts. Who is beginning one at the same moment is waited for: numbers have no gaps.
func (g *group) beginStrands(ctx context.Context, accounts []gift.ID) error {
	const rounds = 64 // no more writers begin in an account at once
	slices.SortFunc(accounts, func(a, b gift.ID) int { return slices.Compare(a[:], b[:]) })
	for range rounds {
		if len(accounts) == 0 {
			return nil
		}
		begun, err := g.tryStrands(ctx, accounts)
		if err != nil {
			return err
		}
		accounts = slices.DeleteFunc(accounts, func(a gift.ID) bool { return begun[a] })
	}
	return errors.New("others were faster each time")
}

// tryStrands begins a strand in each of these accounts in which nobody else begins one at the same moment.
func (g *group) tryStrands(ctx context.Context, accounts []gift.ID) (begun map[gift.ID]bool, err error) {
	begins := make([]beginning, len(accounts))
	var works []work
	for i, a := range accounts {
		n := &begins[i]
		*n = beginning{account: a, number: 1, at: time.Now().UTC().Truncate(time.Microsecond), ends: []byte{}}
		works = append(works,
			work{statement: selectNewestStrand, account: a, rows: [][]any{{int64(1 << 32)}}, take: func(from scanner) error {
				err := from.Scan(&n.number)
				n.number++
				return err
			}},
			work{statement: selectNewestSeals, account: a, rows: [][]any{{bare(lastID)}}, take: n.see(map[uint32]bool{})})
	}
	if err := g.run(ctx, works); err != nil {
		return nil, err
	}
	begun = map[gift.ID]bool{}
	insert := work{statement: insertStrand, take: func(from scanner) error {
		var account gift.ID
		err := from.Scan(scanID{&account})
		begun[account] = true
		return err
	}}
	for i := range begins {
		n := &begins[i]
		mac := g.strand.chain.Next(sealed.MAC{}, n.content())
		g.links[n.account] = link{strand: n.number, mac: mac}
		insert.rows = append(insert.rows, n.row(mac))
	}
	return begun, g.run(ctx, []work{insert})
}

// lastID is after every other.
var lastID = gift.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// see notes the ends of other strands. It is handed the seals of the newest entries, the newest first, in which a later place of a strand
// can follow an earlier one, when the clocks of instances differ. A beginning may note too little; that it never notes too much is what counts.
func (n *beginning) see(seen map[uint32]bool) func(scanner) error {
	return func(from scanner) error {
		var seal []byte
		if err := from.Scan(&seal); err != nil {
			return err
		}
		if l, ok := parseLink(seal); ok && !seen[l.strand] {
			seen[l.strand] = true
			n.ends = append(n.ends, seal...)
		}
		return nil
	}
}
