package main

import (
	"net"
	"path/filepath"
	"strings"

	"boon.example/internal/base/certificate"
	"boon.example/internal/command/terminal"
	"boon.example/internal/server"
)

// tlsFlags say what certificate the service shows to its clients, if any.
type tlsFlags struct {
	TLSCert string `setting:"file" name:"tls-cert" placeholder:"FILE" help:"Speak TLS, with this certificate and its chain as PEM. A file that changes is read again."`
	TLSKey  string `setting:"file" name:"tls-key" placeholder:"FILE" help:"The key of --tls-cert, as PEM, for the service's user only."`
	acmeFlags
}

// acmeFlags say from whom a certificate is got, if from anybody.
type acmeFlags struct {
	ACME          string `setting:"file" name:"acme" placeholder:"DOMAIN" help:"Speak TLS, with a certificate for this name that is got and renewed by ACME, and kept in --data; you agree to the terms of its authority. For one instance, whose ports 443 (--listen) or 80 the authority reaches under this name."`
	ACMEListen    string `setting:"file" name:"acme-listen" default:":80" placeholder:"HOST:PORT" help:"With --acme: answer the authority there by plain HTTP, and lead everybody else to https; none: nowhere. Default: ${default}."`
	ACMEDirectory string `setting:"file" name:"acme-directory" placeholder:"URL" help:"The authority's ACME directory. Default: Let's Encrypt's."`
	ACMERoot      string `setting:"file" name:"acme-root" placeholder:"FILE" help:"Root certificate of the authority's own server, as PEM, if the system does not know it."`
	ACMEContact   string `setting:"file" name:"acme-contact" placeholder:"ADDRESS" help:"E-mail address to tell the authority. Default: none."`
}

// acmeFolder is where in the data folder the account, the certificate and their keys are kept.
const acmeFolder = "acme"

// source opens what the flags name.
func (f tlsFlags) source(config *server.Config) (err error) {
	switch {
	case f.ACME != "" && f.TLSCert+f.TLSKey != "":
		return terminal.UsageError("--acme gets a certificate, and --tls-cert, --tls-key name one: leave out either")
	case f.ACME != "":
		return f.acmeFlags.source(config)
	case f.ACMEDirectory+f.ACMERoot+f.ACMEContact != "":
		return terminal.UsageError("--acme-directory, --acme-root and --acme-contact need --acme DOMAIN")
	case f.TLSCert+f.TLSKey == "":
		return nil
	case f.TLSCert == "" || f.TLSKey == "":
		return terminal.UsageError("--tls-cert and --tls-key (BOON_TLS_CERT, BOON_TLS_KEY) belong together")
	}
	if config.Certificate, err = certificate.Files(f.TLSCert, f.TLSKey, config.Logger); err != nil {
		return terminal.UsageError("--tls-cert, --tls-key: " + err.Error())
	}
	return nil
}

// source orders the certificate. Links lead to its name, unless they are said to lead elsewhere.
func (f acmeFlags) source(config *server.Config) (err error) {
	domain, err := certificate.Domain(f.ACME, f.ACMEDirectory == "")
	if err != nil {
		return terminal.UsageError("--acme (BOON_ACME, acme): " + err.Error())
	}
	if f.ACMEListen != certificate.None {
		if err := server.CheckAddress("--acme-listen", f.ACMEListen); err != nil {
			return terminal.UsageError(err.Error())
		}
	}
	if server.CheckAddress("", config.Listen) != nil {
		return nil // the service refuses it
	}
	if config.PublicURL == "" {
		config.PublicURL = "https://" + domain
	}
	config.Certificate, err = certificate.ACME(certificate.Order{
		Domain: domain, Directory: f.ACMEDirectory, Root: f.ACMERoot, Contact: f.ACMEContact,
		Folder: filepath.Join(config.Data, acmeFolder), Listen: config.Listen, HTTP: f.ACMEListen,
		Redirect: strings.TrimRight(config.PublicURL, "/"), Log: config.Logger,
	})
	if err != nil {
		return terminal.UsageError("--acme: " + err.Error())
	}
	if host, _, err := net.SplitHostPort(config.Listen); err == nil && net.ParseIP(host).IsLoopback() {
		config.Notes = append(config.Notes, "--listen "+config.Listen+" can be reached from this machine only: guests and "+
			"the authority of --acme come to port 443, so give --listen :443 or have that port forwarded")
	}
	if config.Database != "" {
		config.Notes = append(config.Notes, "--acme is for one instance: where several answer under "+domain+", the "+
			"authority asks one of which another has asked it, and gives no certificate; put a proxy with TLS in front of "+
			"several")
	}
	return nil
}
