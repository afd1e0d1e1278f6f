package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
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

var insertSearch = db.InsertRows("gift_search", "account_id, key, voucher_id", "BBB",
	` ON CONFLICT (account_id, key, voucher_id) DO NOTHING`)

// searchTexts are what a gift is found by, each after its letter.
func searchTexts(g *gift.Gift) (texts []string) {
	add := func(by, text string) {
		if text != "" {
			texts = append(texts, by+text)
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
	return texts
}

// searchRows are the rows of what a gift is found by.
func (s *Store) searchRows(g *gift.Gift) (rows [][]any) {
	for _, text := range searchTexts(g) {
		rows = append(rows, []any{db.KeyOf(g.AccountID), s.db.Keys.SearchHash(g.AccountID, text), db.KeyOf(g.ID)})
	}
	return rows
}

// saveSearch notes what new gifts are found by, and those that got a rare status, another code or another address.
// What they were found by before finds them still.
func (g *group) saveSearch(c *ledger.Changes) db.Batch {
	w := db.Batch{Query: insertSearch}
	add := func(account, voucher gift.ID, text string) {
		w.Rows = append(w.Rows, []any{db.KeyOf(account), g.db.Keys.SearchHash(account, text), db.KeyOf(voucher)})
	}
	for i := range c.Gifts {
		w.Rows = append(w.Rows, g.preparedFor(&c.Gifts[i]).search...)
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
	add := func(by, text string) { all = append(all, s.db.Keys.SearchHashes(f.AccountID, by+text)) }
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
			either = append(either, s.db.Keys.SearchHashes(f.AccountID, byLocation+id.String())...)
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
		all[i] = db.KeyOf(ids[i])
	}
	return all
}

const (
	selectCardPage = selectGift + ` WHERE (v.account_id, v.id) > ($1, $2) ORDER BY v.account_id, v.id LIMIT $3`
	selectKeysOf   = `SELECT f.voucher_id, f.key FROM gift_search AS f
		WHERE f.account_id = $1 AND f.key = {key} AND f.voucher_id = {gift}`
)

// selectSearch gives those of the pairs of a key and a gift that gift_search has.
var selectSearch = &db.Query{What: "reading what gifts are found by", Scoped: true,
	One: strings.NewReplacer("{key}", "$2", "{gift}", "$3").Replace(selectKeysOf),
	Arrays: `SELECT r.* FROM unnest(` + db.ArrayPlaceholders(2, "BB") + `) AS w (k, g) CROSS JOIN LATERAL (` +
		strings.NewReplacer("{key}", "w.k", "{gift}", "w.g").Replace(selectKeysOf) + ` OFFSET 0) AS r`}

// checkSearch looks for gifts that are not found by what their cards say. What they were found by earlier may find
// them, too.
func (s *Store) checkSearch(ctx context.Context, found func(string)) error {
	var after ledger.Ref
	const size = 200
	for n := size; n == size; {
		n = 0
		var page []gift.Gift
		args := []any{db.KeyOf(after.AccountID), db.KeyOf(after.ID), size}
		err := db.Each(ctx, s.db.Readers, selectCardPage, args, func(rows *sql.Rows) error {
			g, closed, err := s.scanGift(rows)
			if after = refOf(&g.Voucher); err == nil && closed == nil { // another check tells of those that do not open
				page = append(page, g)
			}
			n++
			return err
		})
		if err == nil {
			err = s.checkSearchOf(ctx, page, found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) checkSearchOf(ctx context.Context, page []gift.Gift, found func(string)) error {
	has := map[string]bool{} // the key and the gift
	account := func(g gift.Gift) gift.ID { return g.AccountID }
	batches := byAccount(page, account, func(account gift.ID, of []gift.Gift) db.Batch {
		w := db.Batch{Query: selectSearch, Account: account, Scan: func(from db.Scanner) error {
			var voucher gift.ID
			var key []byte
			err := from.Scan(db.ScanID(&voucher), &key)
			has[string(key)+voucher.String()] = true
			return err
		}}
		for i := range of {
			for _, text := range searchTexts(&of[i]) {
				for _, key := range s.db.Keys.SearchHashes(account, text) {
					w.Rows = append(w.Rows, []any{key, db.KeyOf(of[i].ID)})
				}
			}
		}
		return w
	})
	if err := s.db.Read(ctx, batches); err != nil {
		return err
	}
	for i := range page {
		g := &page[i]
		findsIt := func(key []byte) bool { return has[string(key)+g.ID.String()] }
		for _, text := range searchTexts(g) {
			if !slices.ContainsFunc(s.db.Keys.SearchHashes(g.AccountID, text), findsIt) {
				found(fmt.Sprintf("gift %s is not found by something that its card says: a search does not show it", g.ID))
				break
			}
		}
	}
	return nil
}
