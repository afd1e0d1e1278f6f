package record

import (
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
)

// What gifts are found by beside their ids, each with the letter that its keys begin with. The table gift_search holds
// a keyed hash for each: the last four digits of a code in the clear would leave a thief of the database a ten
// thousandth of the codes to try.
const (
	ByLastFour  = "4"
	ByContact   = "c"
	ByWord      = "w"
	ByPromotion = "p"
	ByLocation  = "l"
	ByStatus    = "s"
)

// Rare are the statuses that few gifts ever have. A gift that had one stays in the index.
var Rare = map[gift.Status]bool{gift.PurchaseFailed: true, gift.FailedDelivery: true, gift.Cancelled: true}

// InsertSearch writes rows that SearchRows made; one that is there stays.
var InsertSearch = &db.Query{What: "writing into gift_search",
	Each: `INSERT INTO gift_search (account_id, key, voucher_id)
		VALUES ($1, $2, $3) ON CONFLICT (account_id, key, voucher_id) DO NOTHING`,
	Postgres: `INSERT INTO gift_search (account_id, key, voucher_id)
		SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[])
		ON CONFLICT (account_id, key, voucher_id) DO NOTHING`}

// SearchTexts are what a gift is found by, each after its letter.
func SearchTexts(g *gift.Gift) (texts []string) {
	add := func(by, text string) {
		if text != "" {
			texts = append(texts, by+text)
		}
	}
	add(ByLastFour, g.Card.Code.LastFour())
	add(ByContact, contact.Fold(g.Card.Contact))
	for _, word := range contact.SearchWords(g.Card.Recipient) {
		add(ByWord, word)
	}
	if !g.PromotionID.IsZero() {
		add(ByPromotion, g.PromotionID.String())
	}
	if !g.LocationID.IsZero() {
		add(ByLocation, g.LocationID.String())
	}
	if Rare[g.Status] {
		add(ByStatus, g.Status.String())
	}
	return texts
}

// SearchRows are the rows of what a gift is found by.
func SearchRows(keys *sealed.Keys, g *gift.Gift) (rows [][]any) {
	for _, text := range SearchTexts(g) {
		rows = append(rows, []any{db.KeyOf(g.AccountID), keys.SearchHash(g.AccountID, text), db.KeyOf(g.ID)})
	}
	return rows
}
