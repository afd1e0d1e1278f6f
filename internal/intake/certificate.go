package intake

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	strict "github.com/go-json-experiment/json"

	"boon.example/internal/books"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/sealed"
)

// Certificate is what an accountant signs: what was in a file, and what became of it.
type Certificate struct {
	Certificate string          `json:"certificate"` // what this is, always CertificateName
	ImportID    string          `json:"importID"`
	AccountID   string          `json:"accountID"`
	AccountName string          `json:"accountName"`
	FileSHA256  string          `json:"fileSHA256"`
	From        merchant.System `json:"from"`
	AsOf        time.Time       `json:"asOf"` // when the gifts begin in the books
	StartedAt   time.Time       `json:"startedAt"`
	FinishedAt  time.Time       `json:"finishedAt"`
	By          string          `json:"by"`
	LinesRead   int             `json:"linesRead"`
	Refused     int             `json:"linesRefused"`
	Imported    int             `json:"giftsImported"`
	Currency    string          `json:"currency"`
	Total       money.Number    `json:"total"`  // of the gifts of money
	Pieces      money.Amount    `json:"pieces"` // of the item gifts
	Chains      []string        `json:"chains"` // how far the hash chains had come: chain, colon, hash
}

// CertificateName is the Certificate of every one.
const CertificateName = "boon import 1"

// signed is a certificate as it is kept and given out.
type signed struct {
	Certificate
	Key       string `json:"key"`       // the public half of the key that signed it
	Signature string `json:"signature"` // of the members before, as this program writes them
}

func certify(keys *sealed.Keys, o *Order, r *Report, m *Import, heads []books.Head) string {
	c := Certificate{Certificate: CertificateName, ImportID: m.ID.String(), AccountID: m.AccountID.String(),
		AccountName: o.Account.Name, FileSHA256: hex.EncodeToString(m.File[:]), From: o.From, AsOf: m.AsOf.UTC(),
		StartedAt: m.StartedAt.UTC(), FinishedAt: time.Now().UTC().Truncate(time.Microsecond), By: m.MadeBy,
		LinesRead: r.Read, Refused: r.Refused, Imported: m.Staged, Currency: o.Account.Currency.Code,
		Total: money.Number(o.Account.Currency.Format(r.Total)), Pieces: r.Pieces, Chains: []string{}}
	for _, h := range heads {
		c.Chains = append(c.Chains, h.Chain.String()+":"+hex.EncodeToString(h.MAC[:]))
	}
	s := keys.Sign(c.text())
	text, err := json.MarshalIndent(signed{c, s.Key, s.Value}, "", "  ")
	if err != nil {
		panic(err) // its members do not fail
	}
	return string(text) + "\n"
}

// text is what is signed.
func (c *Certificate) text() []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // its members do not fail
	}
	return text
}

// ReadCertificate reads a certificate, and gives its signature. Whether that is of the right key is for others to say.
// The error is a sentence: what was read is no certificate, or not as it was signed. One that has a member twice, or
// under a name in other letters, is none: whoever looks at the file might take the wrong one for what was signed. One
// that lacks a member is not as it was signed, whatever the member said.
func ReadCertificate(text []byte) (c Certificate, by sealed.Signature, err error) {
	var s signed
	err = strict.Unmarshal(text, &s, strict.RejectUnknownMembers(true))
	if err != nil || s.Certificate.Certificate != CertificateName {
		return c, by, errors.New("this is no certificate of an import")
	}
	by = sealed.Signature{Key: s.Key, Value: s.Signature}
	if !s.isAll(text) || !sealed.Signed(by, s.Certificate.text()) {
		return c, by, errors.New("the certificate is not as it was signed")
	}
	return s.Certificate, by, nil
}

// isAll reports whether a text says all that was read from it: a member that it lacks, or that is null, was read as 0.
func (s *signed) isAll(text []byte) bool {
	again, err := json.Marshal(s)
	if err != nil {
		panic(err) // its members do not fail
	}
	var said, read map[string]any
	return json.Unmarshal(text, &said) == nil && json.Unmarshal(again, &read) == nil && reflect.DeepEqual(said, read)
}

// Lines tell the certificate to people: a name and a value in each.
func (c *Certificate) Lines() [][2]string {
	zone := func(t time.Time) string { return t.Format("2006-01-02 15:04:05 UTC") }
	lines := [][2]string{
		{"Import", c.ImportID}, {"Account", c.AccountName + " (" + c.AccountID + ")"}, {"From", string(c.From)},
		{"SHA-256 of the file", c.FileSHA256}, {"As of", zone(c.AsOf)}, {"Begun", zone(c.StartedAt)},
		{"Finished", zone(c.FinishedAt)}, {"By", c.By}, {"Lines read", fmt.Sprint(c.LinesRead)},
		{"Lines refused", fmt.Sprint(c.Refused)}, {"Gifts imported", fmt.Sprint(c.Imported)},
		{"Total", string(c.Total) + " " + c.Currency}, {"Pieces of item gifts", fmt.Sprint(int64(c.Pieces))},
	}
	for _, chain := range c.Chains {
		lines = append(lines, [2]string{"Hash chain", chain})
	}
	return lines
}
