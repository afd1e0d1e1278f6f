package merchant

// Books is what the journals of an account need to know of the merchant's bookkeeping.
type Books struct {
	Accounts LedgerAccounts `json:"accounts,omitzero" told:"ledger account"`
	DATEV    DATEV          `json:"datev,omitzero" told:"DATEV"`
}

// LedgerAccounts are the names or numbers of accounts in the merchant's ledger; "": the set-up does not say.
type LedgerAccounts struct {
	// what is owed to guests for gifts that were paid for
	Liability string `json:"liability,omitempty"`
	// what promotional gifts cost, and bonuses of gifts that are sold for less than they are worth
	Promotion string `json:"promotion,omitempty"`
	// between Boon and the till, whose own sales offset it
	Clearing string `json:"clearing,omitempty"`
	// out of which the rest of a gift is paid
	Cash string `json:"cash,omitempty"`
	// the income from gifts that are never used
	Breakage string `json:"breakage,omitempty"`
}

// DATEV is what DATEV needs to know of a merchant, by whom the tax adviser knows it; 0: the set-up does not say.
type DATEV struct {
	// the tax adviser's number, and the merchant's number there
	Consultant int `json:"consultant,omitempty" least:"1001" most:"9999999"`
	Client     int `json:"client,omitempty" least:"1" most:"99999"`
	// the month on the first of which the fiscal year begins
	FiscalYearStart int `json:"fiscalYearStart,omitempty" least:"1" most:"12"`
	// how many digits the accounts of the ledger have
	AccountLength int `json:"accountLength,omitempty" least:"4" most:"8"`
}

// VATTreatment is how gifts are taxed (EU directive 2016/1065).
type VATTreatment string

// The treatments; "": the set-up does not say.
const (
	MultiPurpose  VATTreatment = "multiPurpose"  // VAT is due when the gift is redeemed
	SinglePurpose VATTreatment = "singlePurpose" // VAT is due when the gift is sold
)

// VATTreatments lists them.
func VATTreatments() []VATTreatment { return []VATTreatment{MultiPurpose, SinglePurpose} }
