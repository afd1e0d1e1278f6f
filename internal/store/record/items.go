package record

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json" // reads in a third of the time; what is hashed is written as it was

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
)

// What gifts are good for is kept once for all gifts that are good for the same: a list is found by its hash, and
// never changed.
var InsertItems = &db.Query{What: "writing into item_list",
	Each: `INSERT INTO item_list (account_id, id, items)
		VALUES ($1, $2, $3) ON CONFLICT (account_id, id) DO NOTHING`,
	Postgres: `INSERT INTO item_list (account_id, id, items)
		SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::TEXT[]) ON CONFLICT (account_id, id) DO NOTHING`}

// storedItem is a merchant.Item as JSON. Its member names are a storage format: they may be added to, not changed.
type storedItem struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`

	Group string `json:"group,omitempty"`
}

// itemsText is a list as it is stored.
func itemsText(items []merchant.Item) string {
	list := make([]storedItem, len(items))
	for i, item := range items {
		list[i] = storedItem(item)
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // texts do not fail
	}
	return string(text)
}

// ItemsID is the key of the list that a voucher names; zero: none was kept.
func ItemsID(v *gift.Voucher) guid.ID {
	if v.Items == nil {
		return guid.ID{}
	}
	return HashItems(itemsText(v.Items))
}

// HashItems gives the key of a list from its text.
func HashItems(text string) guid.ID {
	hash := sha256.Sum256([]byte(text))
	return guid.ID(hash[:16])
}

// SaveItems writes the lists that new gifts name, each once.
func SaveItems(gifts []gift.Gift) db.Batch {
	w := db.Batch{Query: InsertItems}
	var seen []ledger.Ref
	var last []merchant.Item // the gifts of an order are good for the same
	for i := range gifts {
		v := &gifts[i].Voucher
		if v.Items == nil || i > 0 && v.AccountID == gifts[i-1].AccountID && slices.Equal(v.Items, last) && last != nil {
			continue
		}
		last = v.Items
		ref := ledger.Ref{AccountID: v.AccountID, ID: ItemsID(v)}
		if !slices.Contains(seen, ref) {
			seen = append(seen, ref)
			w.Rows = append(w.Rows, []any{db.KeyOf(ref.AccountID), db.KeyOf(ref.ID), itemsText(v.Items)})
		}
	}
	slices.SortFunc(w.Rows, func(a, b []any) int {
		return slices.Compare(append(a[0].([]byte), a[1].([]byte)...), append(b[0].([]byte), b[1].([]byte)...))
	})
	return w
}

// scanItems reads a column into a list of items.
type scanItems struct{ to *[]merchant.Item }

// Scan implements sql.Scanner.
func (s scanItems) Scan(column any) error {
	list, err := readJSON[[]storedItem](column)
	if err != nil {
		return fmt.Errorf("a list of items is damaged: %w", err)
	}
	if *s.to = nil; list != nil {
		*s.to = make([]merchant.Item, len(list))
	}
	for i, item := range list {
		(*s.to)[i] = merchant.Item(item)
	}
	return nil
}

// readJSON reads a column of JSON; NULL is the zero value.
func readJSON[T any](column any) (v T, err error) {
	switch text := column.(type) {
	case nil:
	case string:
		err = jsonv2.Unmarshal([]byte(text), &v)
	case []byte:
		err = jsonv2.Unmarshal(text, &v)
	default:
		err = fmt.Errorf("it is a %T", column)
	}
	return v, err
}
