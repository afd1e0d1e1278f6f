// Package ledger says what can be done to gifts: everything that changes a balance or a status is a command of it.
//
// A command says what has to be loaded (Want) and what is to be saved (Changes); a Group decides several commands, one
// after the other, on what was loaded (State). The rules themselves are pure functions of package gift. Idempotency
// lives here: a request whose key is known gets its stored answer before any rule is asked.
//
// When commands are decided, and what becomes of a failed commit, is the business of package engine. Nothing here
// waits, locks or starts a goroutine; it knows no SQL and no HTTP. An answer is whatever bytes the caller makes of an
// outcome; they are stored as they are.
//
// The tests here run commands through the engine on a real store, and those of the engine are among them.
package ledger

import (
	"errors"
	"slices"
	"strings"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// RequestKey is the scope of an Idempotency-Key: not the API key, so that its rotation changes nothing.
type RequestKey struct {
	AccountID guid.ID
	Operation operation.Name
	Key       string // of a system integrator's call: the integrator's name, a line break, and the key
}

// ProviderKey is the key of a call in another protocol, by a provider of the account. No header can hold a line break,
// so that no key of the account can be taken for it.
func ProviderKey(provider guid.ID, key string) string {
	return foreign + provider.String() + "\n" + key
}

const foreign = "provider "

// Foreign reports whether the key is a ProviderKey: what was answered has the words of another protocol.
func (k RequestKey) Foreign() bool {
	return strings.HasPrefix(k.Key, foreign) && strings.Contains(k.Key, "\n")
}

// Answer is what a caller was told: the outcome and the body, byte for byte.
type Answer struct {
	Code     refusal.Code // OK, Created, or the code of a refusal
	Body     []byte
	Long     Long             // in place of Body, when its Size is above 0: not read with its record; not stored
	Replayed bool             // given before, to the same request; not stored
	Dry      bool             // of a dry run: nothing was done; not stored
	Left     []merchant.Quota // of daily limits that this very call counted against; not stored
}

// The codes of what succeeded.
const (
	OK      refusal.Code = "OK"
	Created refusal.Code = "CREATED" // new gifts
	Nothing refusal.Code = "NOTHING" // to take or hold, up to an amount, or to release any more: there is no entry
)

// Succeeded reports whether the answer is no refusal.
func (a Answer) Succeeded() bool { return a.Code == OK || a.Code == Created || a.Code == Nothing }

// Fresh reports whether what the answer tells was done by this very call.
func (a Answer) Fresh() bool { return a.Succeeded() && !a.Replayed && !a.Dry }

// Long is a stored answer that is so long that it is read by itself, by who is about to give it.
type Long struct {
	RequestKey
	Size int // of the body
}

// Request is an idempotency record: one key, one effect.
type Request struct {
	RequestKey
	Fingerprint [32]byte // keyed hash of the normalized request
	Answer      Answer
	EntryID     guid.ID // the one entry it made, a transfer's TRANSFER_OUT, or the first of a sale; zero: none or many
	Spent       bool    // the key of what was undone before it arrived; there is no answer
	// those that the answer tells of, zero for all of the account's; of a spent key: where whoever spent it is enabled,
	// empty: everywhere
	Locations []guid.ID
	At        time.Time
}

// MayBeToldTo reports whether a caller may be given the answer: one that is limited to some locations is not told of
// what was done at others. nil is nobody in particular, who may.
func (r *Request) MayBeToldTo(c *merchant.Caller) bool {
	if c == nil || len(c.Locations) == 0 {
		return true
	}
	if r.Spent { // it tells nothing but that
		return len(r.Locations) == 0 || slices.ContainsFunc(r.Locations, c.Enabled)
	}
	return c.MayBeTold(r.Locations)
}

// Job is work to be done after the commit: one message to be delivered.
type Job struct {
	ID        guid.ID // of a GiftJob and a BalanceJob: that of the entry that asked for it
	AccountID guid.ID
	VoucherID guid.ID
	Kind      JobKind
	OrderID   guid.ID // of an OrderJob
	Due       time.Time
	Attempts  int
	Doubts    int // of the attempts: those after which nobody knows whether the message was accepted
	// Method and Contact are where a message of kind RedirectedJob goes. Those to the buyer go to the buyer's address when
	// they are sent; all others go where their gift goes.
	Method   contact.Method
	Contact  string
	Language string        // of a notice to the buyer, a BCP 47 tag; "": the account's
	Trace    string        // the traceparent of the request that asked for it, if that is recorded; else ""
	Test     bool          // of a test account: Due and Lease are by its clock
	Ahead    time.Duration // how far that clock was ahead when the job was claimed
	Lease    time.Time     // until when whoever claimed it has it; it also tells one claim from the next
}

// Now is the time for the job's account.
func (j *Job) Now() time.Time { return time.Now().Add(j.Ahead) }

// ErrTakenBack tells that a job is not to be done by the worker that claimed it.
var ErrTakenBack = errors.New("the job was taken back")

// JobKind is what a job's message says.
type JobKind string

// The kinds of job.
const (
	GiftJob    JobKind = ""        // brings the gift
	BalanceJob JobKind = "BALANCE" // tells what the redemption of the same id has left of it; its outcome changes nothing
	// RedirectedJob tells the former recipient that the gift was sent to another contact; its outcome changes nothing.
	RedirectedJob JobKind = "REDIRECTED"
	ArrivedJob    JobKind = "ARRIVED" // tells the buyer that the gift's message was delivered; its outcome changes nothing
	UsedJob       JobKind = "USED"    // tells the buyer that the gift was used for the first time, likewise
	// OrderJob brings gifts of the order OrderID to their buyer, in one message: those that no message of theirs has
	// brought. VoucherID is one of them.
	OrderJob JobKind = "ORDER"
)

// Brings reports whether a message of this kind brings gifts.
func (k JobKind) Brings() bool { return k == GiftJob || k == OrderJob }

// ToBuyer reports whether a message of this kind goes to whoever bought the gift.
func (k JobKind) ToBuyer() bool { return k == ArrivedJob || k == UsedJob }

// Notice reports whether a message of this kind is a notice that counts when it was delivered, and is left out where a
// daily limit is reached.
func (k JobKind) Notice() bool { return k == BalanceJob || k.ToBuyer() }

// Want names what a group of commands needs to be loaded. Duplicates are allowed.
type Want struct {
	Requests    []RequestKey // idempotency records
	Undo        []RequestKey // records of what is to be undone: with them what it did, and its voucher
	Undoable    []Ref        // redemptions and the like to be undone, by id: with them their voucher
	Holds       []Ref        // holds to be captured or released, by id: with them their voucher
	Vouchers    []Ref
	Codes       []codes.VoucherCode // codes to be given out: which of them exist already
	Gifts       []*gift.Gift        // to be made, as they will be if they are; the same of their codes
	Answers     []Request           // to be kept, if they are: their keys and answers, to be made ready
	DeliveredBy []Ref               // gifts: the job whose message was accepted last
	Resends     []Ref               // gifts: when they were sent again, and where they went before
	Deliveries  []Ref               // gifts: how they are delivered, with their open jobs
	Cancelled   []Ref               // gifts: what they were before they were last taken out of use
	Transferred []Ref               // gifts: whether value was ever moved between them and others
	Counts      []merchant.CountKey // of a day
	Clocks      []guid.ID           // test accounts: how far their clocks are ahead
	Setup       int64               // the oldest Call.Setup of the commands; 0: they have none
	Import      guid.ID             // that brings all Gifts; zero: none does
	Heavy       bool                // it may take long, and locks no count of what is sent: see Changes.Most
	Rehearsed   bool                // nothing is to be added to counts, so that none is locked
}

// Ref names a record within an account.
type Ref struct{ AccountID, ID guid.ID }

// State is what was loaded, under lock, for one group. What does not exist is not in it.
type State struct {
	Requests    map[RequestKey]*Request
	Undoable    map[Ref]*gift.Undoable
	Holds       map[Ref]*gift.Held
	Vouchers    map[Ref]*gift.Voucher
	Codes       map[codes.VoucherCode]bool
	DeliveredBy map[Ref]guid.ID // zero, or not in it: none yet
	Resends     map[Ref][]Resent
	Deliveries  map[Ref]*Delivery
	Before      map[Ref]gift.Status                  // what those were that were taken out of use, before the last time
	Transferred map[Ref]bool                         // those that value was moved from or to
	CashOuts    map[Ref]gift.CashOuts                // of the gifts of what is undone; who has none may be missing
	Counts      map[merchant.CountKey]merchant.Count // as they stood last; kept ones may be of a moment ago
	Clocks      map[guid.ID]time.Duration            // read after the vouchers were locked
}

// Delivery is how a gift is delivered.
type Delivery struct {
	gift.Delivery
	Jobs []Job // the messages that are still to be sent; Lease is zero where no worker has the job
}

// Resent is one resend of a gift.
type Resent struct {
	AccountID guid.ID
	VoucherID guid.ID
	Seq       int     // of its entry in the history
	ID        guid.ID // its entry's, and that of its job if it has one
	At        time.Time
	Method    contact.Method // how the gift went before
	Contact   string
}

// DeliveryChange is a gift that is delivered by other means, elsewhere, or at another time.
type DeliveryChange struct {
	AccountID guid.ID
	VoucherID guid.ID
	Delivery  gift.Delivery // DeliveredAt is not saved with it
}

// Changes is what one group decided, to be saved as sets.
type Changes struct {
	Gifts           []gift.Gift      // new
	Vouchers        []gift.Voucher   // changed: Balance, Holds, Status and Seq; each once, in its last state
	Entries         []gift.Entry     // in the order they were made
	Requests        []Request        // new
	Jobs            []Job            // new
	Rescheduled     []Job            // put off or brought forward to their Due, with Attempts at zero
	Done            []Done           // finished jobs, and jobs that were taken back
	Resends         []Resent         // new
	DeliveryChanges []DeliveryChange // changed
	Rekeyed         []Rekeyed        // gifts with other secrets than before
	Sold            []Sold           // cards of a stock that were activated, or are not any more
	Sheets          []Sheet          // new
	// records whose answers will be given again on the strength of this commit, which writes to them
	Replays []RequestKey
	Counts  map[merchant.CountKey]merchant.Count // to be added to those of the same day, or to take the place of another's
	// Staged tells that the gifts are part of an import, and are there for nobody before it is finished; nil: they are not
	Staged *Staged
	// what counts of a heavy group may come to: decide is called again when others have added too much since it was asked
	Most map[merchant.CountKey]merchant.Count
}

// Staged is how far an import has come.
type Staged struct {
	AccountID guid.ID
	ImportID  guid.ID
	Before    int // how many of its gifts were written before; another number, and nothing is changed
	Count     int // that are written now
}

// Secrets are what a gift is found by.
type Secrets struct {
	Code  codes.VoucherCode
	Token codes.Token
}

// Rekeyed is a gift that got other secrets.
type Rekeyed struct {
	AccountID guid.ID
	VoucherID guid.ID
	Secrets
	Replaced int // the number of the entry that replaced its card; 0: those before are to lead nowhere
}

// Sold is what the card of a gift says of its purchase since it was activated, or not any more.
type Sold struct {
	AccountID guid.ID
	VoucherID guid.ID
	Purchase  gift.Purchase
	At        time.Time // zero: not any more
}

// Sheet is a link to the printed sheet of an order.
type Sheet struct {
	AccountID guid.ID
	OrderID   guid.ID
	Token     codes.Token // that the link holds; only its hash is kept
	Until     time.Time   // when the link dies
}

// SheetLives is how long a link to a sheet lives: whoever has it can print and spend the gifts, and it stands in
// browsers' histories.
const SheetLives = 24 * time.Hour

// Done finishes a job.
type Done struct {
	JobID     guid.ID
	AccountID guid.ID
	VoucherID guid.ID
	// of the gift by this job; zero: it failed for good, there was nothing to do, it brought no gift, or was taken back
	DeliveredAt time.Time
	Open        bool // the job is not finished by this
}

// What becomes of a transaction that fails. The store tells it, the engine sees to it.
var (
	// ErrUnknown tells that nobody knows whether a commit took effect. The idempotency records will tell.
	ErrUnknown = errors.New("the outcome of the commit is unknown")
	// ErrRejected tells that the database refused the changes, because they break one of its constraints or because a row
	// is not as it was loaded.
	ErrRejected = errors.New("the database refuses the changes")
	// ErrFull tells that the disk of the database has no room, and that nothing was changed.
	ErrFull = errors.New("the disk of the database is full")
	// ErrInTheWay tells that another writer was in the way for as long as it was tried.
	ErrInTheWay = errors.New("another writer was in the way")
)
