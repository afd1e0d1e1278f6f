// Package tables is the table of tables: a row for each table of the database, with what is to be known by those who do
// something to all of them. A new table is a migration and a row here. Tests hold the rows to the schema, and to what
// the other packages do. It knows no SQL and imports nothing.
package tables

// Table is one table of the database.
type Table struct {
	Name string
	Key  []string // its primary key
	// Owner is the package under internal that inserts its rows.
	Owner string
	// Place is where Citus puts the table.
	Place Place
	// Guarded is a table into which guards insert rows while rows of other tables come: a copy empties it first.
	Guarded bool
	// People is what the table tells of people, and erasing takes out; "": nothing.
	People string
	// Verified is the part of boon verify that reads the table; Unverified is why there is none.
	Verified, Unverified string
}

// Place is where Citus puts a table. The zero value is the coordinator.
type Place struct {
	By        string // the column that the table is distributed by; it is part of the key
	Reference bool   // a copy on every node
}

// The places. What grows with the accounts is distributed by account, and the rows of an account are together.
var (
	byAccount   = Place{By: "account_id"}
	reference   = Place{Reference: true}
	coordinator = Place{}
)

// The parts of boon verify that are no part of check.Check.Parts.
const (
	Histories = "histories" // each gift with its entries, one gift after the other
	Chains    = "hash chains"
)

// All are the tables, each after those that its rows refer to: so they are copied. Rows of a history come in the order
// in which they were made, so that the guards on histories let them pass.
var All = []Table{
	{Name: "schema_version", Key: key("version"), Owner: "store/db", Place: reference,
		Unverified: "every start reads it"},
	{Name: "key_check", Key: key("one"), Owner: "store/db", Place: reference,
		Unverified: "every start reads it"},
	{Name: "setup_version", Key: key("one"), Owner: "store/setup", Place: reference,
		Verified: Chains},
	{Name: "forgotten", Key: key("one"), Owner: "store", Place: reference,
		Verified: "events"},
	{Name: "verification", Key: key("one"), Owner: "store/check", Place: reference,
		Unverified: "it says what verify found"},
	{Name: "account", Key: key("id"), Owner: "store/setup", Place: reference,
		Verified: "the set-up"},
	// Mails find pictures by their hash.
	{Name: "asset", Key: key("account_id", "hash"), Owner: "store/setup", Place: reference,
		Verified: "pictures"},
	{Name: "api_key", Key: key("id"), Owner: "store/setup", Place: reference,
		Verified: "the set-up"},
	{Name: "test_clock", Key: key("account_id"), Owner: "store/setup", Place: coordinator, // read with jobs
		Unverified: "no value depends on the clock of a test account"},
	{Name: "setup_change", Key: key("number"), Owner: "store/setup", Place: reference,
		Verified: Chains},
	// Who may come in to the console is sealed, row by row. Removing a member deletes the row: see boon staff revoke.
	{Name: "staff_member", Key: key("account_id", "id"), Owner: "store/staff", Place: reference,
		Unverified: "a row that was changed does not open"},
	{Name: "staff_invitation", Key: key("hash"), Owner: "store/staff", Place: coordinator, // few, and soon over
		Unverified: "a row that was changed does not open"},
	{Name: "staff_session", Key: key("hash"), Owner: "store/staff", Place: coordinator,
		Unverified: "a row that was changed does not open"},
	// A row is there until its mail is sent, at most for as long as mails are tried.
	{Name: "staff_notice", Key: key("id"), Owner: "store/staff", Place: coordinator,
		Unverified: "a row that was changed does not open"},
	// What is in it of people is sealed, and deleted once the gifts are made, or after a day. Lists of all accounts are
	// claimed together.
	{Name: "send_list", Key: key("account_id", "id"), Owner: "store/sendlists", Place: coordinator,
		Unverified: "a row that was changed does not open"},
	// A link is there for a day, as links are counted. Those of all accounts are claimed together.
	{Name: "guest_link", Key: key("account_id", "hash"), Owner: "store/guests", Place: coordinator,
		People:     "contacts that asked for their gifts",
		Unverified: "a row that was changed does not open"},
	{Name: "guest_session", Key: key("account_id", "hash"), Owner: "store/guests", Place: byAccount,
		People:     "contacts that look at their gifts",
		Unverified: "a row that was changed does not open"},
	{Name: "trail", Key: key("account_id", "id"), Owner: "store/setup", Place: byAccount,
		Unverified: "nothing is worked out from it"},
	{Name: "used_record", Key: key("account_id", "record_id"), Owner: "store", Place: byAccount,
		Verified: "records in use"},
	{Name: "item_list", Key: key("account_id", "id"), Owner: "store/record", Place: byAccount,
		Verified: "lists of items"},
	{Name: "gift_import", Key: key("account_id", "id"), Owner: "store/imported", Place: byAccount,
		Verified: "imports"},
	{Name: "voucher", Key: key("account_id", "id"), Owner: "store/record", Place: byAccount,
		People:   "customers that gifts are linked to",
		Verified: Histories},
	{Name: "order_terms", Key: key("account_id", "order_id"), Owner: "store/record", Place: byAccount,
		Unverified: "text of the merchant, shown only"},
	{Name: "card", Key: key("account_id", "voucher_id"), Owner: "store/record", Place: byAccount,
		People:   "names, contacts, message and notes",
		Verified: "codes and tokens, and what gifts are found by"},
	// Who shows a code knows no account.
	{Name: "secret", Key: key("hash"), Owner: "store/record", Place: Place{By: "hash"},
		Verified: "codes and tokens, and what gifts are found by"},
	// By what cards are sold. Whoever sells one knows its account.
	{Name: "activation_code", Key: key("account_id", "hash"), Owner: "store/record", Place: byAccount,
		Verified: "activation codes"},
	{Name: "gift_search", Key: key("account_id", "key", "voucher_id"), Owner: "store/record", Place: byAccount,
		People:   "hashes of names and contacts",
		Verified: "codes and tokens, and what gifts are found by"},
	{Name: "tally", Key: key("account_id"), Owner: "store/record", Place: byAccount,
		Verified: "the counts of gifts"},
	// Its entries are of several accounts.
	{Name: "chain", Key: key("writer", "n"), Owner: "store", Place: Place{By: "writer"},
		Verified: Chains},
	{Name: "entry", Key: key("account_id", "id"), Owner: "store/record", Place: byAccount,
		People:   "customers of reloads and activations, words that name somebody",
		Verified: Histories},
	{Name: "erasure", Key: key("account_id", "entry_id"), Owner: "store/erase", Place: byAccount,
		Verified: Chains},
	{Name: "given_back", Key: key("account_id", "redemption_id"), Owner: "store", Place: byAccount, Guarded: true,
		Verified: "what was given back"},
	{Name: "event", Key: key("account_id", "position"), Owner: "store/feed", Place: byAccount, Guarded: true,
		Verified: "events"},
	{Name: "book_day", Key: key("account_id", "day"), Owner: "store/sums", Place: byAccount,
		Verified: "the sums of closed days"},
	{Name: "book_sum", Key: key("account_id", "cube", "day", "line", "program_id", "promotional", "item", "currency",
		"decimals", "sold", "place", "key_id", "month", "vat", "vat_rate"), Owner: "store/sums", Place: byAccount,
		Verified: "the sums of closed days"},
	{Name: "breakage", Key: key("account_id", "month", "program_id", "currency"), Owner: "store/breakage",
		Place:    byAccount,
		Verified: "booked breakage"},
	{Name: "request", Key: key("account_id", "key", "operation"), Owner: "store/record", Place: byAccount,
		People:   "contacts in answers",
		Verified: "what idempotency records say was done"},
	{Name: "answer", Key: key("account_id", "key", "operation"), Owner: "store/record", Place: byAccount,
		People:   "contacts in long answers",
		Verified: "what idempotency records say was done"},
	// Jobs of all accounts are claimed together, with SKIP LOCKED, which Citus does not do over several nodes.
	{Name: "job", Key: key("account_id", "id"), Owner: "store", Place: coordinator,
		People:   "contacts, and words of gateways about them",
		Verified: "gifts to be delivered"},
	{Name: "resend", Key: key("account_id", "voucher_id", "seq"), Owner: "store", Place: byAccount,
		People:   "contacts that a gift was sent to before",
		Verified: "resends without an entry"},
	{Name: "sheet", Key: key("hash"), Owner: "store", Place: Place{By: "hash"},
		Unverified: "a row that was changed does not open"},
	{Name: "outbox", Key: key("id"), Owner: "store", Place: Place{By: "id"},
		People:   "whole messages",
		Verified: "the outbox"},
	{Name: "till_bucket", Key: key("account_id", "key_id", "location_id"), Owner: "store/misses", Place: byAccount,
		Unverified: "it limits guesses, and says nothing of value"},
	{Name: "till_shift", Key: key("account_id", "key_id"), Owner: "store/setup", Place: byAccount,
		Unverified: "it ends sign-ins, and says nothing of value"},
	{Name: "key_miss", Key: key("account_id", "key_id"), Owner: "store/misses", Place: byAccount,
		Unverified: "it limits guesses, and says nothing of value"},
	{Name: "day_count", Key: key("account_id", "what"), Owner: "store", Place: byAccount,
		Unverified: "it limits what a day sends and redeems; entries say what was"},
	{Name: "anonymous_bucket", Key: key("address_hash"), Owner: "store/misses", Place: Place{By: "address_hash"},
		Unverified: "it limits guesses, and says nothing of value"},
	// A row for each key, written every few minutes.
	{Name: "key_use", Key: key("key_id"), Owner: "store/setup", Place: coordinator,
		Unverified: "it says when a key was used last, for people"},
	{Name: "webhook", Key: key("account_id", "id"), Owner: "store/setup", Place: reference,
		Verified: "the set-up"},
	{Name: "webhook_state", Key: key("account_id", "webhook_id"), Owner: "store/hooks", Place: byAccount,
		Unverified: "an endpoint that is told twice, or late, loses no value"},
	// Those of all accounts are claimed together.
	{Name: "webhook_lease", Key: key("account_id"), Owner: "store/hooks", Place: coordinator,
		Unverified: "it ends by itself"},
	{Name: "webhook_attempt", Key: key("account_id", "webhook_id", "id"), Owner: "store/hooks", Place: byAccount,
		People:     "answers of endpoints to events",
		Unverified: "it is kept for 30 days, for people"},
	{Name: "pass_device", Key: key("account_id", "voucher_id", "device"), Owner: "store/passes", Place: byAccount,
		People:     "phones that have passes",
		Unverified: "a phone that is told twice, or late, loses no value"},
	// Those of all accounts are claimed together.
	{Name: "pass_lease", Key: key("account_id"), Owner: "store/passes", Place: coordinator,
		Unverified: "it ends by itself"},
	{Name: "google_object", Key: key("account_id", "voucher_id"), Owner: "store/passes", Place: byAccount,
		People:     "that Google is to keep what gifts say of people",
		Unverified: "a pass that Google is told twice, or late, loses no value"},
	{Name: "pass_place", Key: key("account_id"), Owner: "store/passes", Place: byAccount,
		Unverified: "a phone that is told twice, or late, loses no value"},
}

func key(columns ...string) []string { return columns }

// Copied are the tables that a copy takes: all but the two that belong to a database itself.
func Copied() (all []Table) {
	for _, t := range All {
		if t.Name != "schema_version" && t.Name != "key_check" {
			all = append(all, t)
		}
	}
	return all
}
