// Package page makes the page about an import that an accountant signs by hand.
package page

import (
	"boon.example/internal/intake"
	"boon.example/internal/post/print"
)

// Of makes the PDF of a certificate, as its text was signed. The page says where the import was taken back since. The
// error is a sentence where the text is none.
func Of(certificate []byte, undone bool, fonts *print.Fonts, paper print.Paper) ([]byte, error) {
	c, s, err := intake.ReadCertificate(certificate)
	if err != nil {
		return nil, err
	}
	lines := c.Lines()
	if undone {
		lines = append(lines, [2]string{"Taken back", "This import was taken back after it was signed. None of its " +
			"gifts is valid, and none of them is owed."})
	}
	lines = append(lines, [2]string{"Signed by the key", s.Key}, [2]string{"Signature", s.Value})
	return fonts.Statement(print.Statement{Title: "Certificate of an import", Lines: lines, Made: c.FinishedAt,
		Below: []string{"Boon signed this certificate when the gifts of the import became valid. The signature is over the " +
			"certificate as JSON. The command boon import verify checks that file, without Boon's database. The SHA-256 " +
			"tells that the file of the other system is the one that was imported."},
		Signs: []string{"Date and place", "Name", "Signature"}}, paper)
}
