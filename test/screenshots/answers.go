package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"boon.example/test/rig"
)

// The till and the platforms of the set-up with platforms.
const (
	tillKey  = "boon_live_screenshots_till_0123456789abcdef"
	toastID  = prefix + "71"
	wixID    = prefix + "81"
	vtexID   = prefix + "91"
	platform = "screenshots-platform-0123456789abcdef0123"
)

// withPlatforms is the set-up with a till, and with providers; signed is the key that verifies Wix's calls.
func withPlatforms(signed *rsa.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(signed)
	if err != nil {
		return "", err
	}
	public, err := json.Marshal(string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	at := `sites: [{name: pier-39, location: ` + prefix + `11}], permissions: [validate, redeem, reverse]}`
	text := strings.Replace(setupFile, "    keys: [", `    people: [] # those whom the pictures of tills showed
    providers:
      - {id: `+toastID+`, name: Toast, platform: toast, secret: `+platform+`, `+at+`
      - {id: `+wixID+`, name: Wix, platform: wix, app: harbor-app, publicKey: `+string(public)+`, `+at+`
      - {id: `+vtexID+`, name: VTEX, platform: vtex, app: harbor-app, secret: `+platform+`-vtex, `+at+`
    keys: [{name: till, role: till, secret: `+tillKey+`, locations: [`+prefix+`11]}, `, 1)
	return text, err
}

// answers draws what a ticket and calls of platforms are answered, as a terminal shows it. Every line is what the
// program or the service said.
func (s *studio) answers(ctx context.Context) error {
	signs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	text, err := withPlatforms(&signs.PublicKey)
	if err == nil {
		err = s.apply(ctx, text)
	}
	if err != nil {
		return err
	}
	g, err := s.gift(ctx, "ready", designs[0].id)
	if err != nil {
		return err
	}
	lines, err := s.validate(ctx, g.code)
	if err != nil {
		return err
	}
	if err := s.draw("answer-square", lines); err != nil {
		return err
	}
	for _, calls := range []struct {
		name string
		make func(context.Context, gift) ([]string, error)
	}{
		{"answer-toast", s.toast}, {"answer-vtex", s.vtex},
		{"answer-wix", func(ctx context.Context, g gift) ([]string, error) { return s.wix(ctx, g, signs) }},
	} {
		lines, err := calls.make(ctx, g)
		if err == nil {
			err = s.draw(calls.name, lines)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", calls.name, err)
		}
	}
	return nil
}

// validate asks from the command line what the example order of Square lets a gift pay.
func (s *studio) validate(ctx context.Context, code string) ([]string, error) {
	root, err := rig.Root()
	if err != nil {
		return nil, err
	}
	order, err := os.ReadFile(filepath.Join(root, "internal/ticket/format/testdata/square.json"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(s.dir, "order.json"), order, 0o600); err != nil {
		return nil, err
	}
	program := filepath.Join(s.dir, "boon")
	if err := rig.Build(program, rig.Boon); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "gift", "validate", code, "--ticket", "order.json", "--format", "square")
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "BOON_URL="+s.url, "BOON_KEY="+tillKey)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("boon gift validate: %w\n%s", err, out)
	}
	said := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	return append([]string{"$ boon " + strings.Join(cmd.Args[1:], " ")}, said...), nil
}

// toast asks for more than there is on a card, as Toast does, and takes it back.
func (s *studio) toast(ctx context.Context, g gift) (lines []string, _ error) {
	const guid = "5f0c0000-0000-4000-8000-00000000000"
	for n, c := range []struct{ kind, body string }{
		{"REDEEM", `{"redeemTransactionInformation":{"giftCardIdentifier":"` + g.code +
			`","redeemedValue":40.00,"isCashOut":false}}`},
		{"REVERSE", `{"reverseTransactionInformation":{"giftCardIdentifier":"` + g.code +
			`","previousTransaction":"` + guid + `0"}}`},
		{"REDEEM", `{"redeemTransactionInformation":{"giftCardIdentifier":"000000000001","redeemedValue":5.00}}`},
	} {
		more, err := s.call(ctx, "POST", "/providers/toast/"+toastID, c.body, "Authorization", platform,
			"Toast-Transaction-Type", "GIFTCARD_"+c.kind, "Toast-Transaction-GUID", fmt.Sprint(guid, n),
			"Toast-Restaurant-External-ID", "pier-39")
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	return lines, nil
}

// vtex shows a card and takes of it, as VTEX does.
func (s *studio) vtex(ctx context.Context, g gift) ([]string, error) {
	at := "/providers/vtex/" + vtexID + "/giftcards/" + g.id
	who := []string{"X-PROVIDER-API-AppKey", "harbor-app", "X-PROVIDER-API-AppToken", platform + "-vtex"}
	shown, err := s.call(ctx, "GET", at, "", who...)
	if err != nil {
		return nil, err
	}
	var token string
	for _, line := range shown {
		if _, rest, found := strings.Cut(line, `"redemptionToken": "`); found {
			token, _, _ = strings.Cut(rest, `"`)
		}
	}
	taken, err := s.call(ctx, "POST", at+"/transactions", `{"operation":"Debit","value":18.75,"redemptionToken":"`+token+
		`","requestId":"r-1","orderInfo":{"orderId":"v5195004lux-01"}}`, who...)
	return append(shown, taken...), err
}

// wix asks for a balance, as Wix does: the body is a signed token, which is shown as what it says.
func (s *studio) wix(ctx context.Context, g gift, signs *rsa.PrivateKey) ([]string, error) {
	request, now := `{"code":"`+g.code+`"}`, time.Now()
	claims := fmt.Sprintf(`{"iss":"wix.com","aud":"harbor-app","iat":%d,"exp":%d,"data":{"request":%s,"metadata":`+
		`{"instanceId":"pier-39"}}}`, now.Unix(), now.Add(time.Minute).Unix(), request)
	encode := base64.RawURLEncoding.EncodeToString
	token := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode([]byte(claims))
	sum := sha256.Sum256([]byte(token))
	signature, err := rsa.SignPKCS1v15(rand.Reader, signs, crypto.SHA256, sum[:])
	if err != nil {
		return nil, err
	}
	lines, err := s.call(ctx, "POST", "/providers/wix/"+wixID+"/v1/balance", token+"."+encode(signature))
	if err != nil {
		return nil, err
	}
	said := append([]string{"(the token says)"}, pretty([]byte(claims))...)
	return append(append([]string{lines[0]}, said...), lines[2:]...), nil
}

// call makes a call and gives it and its answer as lines; not what proves who calls.
func (s *studio) call(ctx context.Context, method, path, body string, headers ...string) (lines []string, _ error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	lines = append(lines, "$ "+method+" "+path)
	for n := 0; n < len(headers); n += 2 {
		r.Header.Set(headers[n], headers[n+1])
		if !strings.Contains(headers[n+1], platform) {
			lines = append(lines, headers[n]+": "+headers[n+1])
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if body != "" {
		lines = append(lines, pretty([]byte(body))...)
	}
	lines = append(lines, "", answer.Status)
	return append(append(lines, pretty(said)...), ""), nil
}

// pretty is a JSON text on several lines, and any other as it is.
func pretty(text []byte) []string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return []string{string(text)}
	}
	return strings.Split(b.String(), "\n")
}

// draw writes lines as a terminal shows them: an SVG that a light and a dark page can hold.
func (s *studio) draw(name string, lines []string) error {
	file := filepath.Join(s.to, name+".svg")
	fmt.Println(file)
	return os.WriteFile(file, terminal(lines), 0o644)
}

// terminal draws lines: those that were typed, and statuses, stand out.
func terminal(lines []string) []byte {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	const size, step, margin = 14, 20, 16
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="ui-monospace, Menlo, `+
		`Consolas, 'DejaVu Sans Mono', monospace" font-size="%d" fill="#e6edf3">`+"\n", widest*size*62/100+2*margin,
		len(lines)*step+2*margin, size)
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#161b22" stroke="#6e7681"/>` + "\n")
	for n, line := range lines {
		colour := ""
		switch {
		case strings.HasPrefix(line, "$ "):
			colour = ` fill="#7ee787"`
		case strings.HasPrefix(line, "200 "):
			colour = ` fill="#79c0ff"`
		case strings.HasPrefix(line, "400 "):
			colour = ` fill="#ffa198"`
		}
		if line != "" {
			fmt.Fprintf(&b, `<text x="%d" y="%d"%s xml:space="preserve">%s</text>`+"\n", margin, margin+size+n*step, colour,
				html.EscapeString(line))
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
