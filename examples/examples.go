// Package examples holds the example set-up files, so that the binary can run its demo with nothing beside it. It knows
// nothing of how a set-up is read.
package examples

import _ "embed"

//go:embed harbor-coffee.yaml
var harborCoffee string

//go:embed harbor-test.yaml
var harborTest string

//go:embed asagao-tea.yaml
var asagaoTea string

// HarborCoffee is the set-up file of `boon demo`: an account in USD with two locations, all programs, and keys of both
// kinds.
func HarborCoffee() []byte { return []byte(harborCoffee) }

// HarborTest is the set-up file of the merchant's test account, which `boon demo` has beside the other one.
func HarborTest() []byte { return []byte(harborTest) }

// AsagaoTea is the set-up file of an account in JPY with one location in Asia/Tokyo.
func AsagaoTea() []byte { return []byte(asagaoTea) }

// What stands in HarborCoffee.
const (
	HarborAccount        = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01"
	HarborPier39         = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11"
	HarborLongWharf      = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c12"
	HarborPier39POS      = "POS-1" // the point-of-sale system's name for Pier 39
	HarborStorefront     = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21"
	HarborSpring         = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c31" // a promotion for LATTE and MOCHA
	HarborWelcomeBack    = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c32" // a promotion for anything; the request says from when
	HarborDesign         = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c41" // of Pier 39
	HarborWinterDesign   = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c42" // of the account
	HarborWebShopKey     = "boon_test_demo_only_harbor_coffee_web_shop"
	HarborOfficeKey      = "boon_test_demo_only_harbor_coffee_head_office"     // may do everything
	HarborTillKey        = "boon_test_demo_only_harbor_coffee_till"            // limited to Pier 39
	HarborTestKey        = "boon_test_demo_only_test_account_of_harbor_coffee" // may do everything in the test account
	HarborPartnerSiteKey = "boon_test_demo_only_partner_site_key"              // a system key
)
