// Package client_test holds the Go client against what it speaks to: the published contract, and the service itself.
package client_test

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"boon.example/client"
)

// schema is what of a JSON Schema the comparison needs.
type schema struct {
	Ref        string            `yaml:"$ref"`
	Properties map[string]schema `yaml:"properties"`
	Items      *schema           `yaml:"items"`
	AllOf      []schema          `yaml:"allOf"`
	Enum       []string          `yaml:"enum"`
}

func schemas(t *testing.T) map[string]schema {
	t.Helper()
	text, err := os.ReadFile("../../internal/face/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Components struct {
			Schemas map[string]yaml.Node `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]schema)
	for name, node := range file.Components.Schemas {
		var s schema
		if node.Decode(&s) == nil { // an enum of numbers is none of ours
			all[name] = s
		}
	}
	return all
}

// members lists the properties of a schema, those of its parts included.
func members(all map[string]schema, s schema) []string {
	if s.Ref != "" {
		s = all[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	names := slices.Collect(maps.Keys(s.Properties))
	for _, part := range s.AllOf {
		names = append(names, members(all, part)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fields lists the JSON names of a struct, those of what it embeds included.
func fields(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, fields(f.Type)...)
		case name != "-":
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Every member of the contract is in the client, and nothing else. Where a call answers with requestID, that is in
// Meta.
func TestClientHasEveryMember(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	property := func(s schema, path ...string) schema {
		for _, name := range path {
			if s = s.Properties[name]; s.Items != nil {
				s = *s.Items
			}
		}
		return s
	}
	for _, tt := range []struct {
		name   string
		schema schema
		value  any
		answer bool
	}{
		{"SendGift", all["SendGift"], client.SendGiftRequest{}, false},
		{"MonetaryGift", all["MonetaryGift"], client.MonetaryGift{}, false},
		{"ItemGift", all["ItemGift"], client.ItemGift{}, false},
		{"Recipient", all["Recipient"], client.Recipient{}, false},
		{"ValidateGift", all["ValidateGift"], client.ValidateGiftRequest{}, false},
		{"TicketData", all["TicketData"], client.TicketData{}, false},
		{"PointOfSaleTicket", all["PointOfSaleTicket"], client.Ticket{}, false},
		{"line item", property(all["PointOfSaleTicket"], "lineItems"), client.LineItem{}, false},
		{"totals", property(all["PointOfSaleTicket"], "totals"), client.Totals{}, false},
		{"RedeemGift", all["RedeemGift"], client.RedeemGiftRequest{}, false},
		{"CreateStock", all["CreateStock"], client.CreateStockRequest{}, false},
		{"CreateStockAnswer", all["CreateStockAnswer"], client.Stock{}, true},
		{"ReverseActivation", all["ReverseActivation"], client.ReverseActivationRequest{}, false},
		{"ReverseActivationAnswer", all["ReverseActivationAnswer"], client.ActivationReversal{}, true},
		{"ActivateGift", all["ActivateGift"], client.ActivateGiftRequest{}, false},
		{"ActivateGiftAnswer", all["ActivateGiftAnswer"], client.Activation{}, true},
		{"RedeemGifts", all["RedeemGifts"], client.RedeemGiftsRequest{}, false},
		{"paying gift", property(all["RedeemGifts"], "gifts"), client.Paying{}, false},
		{"RedeemGiftsAnswer", all["RedeemGiftsAnswer"], client.Sale{}, true},
		{"share", property(all["RedeemGiftsAnswer"], "redemptions"), client.Share{}, false},
		{"reversal of a sale", property(all["ReverseRedemptionAnswer"], "reversals"), client.GivenBack{}, false},
		{"HoldGift", all["HoldGift"], client.HoldGiftRequest{}, false},
		{"CaptureHold", all["CaptureHold"], client.CaptureHoldRequest{}, false},
		{"ReleaseHold", all["ReleaseHold"], client.ReleaseHoldRequest{}, false},
		{"CashOutGift", all["CashOutGift"], client.CashOutGiftRequest{}, false},
		{"CashOutGiftAnswer", all["CashOutGiftAnswer"], client.CashOut{}, true},
		{"ReloadGift", all["ReloadGift"], client.ReloadGiftRequest{}, false},
		{"ReloadGiftAnswer", all["ReloadGiftAnswer"], client.Reload{}, true},
		{"ReverseReload", all["ReverseReload"], client.ReverseReloadRequest{}, false},
		{"ReverseReloadAnswer", all["ReverseReloadAnswer"], client.ReloadReversal{}, true},
		{"HoldGiftAnswer", all["HoldGiftAnswer"], client.Hold{}, true},
		{"CaptureHoldAnswer", all["CaptureHoldAnswer"], client.Capture{}, true},
		{"ReleaseHoldAnswer", all["ReleaseHoldAnswer"], client.Release{}, true},
		{"ReverseRedemption", all["ReverseRedemption"], client.ReverseRedemptionRequest{}, false},
		{"CancelGift", all["CancelGift"], client.CancelGiftRequest{}, false},
		{"ReinstateGift", all["ReinstateGift"], client.ReinstateGiftRequest{}, false},
		{"ResendGift", all["ResendGift"], client.ResendGiftRequest{}, false},
		{"RescheduleGift", all["RescheduleGift"], client.RescheduleGiftRequest{}, false},
		{"ReplaceGift", all["ReplaceGift"], client.ReplaceGiftRequest{}, false},
		{"ReplaceGiftAnswer", all["ReplaceGiftAnswer"], client.ReplacedGift{}, true},
		{"TransferBalance", all["TransferBalance"], client.TransferBalanceRequest{}, false},
		{"TransferBalanceAnswer", all["TransferBalanceAnswer"], client.Transfer{}, true},
		{"BlockGift", all["BlockGift"], client.BlockGiftRequest{}, false},
		{"UnblockGift", all["UnblockGift"], client.UnblockGiftRequest{}, false},
		{"AdjustGift", all["AdjustGift"], client.AdjustGiftRequest{}, false},
		{"ExtendGift", all["ExtendGift"], client.ExtendGiftRequest{}, false},
		{"ClockChange", all["ClockChange"], client.AdvanceClockRequest{}, false},
		{"ClockAnswer", all["ClockAnswer"], client.Clock{}, true},
		{"CreateWebhook", all["CreateWebhook"], client.CreateWebhookRequest{}, false},
		{"ChangeWebhook", all["ChangeWebhook"], client.ChangeWebhookRequest{}, false},
		{"ReplayWebhook", all["ReplayWebhook"], client.ReplayWebhookRequest{}, false},
		{"Webhook", all["Webhook"], client.Webhook{}, false},
		{"WebhookAnswer", all["WebhookAnswer"], client.Webhook{}, true},
		{"CreateWebhookAnswer", all["CreateWebhookAnswer"], client.NewWebhook{}, true},
		{"RotateWebhookAnswer", all["RotateWebhookAnswer"], client.RotatedSecret{}, true},
		{"ReplayWebhookAnswer", all["ReplayWebhookAnswer"], client.Replay{}, true},
		{"attempt", property(all["AttemptsAnswer"], "attempts"), client.Attempt{}, false},
		{"BlockGiftAnswer", all["BlockGiftAnswer"], client.Blocked{}, true},
		{"AdjustGiftAnswer", all["AdjustGiftAnswer"], client.Adjustment{}, true},
		{"ExtendGiftAnswer", all["ExtendGiftAnswer"], client.Extension{}, true},
		{"ResentGiftAnswer", all["ResentGiftAnswer"], client.ResentGift{}, true},
		{"Voucher", all["Voucher"], client.Voucher{}, false},
		{"VoucherAnswer", all["VoucherAnswer"], client.Voucher{}, true},
		{"Eligibility", all["Eligibility"], client.Eligibility{}, false},
		{"eligible item", property(all["Voucher"], "eligibleItems"), client.Item{}, false},
		{"eligible line", property(all["Eligibility"], "eligibleLines"), client.EligibleLine{}, false},
		{"excluded line", property(all["Eligibility"], "excludedLines"), client.ExcludedLine{}, false},
		{"reason", property(all["Voucher"], "notRedeemableReasons"), client.Reason{}, false},
		{"SentGift", all["SentGift"], client.SentGift{}, false},
		{"SendGiftAnswer", all["SendGiftAnswer"], client.Order{}, true},
		{"RedeemGiftAnswer", all["RedeemGiftAnswer"], client.Redemption{}, true},
		{"ReverseRedemptionAnswer", all["ReverseRedemptionAnswer"], client.Reversal{}, true},
		{"CancelGiftAnswer", all["CancelGiftAnswer"], client.Cancellation{}, true},
		{"cancelled voucher", property(all["CancelGiftAnswer"], "vouchers"), client.CancelledVoucher{}, false},
		{"Change", all["Change"], client.Change{}, false},
		{"Entry", all["Entry"], client.Entry{}, false},
		{"request", property(all["RequestsAnswer"], "requests"), client.RequestStatus{}, false},
		{"message", property(all["Problem"], "messages"), client.Message{}, false},
	} {
		want, got := members(all, tt.schema), fields(reflect.TypeOf(tt.value))
		want = slices.DeleteFunc(want, func(member string) bool { return member == "dryRun" }) // see client.Client.DryRun
		if tt.answer {
			got = append(got, "requestID")
			slices.Sort(got)
		}
		if len(want) == 0 {
			t.Errorf("%s is not found in the contract", tt.name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-contract +client):\n%s", tt.name, diff)
		}
	}
}

func TestClientHasEveryCode(t *testing.T) {
	t.Parallel()
	var got []string
	for _, c := range []client.Code{
		client.ValidationFailure, client.NotFound, client.InvalidCodeFormat, client.InvalidTokenFormat, client.NotSupported,
		client.AccountMisconfigured, client.MissingOrInvalidGiftProgram, client.InvalidVoucherType,
		client.ItemEligibilityFailure,
		client.AlreadyRedeemed, client.RedemptionNotAllowed, client.NotAuthorized, client.UnexpectedError,
		client.Unauthenticated,
		client.InsufficientBalance, client.AlreadyReversed, client.AlreadyActivated, client.AlreadyLinked, client.HoldNotOpen,
		client.IdempotencyMismatch,
		client.RequestInProgress,
		client.RateLimited,
		client.Unavailable,
	} {
		got = append(got, string(c))
	}
	want := schemas(t)["Code"].Enum
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes (-contract +client):\n%s", diff)
	}
}
