package store

import (
	"bufio"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/sealed"
)

// Audit is a check of a store that is told more than a plain one, and tells more. As a ledger.Books, it is the store.
type Audit struct {
	*Store
	// Since are ends that were noted earlier, which must be there still; nil: none were.
	Since Ends
	// Adopt takes entries without a seal, and an unlogged change of the set-up, for the work of older programs, which Accept accepts.
	Adopt bool
	// Ends is told how far each strand has come, which no later strand says; nil: it is not.
	Ends io.Writer

	Older   int64 // entries from before seals began that nobody has adopted
	Adopted int64 // entries that Accept accepts

	sealsBegan time.Time // entries made before it need no seal and nobody's acceptance; zero: all do
	adopting   []adoption
	adoptSetup bool // there is something in it to be accepted
	patience   int  // in place of maxWaiting, for a test
	ends       *bufio.Writer
}

// Ends are how far strands had come, by account. The log of the set-up is strand 0 of the zero account.
type Ends map[gift.ID][]link

// setupEnd is the log of the set-up in what is written of Ends.
const setupEnd = "setup"

// ReadEnds reads what an Audit wrote.
func ReadEnds(from io.Reader) (Ends, error) {
	ends := Ends{}
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		account, end, _ := strings.Cut(lines.Text(), " ")
		a, err := gift.ID{}, error(nil)
		if account != setupEnd {
			a, err = gift.ParseID(account)
		}
		b, hexErr := hex.DecodeString(end)
		l, ok := parseLink(b)
		if err != nil || hexErr != nil || !ok {
			return nil, fmt.Errorf("line %d is not one that boon verify --tips wrote", n)
		}
		ends[a] = append(ends[a], l)
	}
	return ends, lines.Err()
}

func (a *Audit) tell(account gift.ID, l link) {
	name := account.String()
	if account.IsZero() {
		name = setupEnd
	}
	fmt.Fprintf(a.ends, "%s %x\n", name, l.appendTo(nil)) // its error is that of Flush
}

// CheckRecords implements ledger.Books.
func (a *Audit) CheckRecords(ctx context.Context, note func(problem string)) error {
	for _, c := range append(a.checks(), check{"seals", a.checkSeals}) {
		if err := c.run(ctx, note); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// checkSeals follows every strand of every account, and the log of the set-up. It holds what it knows of the strands of one account, and
// nothing of each entry.
func (a *Audit) checkSeals(ctx context.Context, found func(string)) error {
	a.Older, a.Adopted, a.adopting = 0, 0, nil
	a.ends = bufio.NewWriter(cmp.Or[io.Writer](a.Ends, io.Discard))
	if err := a.read(ctx, func(tx *sql.Tx) error { return a.checkSetupLog(ctx, tx, found) }); err != nil {
		return err
	}
	missing := maps.Clone(a.Since)
	delete(missing, gift.ID{})
	for account, after := (gift.ID{}), []byte{}; ; after = account[:] {
		var err error
		if account, err = a.nextAccount(ctx, after); errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err == nil {
			err = a.read(ctx, func(tx *sql.Tx) error { return a.checkAccount(ctx, tx, account, found) })
		}
		if err != nil {
			return err
		}
		delete(missing, account)
	}
	for account := range missing {
		found(fmt.Sprintf("account %s had entries when its ends were noted, and has none", account))
	}
	if err := a.ends.Flush(); err != nil {
		return fmt.Errorf("noting the ends: %w", err)
	}
	return nil
}

// nextAccount is the first one after another that has entries or strands; sql.ErrNoRows: none has.
func (s *Store) nextAccount(ctx context.Context, after []byte) (next gift.ID, err error) {
	const query = `SELECT a.id FROM (
		SELECT e.account_id AS id FROM (SELECT account_id FROM entry WHERE account_id > $1 ORDER BY account_id, id LIMIT 1) AS e
		UNION ALL SELECT s.account_id FROM (SELECT account_id FROM strand WHERE account_id > $1 ORDER BY account_id, number LIMIT 1) AS s
		) AS a ORDER BY a.id LIMIT 1`
	err = s.readers.QueryRowContext(ctx, query, after).Scan(scanID{&next})
	return next, err
}

// sealedAccount is what is known of the seals of an account while they are followed.
type sealedAccount struct {
	*Audit
	id      gift.ID
	sealer  sealer
	key     byte // that strand 0 is followed with
	threads map[uint32]*thread
	problem func(format string, args ...any)
	unsealed
}

// thread is a strand as far as it was followed.
type thread struct {
	at      link
	begun   bool   // its beginning is there
	noted   link   // how far it came at least, as a later strand or an earlier audit says
	kept    uint32 // how far as a later strand says
	waiting map[uint32]waiting
}

// waiting is an entry that was met before the one that it follows: instances whose clocks differ give ids in another order.
type waiting struct {
	id     gift.ID
	digest [sha256.Size]byte
	mac    sealed.MAC
}

// maxWaiting is how many entries of a strand may be met before the one that they follow, so that a missing one does not make all that
// follow wait. It is far more than clocks differ.
const maxWaiting = 50_000

// unsealed are entries without a seal that nobody has accepted.
type unsealed struct {
	n      int64
	latest gift.Entry
}

func (a *Audit) checkAccount(ctx context.Context, tx *sql.Tx, id gift.ID, found func(string)) error {
	c := &sealedAccount{Audit: a, id: id, sealer: sealer{chain: a.keys.Chain()}, key: a.keys.Current(), threads: map[uint32]*thread{}}
	c.problem = func(format string, args ...any) {
		found("account " + id.String() + ": " + fmt.Sprintf(format, args...))
	}
	if err := c.begin(ctx, tx); err != nil {
		return err
	}
	for _, l := range a.Since[id] {
		c.expect(l)
	}
	const query = `SELECT ` + sealedEntryColumns + `, v.id IS NOT NULL, v.order_id, v.program_id, v.location_id,
			coalesce(v.item, FALSE), coalesce(v.promotional, FALSE), v.promotion_id, coalesce(v.currency, ''), coalesce(v.decimals, 0), coalesce(v.original, 0),
			v.valid_from, v.valid_until, v.created_at, coalesce(v.made_by, ''), v.items_id
		FROM entry AS e LEFT JOIN voucher AS v ON e.seq = 1 AND v.account_id = e.account_id AND v.id = e.voucher_id
		WHERE e.account_id = $1 ORDER BY e.id`
	err := each(ctx, tx, query, []any{bare(id)}, func(rows *sql.Rows) error {
		var e gift.Entry
		var v gift.Voucher
		var seal []byte
		var has bool
		var items gift.ID
		err := rows.Scan(append(entryFields(&e), &seal, &has, scanID{&v.OrderID}, scanID{&v.ProgramID}, scanID{&v.LocationID},
			&v.Item, &v.Promotional, scanID{&v.PromotionID}, &v.Currency.Code, &v.Currency.Decimals, &v.Original,
			scanTime{&v.ValidFrom}, scanTime{&v.ValidUntil}, scanTime{&v.CreatedAt}, &v.MadeBy, scanID{&items})...)
		if err != nil {
			return err
		}
		v.ID, v.AccountID = e.VoucherID, e.AccountID
		terms := &v
		if !has {
			terms = nil
		}
		return c.follow(&e, seal, c.sealer.digest(&e, terms, items))
	})
	if err == nil {
		c.end()
	}
	return err
}

// begin reads how strands began.
func (c *sealedAccount) begin(ctx context.Context, tx *sql.Tx) error {
	want := uint32(1)
	return each(ctx, tx, `SELECT `+strandColumns+` FROM strand WHERE account_id = $1 ORDER BY number`, []any{bare(c.id)}, func(rows *sql.Rows) error {
		n := beginning{}
		var mac []byte
		if err := rows.Scan(scanID{&n.account}, &n.number, scanTime{&n.at}, &n.ends, &mac); err != nil {
			return err
		}
		if n.number != want {
			c.problem("strands %d to %d of its entries have lost their beginnings", want, n.number-1)
		}
		want = n.number + 1
		is, err := madeWith(c.sealer.chain, sealed.MAC{}, mac, n.content())
		if err != nil {
			c.problem("the beginning of strand %d of its entries is not as it was written: %s", n.number, err)
		}
		t := c.thread(n.number)
		t.begun, t.at = true, link{strand: n.number, mac: is}
		for ends := n.ends; len(ends) >= linkSize; ends = ends[linkSize:] {
			l, _ := parseLink(ends[:linkSize])
			c.expect(l)
			c.thread(l.strand).kept = max(c.thread(l.strand).kept, l.place)
		}
		return nil
	})
}

var errNotAsWritten = errors.New("it was changed, or was never written by this program")

// madeWith tells whether a MAC is that of a content, and gives what it says of itself.
func madeWith(chain *sealed.Chain, before sealed.MAC, mac []byte, content []byte) (is sealed.MAC, err error) {
	if len(mac) != len(is) {
		return is, errNotAsWritten
	}
	copy(is[:], mac)
	right, err := chain.With(is[0], before, content)
	if err == nil && !hmac.Equal(right[:], is[:]) {
		err = errNotAsWritten
	}
	return is, err
}

func (c *sealedAccount) thread(number uint32) *thread {
	t := c.threads[number]
	if t == nil {
		t = &thread{at: link{strand: number}, waiting: map[uint32]waiting{}}
		c.threads[number] = t
	}
	return t
}

// expect notes that a strand has come this far at least. A later place stands for an earlier one, as it does for all that is before it.
func (c *sealedAccount) expect(l link) {
	t := c.thread(l.strand)
	if l.place == 0 {
		if t.begun && l.mac != t.at.mac {
			c.problem("strand %d of its entries does not begin as it did when that was noted", l.strand)
		}
		return
	}
	if t.noted == (link{}) || l.place > t.noted.place {
		t.noted = l
	} else if l.place == t.noted.place && l.mac != t.noted.mac {
		c.problem("what was noted of strand %d of its entries, at place %d, is not the same everywhere", l.strand, l.place)
	}
}

// follow takes the next entry, in the order of ids.
func (c *sealedAccount) follow(e *gift.Entry, seal []byte, digest [sha256.Size]byte) error {
	if seal == nil {
		return c.followUnsealed(e, digest)
	}
	l, ok := parseLink(seal)
	if !ok || l.strand == 0 || l.place == 0 {
		c.problem("entry %s of gift %s has a seal that is none", e.ID, e.VoucherID)
		return nil
	}
	t := c.thread(l.strand)
	_, twice := t.waiting[l.place]
	if l.place <= t.at.place || twice {
		c.problem("entry %s of gift %s takes the place of another in strand %d", e.ID, e.VoucherID, l.strand)
		return nil
	}
	t.waiting[l.place] = waiting{e.ID, digest, l.mac}
	c.proceed(t)
	if len(t.waiting) > cmp.Or(c.patience, maxWaiting) {
		c.skip(t)
	}
	return nil
}

// proceed follows a strand as far as its entries are known.
func (c *sealedAccount) proceed(t *thread) {
	for {
		w, ok := t.waiting[t.at.place+1]
		if !ok {
			return
		}
		delete(t.waiting, t.at.place+1)
		if _, err := madeWith(c.sealer.chain, t.at.mac, w.mac[:], c.sealer.after(t.at, w.digest)); err != nil {
			c.problem("entry %s is not as it was written, at place %d of strand %d: %s", w.id, t.at.place+1, t.at.strand, err)
		}
		c.reach(t, link{t.at.strand, t.at.place + 1, w.mac}) // what follows is judged by what is there
	}
}

// reach moves a strand on and holds it against what was noted of it.
func (c *sealedAccount) reach(t *thread, l link) {
	t.at = l
	if l.place == t.noted.place && l.mac != t.noted.mac {
		c.problem("strand %d of its entries is not what it was when its place %d was noted", l.strand, l.place)
	}
}

// skip passes over what is missing from a strand.
func (c *sealedAccount) skip(t *thread) {
	next := slices.Min(slices.Collect(maps.Keys(t.waiting)))
	c.problem("%d entries are missing from strand %d, after place %d; entry %s follows them", next-t.at.place-1, t.at.strand, t.at.place, t.waiting[next].id)
	w := t.waiting[next]
	delete(t.waiting, next)
	c.reach(t, link{t.at.strand, next, w.mac})
	c.proceed(t)
}

// followUnsealed takes an entry that an older program wrote, or somebody past any program. Those that were adopted make up strand 0.
func (c *sealedAccount) followUnsealed(e *gift.Entry, digest [sha256.Size]byte) error {
	t := c.thread(0)
	if t.noted.place > 0 {
		c.key = t.noted.mac[0]
	}
	l, err := c.sealer.nextWith(c.key, t.at, digest)
	if err != nil {
		return err
	}
	c.reach(t, l)
	if l.place > t.noted.place {
		if c.n++; c.n == 1 || e.At.After(c.latest.At) {
			c.latest = *e
		}
	}
	return nil
}

// end judges an account when all its entries are known.
func (c *sealedAccount) end() {
	for _, number := range slices.Sorted(maps.Keys(c.threads)) {
		t := c.threads[number]
		for len(t.waiting) > 0 {
			c.skip(t)
		}
		switch {
		case number > 0 && !t.begun:
			c.problem("strand %d of its entries has lost its beginning", number)
		case t.at.place < t.noted.place:
			c.problem("strand %d of its entries had come to place %d, and ends at place %d", number, t.noted.place, t.at.place)
		}
		if number > 0 && (t.kept < t.at.place || t.at.place == 0) {
			c.tell(c.id, t.at)
		}
	}
	c.judgeUnsealed()
}

// judgeUnsealed tells what is from before seals began from what has no excuse.
func (c *sealedAccount) judgeUnsealed() {
	o := &c.unsealed
	switch {
	case o.n == 0:
		return
	case c.Adopt:
		c.Adopted += o.n
		c.adopting = append(c.adopting, adoption{c.id, c.threads[0].at})
	case o.latest.At.Before(c.sealsBegan):
		c.Older += o.n
	default:
		c.problem("%d of its entries have no seal, the latest is %s of gift %s, made at %s: an older release of boon wrote them beside this one, or "+
			"somebody wrote them past boon. If an older release was still running then, and none is now, accept them with boon verify --adopt",
			o.n, o.latest.ID, o.latest.VoucherID, o.latest.At.Format(time.RFC3339))
	}
}

// adoption is how far the entries without a seal of an account go.
type adoption struct {
	account gift.ID
	until   link
}

// Accept notes the work of older programs as this audit found it, so that it is held against that from now on.
func (a *Audit) Accept(ctx context.Context) error {
	for _, n := range a.adopting {
		err := a.write(ctx, func(tx *sql.Tx) error {
			begins := beginning{account: n.account, at: time.Now().UTC().Truncate(time.Microsecond), ends: n.until.appendTo(nil)}
			const newest = `SELECT coalesce(max(s.number), 0) + 1 FROM strand AS s WHERE s.account_id = $1`
			if err := tx.QueryRowContext(ctx, newest, bare(n.account)).Scan(&begins.number); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `INSERT INTO strand (`+strandColumns+`) VALUES ($1, $2, $3, $4, $5)`,
				begins.row(a.keys.Chain().Next(sealed.MAC{}, begins.content()))...)
			return err
		})
		if err != nil {
			return fmt.Errorf("adopting the older entries of account %s: %w", n.account, err)
		}
	}
	if a.Adopted == 0 && !a.adoptSetup {
		return nil
	}
	return a.write(ctx, func(tx *sql.Tx) error {
		if _, err := lockSetup(ctx, tx, a.dialect.lockRows); err != nil {
			return err
		}
		is, err := hashSetup(ctx, tx)
		if err != nil {
			return err
		}
		return a.logSetup(ctx, tx, adoptedLog, fmt.Sprintf("accepted the set-up as it is, and %d entries without a seal", a.Adopted), is)
	})
}

// checkSetupLog follows the log of the set-up to what the set-up is now.
func (a *Audit) checkSetupLog(ctx context.Context, tx *sql.Tx, found func(string)) error {
	var last SetupChange
	var mac sealed.MAC
	chain := a.keys.Chain()
	broken := "" // where the set-up was not what the log says, since it was last accepted
	err := eachSetupChange(ctx, tx, func(c SetupChange, stored []byte) {
		is, err := madeWith(chain, mac, stored, c.content())
		switch {
		case c.Number != last.Number+1:
			found(fmt.Sprintf("entries %d to %d are missing from the log of the set-up", last.Number+1, c.Number-1))
		case err != nil:
			found(fmt.Sprintf("entry %d of the log of the set-up is not as it was written: %s", c.Number, err))
		case last.Number > 0 && c.Before != last.After:
			broken = fmt.Sprintf("before entry %d of its log", c.Number)
		}
		switch c.Kind {
		case newLog, adoptedLog:
			a.sealsBegan, broken = time.Time{}, ""
		case upgradedLog:
			a.sealsBegan = c.At
		}
		last, mac = c, is
		for _, l := range a.Since[gift.ID{}] {
			if int64(l.place) == c.Number && l.mac != is {
				found(fmt.Sprintf("entry %d of the log of the set-up is not what it was when it was noted", c.Number))
			}
		}
	})
	if err != nil {
		return err
	}
	for _, l := range a.Since[gift.ID{}] {
		if int64(l.place) > last.Number {
			found(fmt.Sprintf("the log of the set-up had %d entries, and has %d", l.place, last.Number))
		}
	}
	a.tell(gift.ID{}, link{place: uint32(last.Number), mac: mac})
	if is, version, err := setupNow(ctx, tx); err != nil {
		found(err.Error())
	} else if is != last.After || version != last.Version {
		broken = "since its last logged change"
	}
	if a.adoptSetup = broken != ""; a.adoptSetup && !a.Adopt {
		found("the set-up was changed " + broken + ", and the log does not say how: an older release of boon did it beside this one, or somebody did it past " +
			"boon. If it is as it should be, accept it with boon verify --adopt")
	}
	return nil
}

func setupNow(ctx context.Context, q querier) (is [sha256.Size]byte, version int64, err error) {
	if version, err = setupVersion(ctx, q); err == nil {
		is, err = hashSetup(ctx, q)
	}
	return is, version, err
}
