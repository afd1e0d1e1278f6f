package document

import (
	"errors"
	"io"
	"io/fs"
	"strings"

	"boon.example/internal/merchant"
	"boon.example/internal/post/pass"
	"boon.example/internal/post/pass/google"
)

// maxPEM is how many bytes of certificates, or of a key, are read: some four times as many as there ever are. To read a
// key takes time that grows faster than its length.
const maxPEM = 16 << 10

// pem reads a text in PEM form, which stands in the set-up file or in a file beside it.
func (f fields) pem(name string) (v value, text []byte, ok bool) {
	v, _, ok = f.scalar(name)
	switch {
	case !ok:
		return v, nil, false
	case len(v.Value) > maxPEM:
		f.problem(v, "This has more than %d bytes; certificates and keys have fewer.", maxPEM)
		return v, nil, false
	case strings.Contains(v.Value, "-----BEGIN "), strings.HasPrefix(strings.TrimSpace(v.Value), "{"):
		return v, []byte(v.Value), true
	case f.folder == nil:
		f.problem(v, "Paste the text itself here, from -----BEGIN to its end. No file is read: only a set-up file has files "+
			"beside it.")
		return v, nil, false
	case !fs.ValidPath(v.Value):
		f.inFile(v.Line, v.path, "This must be the path of a file in the set-up file's folder or below it, such as "+
			"wallet/apple.pem, with plain slashes.")
		return v, nil, false
	}
	file, err := f.folder.Open(v.Value)
	if err == nil {
		defer file.Close()
		text, err = io.ReadAll(io.LimitReader(file, maxPEM+1))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.inFile(v.Line, v.path, "The file %s is looked for in the set-up file's folder: there is no such file.", v.Value)
	case err != nil:
		f.inFile(v.Line, v.path, "The file %s is looked for in the set-up file's folder: it cannot be read.", v.Value)
	case len(text) > maxPEM:
		f.inFile(v.Line, v.path, "The file %s has more than %d bytes; certificates and keys have fewer.", v.Value, maxPEM)
	default:
		return v, text, true
	}
	return v, nil, false
}

// read reads a text as pem does, and gives what is kept of it.
func (f fields) read(name string, read func([]byte) (kept string, err error)) string {
	v, text, ok := f.pem(name)
	if !ok {
		return ""
	}
	kept, err := read(text)
	if err != nil {
		f.refuse(v, err)
	}
	return kept
}

func (f fields) passCertificate(name string) string { return f.read(name, pass.ReadCertificates) }
func (f fields) passKey(name string) string         { return f.read(name, pass.ReadKey) }
func (f fields) serviceAccount(name string) string  { return f.read(name, google.ReadAccount) }

// issuer reads the digits by which Google knows a merchant.
func (f fields) issuer(name string) string {
	v, _, ok := f.scalar(name)
	if !ok {
		return ""
	}
	if err := google.CheckIssuer(v.Value); err != nil {
		f.refuse(v, err)
	}
	return v.Value
}

// checkWallet holds what the file says of Apple's certificate to the certificate, and fills in what it leaves out.
func checkWallet(f fields, a *merchant.Account) {
	wallet, ok := f.get("wallet")
	if !ok {
		return
	}
	at := f.fieldOf(wallet, "apple")
	w := &a.Wallet.Apple
	if w.Certificate == "" {
		return // that is told
	}
	passType, team := pass.For(w.Certificate)
	for _, named := range []struct {
		field string
		said  *string
		is    string
	}{{"passTypeIdentifier", &w.PassType, passType}, {"teamIdentifier", &w.Team, team}} {
		if *named.said != "" && *named.said != named.is {
			f.problem(f.fieldOf(at, named.field), "The certificate is for %q. Leave this field out, or take the certificate "+
				"of %q.", named.is, *named.said)
		}
		*named.said = named.is
	}
	if w.Key == "" {
		return // it keeps the one that it has
	}
	if _, err := pass.NewSigner(w.Certificate, w.Key); err != nil {
		f.refuse(f.fieldOf(at, "key"), err)
	}
}
