package main

import (
	"fmt"
	"os"
	"strings"

	"boon.example/internal/base/openid"
	"boon.example/internal/command/terminal"
)

// openIDFlags say with which OpenID Connect provider staff may sign in to the console.
type openIDFlags struct {
	Issuer     string `setting:"file" name:"openid-issuer" placeholder:"URL" help:"OpenID Connect provider by which staff sign in to the console, such as https://login.example.com; see docs/operating/sign-in.md."`
	ClientID   string `setting:"file" name:"openid-client-id" placeholder:"ID" help:"The id that this service has at the provider."`
	SecretFile string `setting:"file" name:"openid-client-secret-file" placeholder:"FILE" help:"File with the secret of that client."`
}

// openID is what the flags say; nil: there is no provider.
func (f *openIDFlags) openID() (*openid.Config, error) {
	if f.Issuer == "" {
		if f.ClientID+f.SecretFile != "" {
			return nil, terminal.UsageError("--openid-client-id and --openid-client-secret-file say who this service is at " +
				"the provider of --openid-issuer (BOON_OPENID_ISSUER, openid-issuer), which is missing")
		}
		return nil, nil
	}
	c := &openid.Config{Issuer: f.Issuer, ClientID: f.ClientID}
	if err := c.Check(); err != nil {
		return nil, terminal.UsageError("--openid-issuer (BOON_OPENID_ISSUER, openid-issuer): " + err.Error())
	}
	if f.SecretFile == "" {
		return c, nil
	}
	secret, err := os.ReadFile(f.SecretFile)
	if err != nil {
		return nil, terminal.UsageError(fmt.Sprintf("--openid-client-secret-file (BOON_OPENID_CLIENT_SECRET_FILE, "+
			"openid-client-secret-file): %v", err))
	}
	if c.Secret = strings.TrimSpace(string(secret)); c.Secret == "" {
		return nil, terminal.UsageError("--openid-client-secret-file (BOON_OPENID_CLIENT_SECRET_FILE, " +
			"openid-client-secret-file): the file is empty")
	}
	return c, nil
}
