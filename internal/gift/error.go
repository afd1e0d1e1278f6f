package gift

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Code names a kind of failure. It is itself an error, so that errors.Is(err, gift.NotFound) works
// through any wrapping.
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

// The codes that Boon adds to the interface's sampling.
const (
	Unauthenticated     Code = "UNAUTHENTICATED"
	InsufficientBalance Code = "INSUFFICIENT_BALANCE"
	AlreadyReversed     Code = "ALREADY_REVERSED"
	IdempotencyMismatch Code = "IDEMPOTENCY_MISMATCH"
	RequestInProgress   Code = "REQUEST_IN_PROGRESS"
	RateLimited         Code = "RATE_LIMITED"
	Unavailable         Code = "UNAVAILABLE"
)

// Codes lists every code there is, the interface's first.
func Codes() []Code {
	return []Code{
		ValidationFailure, NotFound, InvalidCodeFormat, InvalidTokenFormat, NotSupported, AccountMisconfigured,
		MissingOrInvalidGiftProgram, InvalidVoucherType, ItemEligibilityFailure, AlreadyRedeemed,
		RedemptionNotAllowed, NotAuthorized, UnexpectedError,
		Unauthenticated, InsufficientBalance, AlreadyReversed, IdempotencyMismatch, RequestInProgress,
		RateLimited, Unavailable,
	}
}

// Error returns the code's text.
func (c Code) Error() string { return string(c) }

// Message is one problem in plain words that a cashier's screen can show.
type Message struct {
	Path string // where: a JSON path into the request such as recipients[2].recipientContact, "" for the whole of it
	Text string
}

// Error is a failure that the caller may see. Any other error is an internal one, of which the caller
// learns nothing but UNEXPECTED_ERROR.
type Error struct {
	Code       Code
	Messages   []Message
	RetryAfter time.Duration // when a repeat makes sense; 0: not said
}

// Refuse makes an Error about the request as a whole.
func Refuse(code Code, format string, args ...any) *Error { return RefuseAt(code, "", format, args...) }

// RefuseAt makes an Error about one member of the request.
func RefuseAt(code Code, path, format string, args ...any) *Error {
	return &Error{Code: code, Messages: []Message{{Path: path, Text: fmt.Sprintf(format, args...)}}}
}

// NoSuchGift is told of a voucherID that names no gift, one of another account, or one of a location that the caller
// is not enabled for: there is one sentence for all of them, so that it tells nothing.
func NoSuchGift() *Error { return RefuseAt(NotFound, "voucherID", "This account has no such gift.") }

// NoSuchRedemption is the same for a redemptionID.
func NoSuchRedemption() *Error {
	return RefuseAt(NotFound, "redemptionID", "This account has no such redemption.")
}

// Join adds the messages of err, if it is an Error, to those of e, which is not used any more; the first of them
// gives the code. Either may be nil.
func Join(e *Error, err error) *Error {
	var more *Error
	if !errors.As(err, &more) {
		return e
	}
	if e == nil {
		return more
	}
	return &Error{Code: e.Code, Messages: append(e.Messages, more.Messages...), RetryAfter: max(e.RetryAfter,
		more.RetryAfter)}
}

// Error is the code and every message, for logs and tests.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	for i, m := range e.Messages {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		if m.Path != "" {
			b.WriteString(m.Path + ": ")
		}
		b.WriteString(m.Text)
	}
	return b.String()
}

// Unwrap gives the code, for errors.Is.
func (e *Error) Unwrap() error { return e.Code }

// maxProblems is how many problems are told one by one: more than the largest request that is otherwise within the
// limits can hold. A hostile one is only told how many more there are.
const maxProblems = 5_000

// Problems collects everything that is wrong with one request: at most one problem for each path, the first that was
// found there, which is the one that explains the others; and refusals with codes of their own. The zero Problems is
// empty.
type Problems struct {
	messages []Message
	paths    map[string]struct{}
	more     int // beyond maxProblems
	refusal  *Error
}

// Add notes a problem at path, unless one is known there already.
func (p *Problems) Add(path, format string, args ...any) {
	if path != "" && p.Has(path) {
		return
	}
	if len(p.messages) >= maxProblems {
		p.more++
		return
	}
	if p.paths == nil {
		p.paths = make(map[string]struct{})
	}
	p.paths[path] = struct{}{}
	p.messages = append(p.messages, Message{Path: path, Text: fmt.Sprintf(format, args...)})
}

// Refuse notes a refusal: the messages of a VALIDATION_FAILURE are problems like others; of other codes, the first
// one stands. nil is none, and what is no *Error is not for a caller to see and must not come here.
func (p *Problems) Refuse(err error) {
	var refused *Error
	if !errors.As(err, &refused) {
		return
	}
	if refused.Code != ValidationFailure {
		p.refusal = Join(p.refusal, refused)
		return
	}
	for _, m := range refused.Messages {
		p.Add(m.Path, "%s", m.Text)
	}
}

// Has reports whether a problem at path is known.
func (p *Problems) Has(path string) bool {
	_, known := p.paths[path]
	return known
}

// Len is the number of problems, refusals not counted.
func (p *Problems) Len() int { return len(p.messages) + p.more }

// Err is what is wrong: a VALIDATION_FAILURE with all the problems and what else was refused, or where there are no
// problems the refusal; nil when nothing is wrong.
func (p *Problems) Err() error {
	if p.Len() == 0 {
		if p.refusal == nil {
			return nil
		}
		return p.refusal
	}
	messages := slices.Clone(p.messages)
	if p.refusal != nil {
		for _, m := range p.refusal.Messages {
			if m.Path == "" || !p.Has(m.Path) {
				messages = append(messages, m)
			}
		}
	}
	if p.more > 0 {
		messages = append(messages, Message{Text: fmt.Sprintf("There are %d more problems.", p.more)})
	}
	return &Error{Code: ValidationFailure, Messages: messages}
}
