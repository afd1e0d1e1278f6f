package server_test

import (
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	stdmail "net/mail"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/server"
)

// letter is a mail as its reader sees it.
type letter struct{ subject, language, text, html string }

func readLetter(t *testing.T, source string) (l letter) {
	t.Helper()
	m, err := stdmail.ReadMessage(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	l.language = m.Header.Get("Content-Language")
	if l.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	l.parts(t, m.Header.Get("Content-Type"), m.Body)
	return l
}

// parts reads text and HTML, wherever in the tree of parts they are.
func (l *letter) parts(t *testing.T, kind string, body io.Reader) {
	t.Helper()
	media, params, err := mime.ParseMediaType(kind)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(media, "multipart/") {
		content, err := io.ReadAll(quotedprintable.NewReader(body))
		if text := strings.ReplaceAll(string(content), "\r\n", "\n"); media == "text/plain" {
			l.text = text
		} else if media == "text/html" {
			l.html = text
		} else {
			return // a picture
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	r := multipart.NewReader(body, params["boundary"])
	for {
		part, err := r.NextRawPart()
		if err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		l.parts(t, part.Header.Get("Content-Type"), part)
	}
}

// TestMessagesInTheAccountsLanguage: a set-up that says German has German mails and text messages leave, through real
// conversations with a mail server and an SMS gateway: the gift, and what is left of it. A gift in a language of its
// own goes in that.
func TestMessagesInTheAccountsLanguage(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	phones, account := openPhones(t)
	s := start(t, server.Config{SMTP: smtpServer, SMS: account})
	s.apply([]byte(strings.Replace(string(examples.HarborCoffee()), "    language: en\n",
		"    balanceNotice: true\n    language: de\n", 1)))
	s.learned()
	g := s.sell(`{"value":25,"deliveryMethodID":1,"recipientDescription":"Ana","recipientContact":"ana@example.com"}`)
	mail := readLetter(t, receive(t, box.letters))
	if mail.language != "de" || !strings.HasPrefix(mail.subject, "Ein Geschenk für dich von ") ||
		!strings.HasPrefix(mail.text, "Hallo Ana!\n") || !strings.Contains(mail.text, "25,00\u00a0$ bei Harbor Coffee") ||
		!strings.Contains(mail.html, `<html lang="de" dir="ltr"`) || !strings.Contains(mail.html, "Geschenk öffnen") {
		t.Errorf("the mail is %+v", mail)
	}
	s.become(g, "DELIVERED")
	s.sell(`{"value":25,"deliveryMethodID":1,"recipientContact":"leo@example.com","recipientLanguage":"es-MX"}`)
	if other := readLetter(t, receive(t, box.letters)); other.language != "es" ||
		!strings.HasPrefix(other.subject, "Un regalo para ti de parte de ") {
		t.Errorf("the mail in Spanish is %+v", other)
	}
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":9.5}`, nil)
	notice := readLetter(t, receive(t, box.letters))
	if notice.language != "de" || notice.subject != "Dein Geschenk bei Harbor Coffee: noch 15,50 $" ||
		!strings.Contains(notice.text, "9,50\u00a0$ · Pier 39 · ") ||
		!strings.Contains(notice.html, "Noch auf deinem Geschenk") {
		t.Errorf("the notice is %+v", notice)
	}
	text := s.sell(`{"value":10,"deliveryMethodID":2,"recipientContact":"4155550132"}`)
	if sms := receive(t, phones).Get("Body"); !strings.HasPrefix(sms, "Dein Geschenk von ") ||
		!strings.HasSuffix(sms, ": 10,00 $ bei Harbor Coffee. "+text.GiftURL) {
		t.Errorf("the text message is %q", sms)
	}
	s.become(text, "DELIVERED")
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+text.VoucherID+`","amount":1}`, nil)
	if sms := receive(t, phones).Get("Body"); !strings.HasPrefix(sms, "1,00 $ verwendet bei Pier 39, ") ||
		!strings.HasSuffix(sms, " "+text.GiftURL) {
		t.Errorf("the notice by SMS is %q", sms)
	}
}
