package saleor

import (
	"net/http"

	"boon.example/internal/face/provider"
	"boon.example/internal/service"
)

// webhook is one event that the app asks Saleor for.
type webhook struct {
	Name   string   `json:"name"`
	Events []string `json:"syncEvents"`
	Query  string   `json:"query"`
	Target string   `json:"targetUrl"`
	Active bool     `json:"isActive"`
}

// The parts of what the app asks about an event.
const (
	ofSession = ` data action {amount currency actionType} sourceObject {__typename
 ... on Checkout {id channel {slug}} ... on Order {id number channel {slug}}} transaction {id pspReference}`
	ofAction = ` action {amount currency actionType} transaction {id pspReference checkout {id channel {slug}}
 order {id number channel {slug}} events {id type createdAt pspReference amount {amount}}}`
)

// asked are the events, by the name that Saleor's webhooks have for each, and what is asked about it.
var asked = []struct{ event, name, query string }{
	{"PAYMENT_GATEWAY_INITIALIZE_SESSION", gatewaySession, ` sourceObject {__typename
 ... on Checkout {id channel {slug}} ... on Order {id number channel {slug}}}`},
	{"TRANSACTION_INITIALIZE_SESSION", initializeSession, " idempotencyKey" + ofSession},
	{"TRANSACTION_PROCESS_SESSION", processSession, ofSession},
	{"TRANSACTION_CHARGE_REQUESTED", chargeRequested, ofAction},
	{"TRANSACTION_CANCELATION_REQUESTED", cancelationRequested, ofAction},
	{"TRANSACTION_REFUND_REQUESTED", refundRequested, ofAction},
}

// manifest is what Saleor reads to install the app.
func manifest(d *provider.Call, publicURL string) service.Reply {
	account, p := named(d)
	if p == nil {
		return refuseAnonymous(d)
	}
	base := publicURL + provider.Path + "saleor/" + p.ID.String()
	var hooks []webhook
	for _, a := range asked {
		hooks = append(hooks, webhook{Name: a.name, Events: []string{a.event}, Target: base + "/webhook", Active: true,
			Query: "subscription {event {__typename ... on " + a.name + " {" + a.query + "}}}"})
	}
	return answer(http.StatusOK, struct {
		ID          string    `json:"id"`
		Version     string    `json:"version"`
		Name        string    `json:"name"`
		About       string    `json:"about"`
		Permissions []string  `json:"permissions"`
		Token       string    `json:"tokenTargetUrl"`
		Webhooks    []webhook `json:"webhooks"`
	}{"boon.gifts." + p.ID.String(), service.Version, "Gifts of " + account.Name,
		"Gifts pay for orders, in whole or in part.",
		[]string{"HANDLE_PAYMENTS"}, base + "/register", hooks})
}
