// Package message is what the makers and the carriers of messages have in common: one rendered message, and what can
// become of it. It knows neither templates nor protocols nor jobs.
package message

import (
	"image/color"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// Message is one rendered message. Names and the subject are one plain line each, of any characters.
type Message struct {
	ID        guid.ID // of its job: the receiver of a message that is sent twice can tell by it
	GiftID    guid.ID
	AccountID guid.ID
	Method    contact.Method
	Language  merchant.Language // in which it is written
	To        string
	ToName    string // e-mail only, as are the next three
	FromName  string
	Subject   string
	Text      string
	HTML      string    // e-mail only; it shows QR as cid:QRContentID
	QR        []byte    // e-mail only: a PNG; nil: none
	Pictures  []Picture // e-mail only: what else its HTML shows
	// Attachments are files that come with an e-mail.
	Attachments []Attachment `json:",omitempty"`
	At          time.Time
}

// Attachment is a file of cards of an order.
type Attachment struct {
	Name    string
	Kind    string  // its media type
	OrderID guid.ID // whose cards are in it
	Bytes   []byte  // nil in the outbox
}

// QRContentID is the Content-ID under which a mail's HTML shows its QR code.
const QRContentID = "qr@gift"

// Picture is one that a mail brings along and its HTML shows. Many mail programs load no linked pictures, and a link
// would tell when the mail is read.
type Picture struct {
	ContentID string
	Asset     merchant.AssetHash // of the design
	Ground    color.NRGBA        // where it is transparent
	Kind      string             // image/png or image/jpeg
	Bytes     []byte             // made of Asset; nil in the outbox
	Width     int                // as it is shown, in CSS pixels
	Height    int
}
