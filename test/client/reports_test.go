package client_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"boon.example/client"
	"boon.example/examples"
)

// TestReports: the client reads every report of a service, whose rows have no member that it does not know.
func TestReports(t *testing.T) {
	t.Parallel()
	office := clientsOf(t, examples.HarborOfficeKey)[0]
	order, err := office.SendGift(t.Context(), purchase("25", "Ana"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = office.RedeemSafely(t.Context(), client.RedeemGiftRequest{VoucherID: order.Gifts[0].VoucherID,
		OrganizationID: examples.HarborPier39, Amount: client.Whole(5)})
	if err != nil {
		t.Fatal(err)
	}
	owed, err := office.Liability(t.Context(), client.ReportQuery{GroupBy: []string{"organization", "month", "program"}})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(owed.Content)
	if len(owed.Rows) != 1 || owed.Rows[0].Owed.String() != "20.00" || owed.SHA256 != hex.EncodeToString(sum[:]) ||
		len(owed.Rows[0].Month) != 7 {
		t.Errorf("owed is %s", owed.Content)
	}
	knownRows(t, owed)
	period := client.ReportQuery{From: "2026-01-01"}
	forward, err := office.RollForward(t.Context(), period)
	if err != nil {
		t.Fatal(err)
	}
	if len(forward.Rows) != 1 || forward.Rows[0].Redeemed.String() != "-5.00" ||
		forward.Rows[0].Closing.Cmp(owed.Rows[0].Owed) != 0 {
		t.Errorf("the roll-forward is %s", forward.Content)
	}
	knownRows(t, forward)
	period.GroupBy = []string{"organization", "day", "program", "key"}
	redeemed, err := office.Redemptions(t.Context(), period)
	if err != nil {
		t.Fatal(err)
	}
	if len(redeemed.Rows) != 1 || redeemed.Rows[0].Redemptions != 1 ||
		redeemed.Rows[0].OrganizationID != examples.HarborPier39 {
		t.Errorf("redeemed was %s", redeemed.Content)
	}
	knownRows(t, redeemed)
	settled, err := office.Settlement(t.Context(), client.ReportQuery{From: "2026-01-01"})
	if err != nil {
		t.Fatal(err)
	}
	if len(settled.Rows) != 1 || settled.Rows[0].Due.String() != "5.00" || len(settled.Debts) != 1 ||
		len(settled.Payments) != 1 || settled.Payments[0].ToOrganizationID != examples.HarborPier39 ||
		settled.Payments[0].Amount.String() != "5.00" {
		t.Errorf("the settlement is %s", settled.Content)
	}
	hasMembersOf(t, settled.Content, &client.SettlementReport{})
	cohorts(t, office)
}

// cohorts holds the reports by months of sale.
func cohorts(t *testing.T, office *client.Client) {
	t.Helper()
	aged, err := office.Ageing(t.Context(), client.ReportQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if len(aged.Rows) != 1 || aged.Rows[0].Owed.String() != "20.00" || aged.Rows[0].RedeemedShare.String() != "0.2000" {
		t.Errorf("the ageing is %s", aged.Content)
	}
	knownRows(t, aged)
	lost, err := office.Breakage(t.Context(), client.ReportQuery{Rate: client.MustDecimal("7.5")})
	if err != nil {
		t.Fatal(err)
	}
	if len(lost.Rows) != 1 || lost.Rows[0].Estimate.String() != "0.40" || lost.Rate.String() != "7.50" {
		t.Errorf("the breakage is %s", lost.Content)
	}
	if len(lost.Totals) != 1 || lost.Totals[0].ToBook.String() != "0.40" || lost.Bookings == nil {
		t.Errorf("beside the breakage stands %s", lost.Content)
	}
	hasMembersOf(t, lost.Content, &client.BreakageReport{})
	asleep, err := office.Dormant(t.Context(), client.ReportQuery{Months: 36})
	if err != nil {
		t.Fatal(err)
	}
	if len(asleep.Rows) != 0 || asleep.Months != 36 {
		t.Errorf("dormant are %s", asleep.Content)
	}
	knownRows(t, asleep)
}

// knownRows fails when a row holds a member that the client does not know.
func knownRows[Row any](t *testing.T, r *client.Report[Row]) {
	t.Helper()
	hasMembersOf(t, r.Content, &client.Report[Row]{})
}

// hasMembersOf fails when JSON holds a member that the client does not know.
func hasMembersOf(t *testing.T, content []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Errorf("%s: %v", content, err)
	}
}
