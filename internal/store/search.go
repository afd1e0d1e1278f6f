package store

import (
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// What gifts are found by beside their ids, each with the letter that its keys begin with. The table gift_search holds
// a keyed hash for each: the last four digits of a code in the clear would leave a thief of the database a ten
// thousandth of the codes to try.
const (
	byLastFour  = "4"
	byContact   = "c"
	byWord      = "w"
	byPromotion = "p"
	byLocation  = "l"
	byStatus    = "s"
)

// rare are the statuses that few gifts ever have. A gift that had one stays in the index.
var rare = map[gift.Status]bool{gift.PurchaseFailed: true, gift.FailedDelivery: true, gift.Cancelled: true}

var insertSearch = insertRows("gift_search", "account_id, key, voucher_id", "BBB", ` ON CONFLICT (account_id, key, voucher_id) DO NOTHING`)

// searchRows are what a gift is found by.
func (s *Store) searchRows(g *gift.Gift) (rows [][]any) {
	add := func(by, text string) {
		if text != "" {
			rows = append(rows, []any{keyOf(g.AccountID), s.keys.SearchHash(g.AccountID, by+text), keyOf(g.ID)})
		}
	}
	add(byLastFour, g.Card.Code.LastFour())
	add(byContact, gift.Fold(g.Card.Contact))
	for _, word := range gift.SearchWords(g.Card.Recipient) {
		add(byWord, word)
	}
	if !g.PromotionID.IsZero() {
		add(byPromotion, g.PromotionID.String())
	}
	if !g.LocationID.IsZero() {
		add(byLocation, g.LocationID.String())
	}
	if rare[g.Status] {
		add(byStatus, g.Status.String())
	}
	return rows
}

// saveSearch notes what new gifts are found by, and those that got a rare status, another code or another address.
// What they were found by before finds them still.
func (g *group) saveSearch(c *ledger.Changes) batch {
	w := batch{query: insertSearch}
	add := func(account, voucher gift.ID, text string) {
		w.rows = append(w.rows, []any{keyOf(account), g.keys.SearchHash(account, text), keyOf(voucher)})
	}
	for i := range c.Gifts {
		w.rows = append(w.rows, g.preparedFor(&c.Gifts[i]).search...)
	}
	for i := range c.Vouchers {
		if v := &c.Vouchers[i]; rare[v.Status] {
			add(v.AccountID, v.ID, byStatus+v.Status.String())
		}
	}
	for _, r := range c.Rekeyed {
		add(r.AccountID, r.VoucherID, byLastFour+r.Code.LastFour())
	}
	for _, r := range c.DeliveryChanges {
		if r.Delivery.Contact != "" {
			add(r.AccountID, r.VoucherID, byContact+gift.Fold(r.Delivery.Contact))
		}
	}
	return w
}

// maxSources is how many locations of a key a list follows side by side.
const maxSources = 8

// searched gives the keys of what narrows a filter most, and those of everything else that must be found too. Each is
// a list of the hashes that it can have.
func (s *Store) searched(f gift.Filter) (first [][]byte, rest [][][]byte) {
	var all [][][]byte
	add := func(by, text string) { all = append(all, s.keys.SearchHashes(f.AccountID, by+text)) }
	if f.Contact != "" {
		add(byContact, f.Contact)
	}
	if f.LastFour != "" {
		add(byLastFour, f.LastFour)
	}
	for _, word := range f.Words {
		add(byWord, word)
	}
	found := len(all)
	if len(all) == 0 && rare[f.Status] {
		add(byStatus, f.Status.String())
	}
	if len(all) == 0 && !f.LocationID.IsZero() {
		add(byLocation, f.LocationID.String())
	}
	if len(all) == 0 && len(f.Locations) > 0 && len(f.Locations) <= maxSources {
		var either [][]byte
		for _, id := range f.Locations {
			either = append(either, s.keys.SearchHashes(f.AccountID, byLocation+id.String())...)
		}
		all = append(all, either)
	}
	if len(all) == 0 && !f.PromotionID.IsZero() {
		add(byPromotion, f.PromotionID.String())
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all[0], all[1:max(1, found)]
}

// keyColumns are ids as arguments.
func keyColumns(ids []gift.ID) []any {
	all := make([]any, len(ids))
	for i := range ids {
		all[i] = keyOf(ids[i])
	}
	return all
}
