package mail

import (
	"bytes"
	"fmt"
	stdmail "net/mail"
	"strings"

	"github.com/wneessen/go-mail"

	"boon.example/internal/post/message"
)

// compose writes a message as MIME: text and HTML side by side, and the QR code and the pictures that the HTML shows.
// The Message-ID is the job's, so that a repeat can be recognised.
func compose(m *message.Message, from, to string) ([]byte, error) {
	msg := mail.NewMsg(mail.WithCharset(mail.CharsetUTF8), mail.WithEncoding(mail.EncodingQP),
		mail.WithNoDefaultUserAgent())
	msg.FromMailAddress(&stdmail.Address{Name: header(m.FromName), Address: from})
	msg.ToMailAddress(&stdmail.Address{Name: header(m.ToName), Address: unquoted(to)})
	msg.Subject(header(m.Subject))
	msg.SetMessageIDWithValue(m.ID.String() + "@" + domain(from))
	msg.SetDateWithValue(m.At)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: absence notes do not answer it
	if m.Language != "" {                                // messages that wait since an earlier release have none
		msg.SetGenHeader(mail.HeaderContentLang, string(m.Language)) // RFC 3282
	}
	msg.SetBodyString(mail.TypeTextPlain, m.Text)
	inWorld := contentIDs{m.ID.String(), domain(from)}
	msg.AddAlternativeString(mail.TypeTextHTML, inWorld.page(m))
	if m.QR != nil {
		err := msg.EmbedReader("gift.png", bytes.NewReader(m.QR),
			mail.WithFileContentID("<"+inWorld.of(message.QRContentID)+">"), mail.WithFileContentType("image/png"))
		if err != nil {
			return nil, fmt.Errorf("attaching the QR code: %w", err)
		}
	}
	for i := range m.Pictures {
		p := &m.Pictures[i]
		err := msg.EmbedReader(fileName(p), bytes.NewReader(p.Bytes),
			mail.WithFileContentID("<"+inWorld.of(p.ContentID)+">"), mail.WithFileContentType(mail.ContentType(p.Kind)))
		if err != nil {
			return nil, fmt.Errorf("attaching %s: %w", fileName(p), err)
		}
	}
	for i := range m.Attachments {
		f := &m.Attachments[i]
		if err := msg.AttachReader(f.Name, bytes.NewReader(f.Bytes),
			mail.WithFileContentType(mail.ContentType(f.Kind))); err != nil {
			return nil, fmt.Errorf("attaching %s: %w", f.Name, err)
		}
	}
	var b bytes.Buffer
	if _, err := msg.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("composing a mail: %w", err)
	}
	if m.QR == nil && len(m.Pictures) == 0 { // there is no such part, but there may be words like it
		return b.Bytes(), nil
	}
	return typed(b.Bytes()), nil
}

// contentIDs makes the Content-IDs of a mail unique in the world (RFC 2392, section 2): a mail program that keeps parts
// by them would else show the QR code of another mail. They are the same in a repeat of the mail.
type contentIDs struct{ job, domain string }

// of is the Content-ID in the world of one that is unique in a message only: qr.JOB@DOMAIN for qr@gift.
func (c contentIDs) of(id string) string {
	name, _, _ := strings.Cut(id, "@")
	return name + "." + c.job + "@" + c.domain
}

// page is the HTML of a message, which shows its pictures by these ids. A quote mark does not stand in a text of HTML,
// so what somebody wrote is not taken for an address.
func (c contentIDs) page(m *message.Message) string {
	ids := []string{message.QRContentID}
	for i := range m.Pictures {
		ids = append(ids, m.Pictures[i].ContentID)
	}
	page := m.HTML
	for _, id := range ids {
		page = strings.ReplaceAll(page, `"cid:`+id+`"`, `"cid:`+c.of(id)+`"`)
	}
	return page
}

// typed names the type of the root of a multipart/related part, which RFC 2387, section 3.1, demands and the library
// leaves out. It is the mail's own header, or beside files the first part: before all that somebody wrote.
func typed(source []byte) []byte {
	const related = "\r\nContent-Type: multipart/related;"
	return bytes.Replace(source, []byte(related), []byte(related+"\r\n type=\"multipart/alternative\";"), 1)
}

// fileName is what a mail program calls a picture that is saved: logo.png for logo@gift.
func fileName(p *message.Picture) string {
	name, _, _ := strings.Cut(p.ContentID, "@")
	return name + "." + strings.Replace(strings.TrimPrefix(p.Kind, "image/"), "jpeg", "jpg", 1)
}

// Source is a message as it would go to a server that has sender as the service's own address.
func Source(m *message.Message, sender string) ([]byte, error) {
	to, _, err := route(m.To)
	if err != nil {
		return nil, err
	}
	return compose(m, sender, to)
}

// header makes a text fit for a header, where rendering has made one line of it: a line break would still end it, and
// what looks like an encoded word would be decoded.
func header(s string) string {
	return strings.NewReplacer("\r", " ", "\n", " ", "=?", "= ?").Replace(s)
}

// unquoted is an address as net/mail has it, which writes the quotes itself.
func unquoted(address string) string {
	at := strings.LastIndexByte(address, '@')
	inside, begins := strings.CutPrefix(address[:max(at, 0)], `"`)
	inside, ends := strings.CutSuffix(inside, `"`)
	if !begins || !ends {
		return address
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(inside) + address[at:]
}

// domain is what follows the last @.
func domain(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }
