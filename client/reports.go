package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const reportsPath = integrationPath + "reports/"

// ReportQuery says of which time a report is to be. The times are dates, which are days of the account, or date-times
// with an offset.
type ReportQuery struct {
	At       string   // of a report of an instant: a date is the end of the day; "": now
	From, To string   // of a report of a period: from midnight of a date, up to the end of another; To "": up to now
	GroupBy  []string // what rows are apart by: see the documentation of the report
	Rate     Decimal  // of Breakage: how much of what is sold is never redeemed, in percent
	Months   int      // of Dormant: for how many months nobody has used the gifts
}

// Report is a report of the books, with what proves it.
type Report[Row any] struct {
	Name      string    `json:"name"`
	AccountID string    `json:"accountID"`
	TimeZone  string    `json:"timeZone"`
	At        time.Time `json:"at"`   // zero: it is of a period
	From      time.Time `json:"from"` // zero: it is of an instant
	To        time.Time `json:"to"`
	GroupBy   []string  `json:"groupBy"`
	Rate      Decimal   `json:"rate"`   // zero: it is not of breakage
	Months    int       `json:"months"` // 0: it is not of dormant gifts
	// OrganizationIDs are the locations that the key is limited to, and the report with it; none: it is of the account.
	OrganizationIDs []string `json:"organizationIDs"`
	Rows            []Row    `json:"rows"`

	Content  json.RawMessage `json:"-"` // the report itself, which SHA256 is of
	ReportID string          `json:"-"`
	SHA256   string          `json:"-"` // in hexadecimal
	Meta     Meta            `json:"-"`
}

// ReportSort is of which gifts a row tells, and in what.
type ReportSort struct {
	Currency    string `json:"currency"`
	IsPromoType bool   `json:"isPromoType"`
	IsItemType  bool   `json:"isItemType"`
	Unit        string `json:"unit"` // MONEY, or PIECES of items
	// What the row is apart by; "": it was not asked for, or there is none.
	ProgramID      string `json:"programID"`
	OrganizationID string `json:"organizationID"`
	Month          string `json:"month"` // 2026-11
	Day            string `json:"day"`   // 2026-11-30
	KeyID          string `json:"keyID"`
}

// LiabilityRow is what was in gifts of one sort. Owed is Open and Blocked; nothing is owed of Expired.
type LiabilityRow struct {
	ReportSort
	Open    Decimal `json:"open"`
	Blocked Decimal `json:"blocked"`
	Owed    Decimal `json:"owed"`
	Expired Decimal `json:"expired"`
}

// RollForwardRow is how what was owed for gifts of one sort changed: Opening and all lines come to Closing.
type RollForwardRow struct {
	ReportSort
	Opening       Decimal `json:"opening"`
	Issued        Decimal `json:"issued"`
	Activated     Decimal `json:"activated"`
	Reloaded      Decimal `json:"reloaded"`
	Imported      Decimal `json:"imported"`
	Transferred   Decimal `json:"transferred"`
	AdjustedUp    Decimal `json:"adjustedUp"`
	GivenBack     Decimal `json:"givenBack"`
	CashGivenBack Decimal `json:"cashGivenBack"`
	Redeemed      Decimal `json:"redeemed"`
	CashedOut     Decimal `json:"cashedOut"`
	AdjustedDown  Decimal `json:"adjustedDown"`
	Cancelled     Decimal `json:"cancelled"`
	Expired       Decimal `json:"expired"`
	Closing       Decimal `json:"closing"`
	Bonus         Decimal `json:"bonus"` // of what was sold less what was cancelled: what nobody paid for
}

// RedemptionsRow is what was redeemed, given back and paid out in cash. Net is Redeemed less GivenBack.
type RedemptionsRow struct {
	ReportSort
	Redemptions   int     `json:"redemptions"`
	Redeemed      Decimal `json:"redeemed"`
	Reversals     int     `json:"reversals"`
	GivenBack     Decimal `json:"givenBack"`
	Net           Decimal `json:"net"`
	CashOuts      int     `json:"cashOuts"`
	CashedOut     Decimal `json:"cashedOut"`
	CashReversals int     `json:"cashReversals"`
	CashGivenBack Decimal `json:"cashGivenBack"`
}

// SettlementRow is what was sold at one location and used at one location. Due is what the seller owes for it: Redeemed
// less GivenBack, and CashedOut less CashGivenBack.
type SettlementRow struct {
	ReportSort
	SoldAtID      string  `json:"soldAtID"`     // "": online
	RedeemedAtID  string  `json:"redeemedAtID"` // "": at no location
	Redeemed      Decimal `json:"redeemed"`
	GivenBack     Decimal `json:"givenBack"`
	CashedOut     Decimal `json:"cashedOut"`
	CashGivenBack Decimal `json:"cashGivenBack"`
	Due           Decimal `json:"due"`
}

// SettlementDebt is what one legal entity owes another one. Who has neither a legal entity nor a location is the
// account.
type SettlementDebt struct {
	Currency           string  `json:"currency"`
	IsPromoType        bool    `json:"isPromoType"`
	FromLegalEntity    string  `json:"fromLegalEntity"`
	FromOrganizationID string  `json:"fromOrganizationID"` // of a location without a legal entity
	ToLegalEntity      string  `json:"toLegalEntity"`
	ToOrganizationID   string  `json:"toOrganizationID"` // of a location without a legal entity
	Amount             Decimal `json:"amount"`
}

// SettlementReport is a report of who owes whom. Payments settle all Debts.
type SettlementReport struct {
	Report[SettlementRow]
	Debts    []SettlementDebt `json:"debts"` // each pair of legal entities net
	Payments []SettlementDebt `json:"payments"`
}

// AgeingRow is what became of gifts of one sort that were sold in Month: Sold, less what was cancelled, comes to the
// others. RedeemedShare is Redeemed and CashedOut of Sold, as a part of 1; zero where nothing was sold.
type AgeingRow struct {
	ReportSort
	Sold          Decimal `json:"sold"`
	Redeemed      Decimal `json:"redeemed"`
	CashedOut     Decimal `json:"cashedOut"`
	Expired       Decimal `json:"expired"`
	Owed          Decimal `json:"owed"`
	RedeemedShare Decimal `json:"redeemedShare"`
}

// BreakageRow is how much of what is owed for gifts of a program that were sold in Month will never be redeemed, by an
// estimate. Where Escheat, there is none: that goes to a state.
type BreakageRow struct {
	ReportSort
	Sold      Decimal `json:"sold"`
	Redeemed  Decimal `json:"redeemed"`
	CashedOut Decimal `json:"cashedOut"`
	Expired   Decimal `json:"expired"`
	Owed      Decimal `json:"owed"`
	Escheat   bool    `json:"escheat"`
	Estimate  Decimal `json:"estimate"`
}

// BreakageTotal holds what is estimated for a program and currency against what is booked. ToBook is what a booking
// would add to Booked; below zero: what it would take back.
type BreakageTotal struct {
	ProgramID string  `json:"programID"`
	Currency  string  `json:"currency"`
	Estimate  Decimal `json:"estimate"`
	Booked    Decimal `json:"booked"`
	ToBook    Decimal `json:"toBook"`
}

// BreakageBooking is what was booked for a program and currency when somebody booked the breakage of a month.
type BreakageBooking struct {
	Month     string    `json:"month"` // 2026-11
	ProgramID string    `json:"programID"`
	Currency  string    `json:"currency"`
	Rate      Decimal   `json:"rate"`   // in percent
	Amount    Decimal   `json:"amount"` // below zero: so much of what was booked before is taken back
	BookedAt  time.Time `json:"bookedAt"`
	KeyID     string    `json:"keyID"`
}

// BreakageReport is a report of breakage, with what was booked before its instant. Totals and Bookings are of the whole
// account: they are nil for a key that is limited to locations.
type BreakageReport struct {
	Report[BreakageRow]
	Totals   []BreakageTotal   `json:"totals"`
	Bookings []BreakageBooking `json:"bookings"` // in the order of months
}

// DormantRow is how many gifts nobody has used, and what is owed for them.
type DormantRow struct {
	ReportSort
	Jurisdiction string  `json:"jurisdiction"` // ISO 3166; "": the set-up does not say
	Gifts        int     `json:"gifts"`
	Owed         Decimal `json:"owed"`
}

// Ageing tells what was owed for gifts at an instant by the month in which they were sold, and which share of that
// month was redeemed.
func (c *Client) Ageing(ctx context.Context, q ReportQuery) (*Report[AgeingRow], error) {
	return report[AgeingRow](ctx, c, "ageing", q)
}

// Breakage estimates how much of what was owed at an instant will never be redeemed, at the Rate of the query, and
// tells what was booked of it before.
func (c *Client) Breakage(ctx context.Context, q ReportQuery) (*BreakageReport, error) {
	r, err := report[BreakageRow](ctx, c, "breakage", q)
	if err != nil {
		return nil, err
	}
	b := &BreakageReport{Report: *r}
	return b, json.Unmarshal(r.Content, b)
}

// BookBreakageRequest says for which month breakage is to be booked.
type BookBreakageRequest struct {
	Month string  `json:"month"` // one that is over, such as 2026-11
	Rate  Decimal `json:"rate"`  // how much of what is sold is never redeemed, in percent
}

// BookedBreakage is what was booked as breakage.
type BookedBreakage struct {
	Month    string    `json:"month"`
	Rate     Decimal   `json:"rate"`
	BookedAt time.Time `json:"bookedAt"`
	Bookings []struct {
		ProgramID string  `json:"programID"`
		Currency  string  `json:"currency"`
		Amount    Decimal `json:"amount"` // below zero: so much of what was booked before is taken back
	} `json:"bookings"`
	Meta Meta `json:"-"`
}

// BookBreakage books the breakage of a month, for each program and currency what the estimate at its end adds to what
// was booked before. A month is booked once; the call is not repeated. A person decides it.
func (c *Client) BookBreakage(ctx context.Context, r BookBreakageRequest) (*BookedBreakage, error) {
	var a BookedBreakage
	return answered(ctx, c, counter(http.MethodPost, reportsPath+"breakage/book", r, 1), &a, &a.Meta)
}

// Dormant tells how many gifts nobody had used at an instant for the Months of the query, by jurisdiction.
func (c *Client) Dormant(ctx context.Context, q ReportQuery) (*Report[DormantRow], error) {
	return report[DormantRow](ctx, c, "dormant", q)
}

// Liability tells what was owed for gifts at an instant, by program, organization, currency and month.
func (c *Client) Liability(ctx context.Context, q ReportQuery) (*Report[LiabilityRow], error) {
	return report[LiabilityRow](ctx, c, "liability", q)
}

// RollForward tells how what was owed for gifts changed in a period.
func (c *Client) RollForward(ctx context.Context, q ReportQuery) (*Report[RollForwardRow], error) {
	return report[RollForwardRow](ctx, c, "roll-forward", q)
}

// Redemptions tells what was redeemed in a period, by organization, day, program and key.
func (c *Client) Redemptions(ctx context.Context, q ReportQuery) (*Report[RedemptionsRow], error) {
	return report[RedemptionsRow](ctx, c, "redemptions", q)
}

// Settlement tells what was sold at one location and used at another one in a period, what legal entities owe each
// other for that, and the payments that settle it.
func (c *Client) Settlement(ctx context.Context, q ReportQuery) (*SettlementReport, error) {
	r, err := report[SettlementRow](ctx, c, "settlement", q)
	if err != nil {
		return nil, err
	}
	s := &SettlementReport{Report: *r}
	return s, json.Unmarshal(r.Content, s)
}

// AnyReport gives a report by the name at the end of its path, with rows as the service wrote them.
func (c *Client) AnyReport(ctx context.Context, name string, q ReportQuery) (*Report[json.RawMessage], error) {
	return report[json.RawMessage](ctx, c, name, q)
}

func report[Row any](ctx context.Context, c *Client, name string, q ReportQuery) (*Report[Row], error) {
	query := url.Values{}
	for name, value := range map[string]string{"at": q.At, "from": q.From, "to": q.To,
		"groupBy": strings.Join(q.GroupBy, ","), "rate": q.Rate.String(), "months": strconv.Itoa(q.Months)} {
		if value != "" && value != "0" {
			query.Set(name, value)
		}
	}
	path := reportsPath + url.PathEscape(name)
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var a struct {
		Report   json.RawMessage `json:"report"`
		ReportID string          `json:"reportID"`
		SHA256   string          `json:"sha256"`
	}
	meta, err := c.do(ctx, call{method: http.MethodGet, path: path, limit: reportAnswer}, &a)
	if err != nil {
		return nil, err
	}
	r := &Report[Row]{}
	if err := json.Unmarshal(a.Report, r); err != nil {
		return nil, err
	}
	r.Content, r.ReportID, r.SHA256, r.Meta = a.Report, a.ReportID, a.SHA256, meta
	return r, nil
}
