package gift

import "time"

// cashOutRule is when a jurisdiction lets the holder of a purchased gift ask for the rest of it in cash.
type cashOutRule struct {
	below    Amount // the balance is less than this, in cents; 0: see used90
	orEqual  bool   // or exactly that much
	used     bool   // only after the gift was used at least once
	original Amount // only where the gift was worth more than this, in cents
	used90   bool   // at least 90 % of the gift has been redeemed, whatever is left
}

// cashOutRules are those of the United States, as the laws were found published in November 2026 (for Vermont, in a
// legislature's survey of such laws). They are a help for the cashier, not legal advice. Left out: Texas, whose law
// (Business and Commerce Code § 604.152) spares gifts that neither expire nor carry fees, as none here do (§
// 604.002(5)); Puerto Rico (Act 31-2015), whose limit could not be confirmed from the text of the act.
var cashOutRules = map[string]cashOutRule{
	// Cal. Civ. Code § 1749.5(b)(2), SB 22 of 2025: less than $15 since 2026-04-01
	"US-CA": {below: 15_00},
	"US-CO": {below: 5_00, orEqual: true}, // Colo. Rev. Stat. § 6-1-722: $5 or less
	// Conn. Gen. Stat. § 42-461(c): less than $3 after a purchase (with the receipt)
	"US-CT": {below: 3_00, used: true},
	// Mass. Gen. Laws ch. 200A § 5D: 90 % redeemed, no value can be added
	"US-MA": {used90: true},
	"US-ME": {below: 5_00, used: true, original: 5_00}, // Me. Rev. Stat. tit. 33 § 2066(4): the same as N.J.
	"US-MT": {below: 5_00, original: 5_00},             // Mont. Code § 30-14-108(4): less than $5, of more than $5
	// N.J. Stat. § 46:30B-42.1: of more than $5, less than $5 after use
	"US-NJ": {below: 5_00, used: true, original: 5_00},
	"US-OR": {below: 5_00, used: true}, // Or. Rev. Stat. § 646A.276(1)(d): less than $5, used at least once
	"US-RI": {below: 1_00, used: true}, // R.I. Gen. Laws § 6-13-12: less than $1 of a redeemed gift
	"US-VT": {below: 1_00},             // Vt. Stat. tit. 8 § 2704: less than $1
	"US-WA": {below: 5_00, used: true}, // Wash. Rev. Code § 19.240.020(3): less than $5 after a purchase
}

// CashOutAllowed reports whether the law of a jurisdiction (ISO 3166-2) lets the holder of a gift ask for its balance
// in cash. These laws are about gifts of money that were paid for, in US dollars; a gift that cannot be redeemed
// cannot be cashed out either, nor one of which something is held.
func CashOutAllowed(jurisdiction string, v *Voucher, now time.Time) bool {
	rule, ok := cashOutRules[jurisdiction]
	if !ok || v.Item || v.Promotional || v.Currency.Code != "USD" || v.Balance <= 0 || !v.Status.Redeemable() ||
		v.Blocked != "" || v.HeldAt(now) > 0 {
		return false
	}
	if rule.used && v.Balance == v.Loaded || v.Loaded <= rule.original {
		return false
	}
	if rule.used90 {
		return v.Balance <= v.Loaded/10
	}
	return v.Balance < rule.below || rule.orEqual && v.Balance == rule.below
}
