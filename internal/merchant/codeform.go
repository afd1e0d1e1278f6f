package merchant

import (
	"math/big"
	"slices"
)

// System is what gave out the codes that an account had before Boon.
type System string

// The systems whose exports are known. FromOther is any: its export is a plain CSV file.
const (
	FromSquare      System = "square"
	FromShopify     System = "shopify"
	FromToast       System = "toast"
	FromGiftUp      System = "giftup"
	FromWooCommerce System = "woocommerce"
	FromLightspeed  System = "lightspeed"
	FromOther       System = "csv"
)

// Systems are all of them.
func Systems() []System {
	return []System{FromSquare, FromShopify, FromToast, FromGiftUp, FromWooCommerce, FromLightspeed, FromOther}
}

// The bounds of the codes of other systems. Codes shorter than ShortestAlone are never enough to take a card anywhere:
// a receipt that shows their end leaves few to try.
const (
	MinImportedCode = 5
	MaxImportedCode = 32
	ShortestAlone   = 6
)

// CodeForm is the form of codes that another system gave out, and that go on working. Either Digits or Alphanumeric
// says how many characters they have; no two forms of an account have the same number.
type CodeForm struct {
	Digits       int `json:"digits,omitempty"`       // each of them 0 to 9, also the first
	Alphanumeric int `json:"alphanumeric,omitempty"` // each of them 0 to 9, A to Z or a to z
	// letters of either case are the same, and so are O and 0, and I and 1
	Fold bool   `json:"fold,omitempty"`
	From System `json:"from,omitempty"` // "": it does not matter which
}

// Length is how many characters the codes have.
func (f CodeForm) Length() int { return max(f.Digits, f.Alphanumeric) }

// Space is how many codes of the form there can be.
func (f CodeForm) Space() *big.Int {
	characters := int64(10)
	switch {
	case f.Alphanumeric > 0 && f.Fold:
		characters = 10 + 26 - 2
	case f.Alphanumeric > 0:
		characters = 10 + 26 + 26
	}
	return new(big.Int).Exp(big.NewInt(characters), big.NewInt(int64(f.Length())), nil)
}

// CodeForm is the form of the account's imported codes with so many characters.
func (a *Account) CodeForm(length int) (CodeForm, bool) {
	at := slices.IndexFunc(a.ImportedCodes, func(f CodeForm) bool { return f.Length() == length })
	if at < 0 {
		return CodeForm{}, false
	}
	return a.ImportedCodes[at], true
}
