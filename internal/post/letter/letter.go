// Package letter writes mails of the service itself, such as those about a sign-in: all have one frame and no design of
// a merchant. A mail about a gift is one of package delivery.
package letter

import (
	"bytes"
	"embed"
	"errors"
	htmltemplate "html/template"
	"io/fs"
	texttemplate "text/template"

	"boon.example/internal/post/card"
	"boon.example/internal/post/message"
)

//go:embed templates/frame.html
var frame embed.FS

// Letter is the templates of one kind of mail.
type Letter struct {
	text *texttemplate.Template
	html *htmltemplate.Template
}

// New reads the templates of a kind of mail: NAME.txt, and NAME.html, which defines "words", what stands in the frame.
// It panics if there is a mistake in them, as they are part of the program.
func New(files fs.FS, name string) *Letter {
	text, html := texttemplate.New(name+".txt"), htmltemplate.New("frame.html")
	html = htmltemplate.Must(html.Option("missingkey=error").ParseFS(frame, "templates/frame.html"))
	return &Letter{
		text: texttemplate.Must(text.Option("missingkey=error").ParseFS(files, "templates/"+name+".txt")),
		html: htmltemplate.Must(html.ParseFS(files, "templates/"+name+".html")),
	}
}

// Subject is a subject of at most as many characters as a mail may have.
func Subject(text string) string { return card.Clip(text, maxSubject) }

const maxSubject = 150

// Write writes the words of a mail. The templates see shown; the frame asks it for its Language and its Subject.
func (l *Letter) Write(m *message.Message, shown any) error {
	var text, html bytes.Buffer
	if err := errors.Join(l.text.Execute(&text, shown), l.html.Execute(&html, shown)); err != nil {
		return err
	}
	m.Text, m.HTML = text.String(), html.String()
	return nil
}
