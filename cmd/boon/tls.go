package main

import (
	"boon.example/internal/certificate"
	"boon.example/internal/server"
)

// tlsFlags say what certificate the service shows to its clients, if any.
type tlsFlags struct {
	TLSCert string `setting:"file" name:"tls-cert" placeholder:"FILE" help:"Speak TLS, with this certificate and its chain as PEM. A file that changes is read again."`
	TLSKey  string `setting:"file" name:"tls-key" placeholder:"FILE" help:"The key of --tls-cert, as PEM, for the service's user only."`
}

// source opens what the flags name.
func (f tlsFlags) source(config *server.Config) (err error) {
	switch {
	case f.TLSCert+f.TLSKey == "":
		return nil
	case f.TLSCert == "" || f.TLSKey == "":
		return usageError("--tls-cert and --tls-key (BOON_TLS_CERT, BOON_TLS_KEY) belong together")
	}
	if config.Certificate, err = certificate.Files(f.TLSCert, f.TLSKey, config.Logger); err != nil {
		return usageError("--tls-cert, --tls-key: " + err.Error())
	}
	return nil
}
