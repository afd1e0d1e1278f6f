package refusal

import "boon.example/internal/base/phrase"

// Code names a kind of failure. It is itself an error, so that errors.Is(err, refusal.NotFound) works through any
// wrapping.
type Code string

// The codes of the interface, section 7.
const (
	ValidationFailure           Code = "VALIDATION_FAILURE"
	NotFound                    Code = "NOT_FOUND"
	InvalidCodeFormat           Code = "INVALID_CODE_FORMAT"
	InvalidTokenFormat          Code = "INVALID_TOKEN_FORMAT"
	NotSupported                Code = "NOT_SUPPORTED"
	AccountMisconfigured        Code = "ACCOUNT_MISCONFIGURED"
	MissingOrInvalidGiftProgram Code = "MISSING_OR_INVALID_GIFT_PROGRAM"
	InvalidVoucherType          Code = "INVALID_VOUCHER_TYPE"
	ItemEligibilityFailure      Code = "ITEM_ELIGIBILITY_FAILURE"
	AlreadyRedeemed             Code = "ALREADY_REDEEMED"
	RedemptionNotAllowed        Code = "REDEMPTION_NOT_ALLOWED"
	NotAuthorized               Code = "NOT_AUTHORIZED"
	UnexpectedError             Code = "UNEXPECTED_ERROR"
)

// The codes that Boon adds to those of the interface.
const (
	Unauthenticated     Code = "UNAUTHENTICATED"
	InsufficientBalance Code = "INSUFFICIENT_BALANCE"
	AlreadyReversed     Code = "ALREADY_REVERSED"
	HoldNotOpen         Code = "HOLD_NOT_OPEN"
	AlreadyActivated    Code = "ALREADY_ACTIVATED"
	AlreadyLinked       Code = "ALREADY_LINKED"
	IdempotencyMismatch Code = "IDEMPOTENCY_MISMATCH"
	RequestInProgress   Code = "REQUEST_IN_PROGRESS"
	RateLimited         Code = "RATE_LIMITED"
	Unavailable         Code = "UNAVAILABLE"
)

// table has all codes, with the HTTP status and the title of each. The constants of the Go client and the table on the
// page of errors are written from this file.
//
//go:generate go test -run TestClientHasTheCodes|TestPageHasTheTable -update .
var table = []struct {
	code   Code
	status int
	title  phrase.Text
}{
	{ValidationFailure, 400, "The request has missing or incorrectly formatted fields."},
	{NotFound, 404, "The requested gift or record is not found."},
	{InvalidCodeFormat, 400, "The voucher code is not formatted as expected."},
	{InvalidTokenFormat, 400, "The voucher token is not formatted as expected."},
	{NotSupported, 422, "The operation is not supported."},
	{AccountMisconfigured, 409, "The account lacks configuration that this needs."},
	{MissingOrInvalidGiftProgram, 422, "The gift program is not the one of the gift, or there is no such program."},
	{InvalidVoucherType, 422, "The gift is not of the type that was asked for."},
	{ItemEligibilityFailure, 422, "No item on the ticket is eligible for this gift."},
	{AlreadyRedeemed, 409, "The gift is already redeemed."},
	{RedemptionNotAllowed, 409, "The gift is not in a state that allows this."},
	{NotAuthorized, 403, "This is not allowed for the current account, key or location."},
	{UnexpectedError, 500, "Something went wrong on our side."},

	{Unauthenticated, 401, "The request carries no valid API key."},
	{InsufficientBalance, 409, "The amount is above the balance."},
	{AlreadyReversed, 409, "It is already reversed."},
	{HoldNotOpen, 409, "The hold is not open any more."},
	{AlreadyActivated, 409, "The card is already activated."},
	{AlreadyLinked, 409, "The gift is already linked to another customer."},
	{IdempotencyMismatch, 422, "The Idempotency-Key belongs to another request."},
	{RequestInProgress, 409, "The first request with this key is still under way."},
	{RateLimited, 429, "There were too many attempts."},
	{Unavailable, 503, "The service is unavailable at the moment."},
}

// Codes lists every code there is, the interface's first.
func Codes() []Code {
	codes := make([]Code, len(table))
	for n := range table {
		codes[n] = table[n].code
	}
	return codes
}

// Error returns the code's text.
func (c Code) Error() string { return string(c) }

// Status is the HTTP status of the code; 0: there is no such code.
func (c Code) Status() int {
	status, _ := c.look()
	return status
}

// Title says in one sentence what the code means; "": there is no such code.
func (c Code) Title() phrase.Text {
	_, title := c.look()
	return title
}

func (c Code) look() (status int, title phrase.Text) {
	for n := range table {
		if table[n].code == c {
			return table[n].status, table[n].title
		}
	}
	return 0, ""
}

// Undecided reports whether it is open if the call took effect. The same call with the same Idempotency-Key tells.
func (c Code) Undecided() bool { return c.Status() >= 500 || c == RequestInProgress }
