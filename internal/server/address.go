package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listen is where a service listens by default.
const listen = "127.0.0.1:8080"

// CheckAddress refuses what is no address to listen on. flag is the setting that names it.
func CheckAddress(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%s is HOST:PORT, such as 127.0.0.1:8080, [::1]:8080, or :8080 for all addresses of this machine: "+
			"%q is none", flag, address)
	}
	return nil
}

// wanted is an address to listen on, and the setting that names it.
type wanted struct{ flag, address string }

// addresses are those where it listens.
func (c *Config) addresses() []wanted {
	all := []wanted{{"--listen", cmp.Or(c.Listen, listen)}}
	if c.AdminListen != "" {
		all = append(all, wanted{"--admin-listen", c.AdminListen})
	}
	return all
}

// triedAddresses refuses addresses that cannot be had now, before a store is made or opened.
func (c *Config) triedAddresses() error {
	var wrong []error
	for _, w := range c.addresses() {
		l, err := net.Listen("tcp", w.address)
		if err != nil {
			wrong = append(wrong, w.notListening(err))
			continue
		}
		l.Close()
	}
	return errors.Join(wrong...)
}

// notListening says what to do about an address that cannot be had.
func (w wanted) notListening(err error) error {
	const instead = "give an address of this machine, such as 127.0.0.1:8080, or :8080 for all of them"
	name, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("another program listens on %s: end it, or choose another address with %s (port 0 finds a free "+
			"one): %w", w.address, w.flag, err)
	case unknown && name.IsNotFound:
		return fmt.Errorf("%s: there is no machine of the name %s: %s", w.flag, name.Name, instead)
	case unknown:
		return fmt.Errorf("%s: whether there is a machine of the name %s cannot be found out (%w): %s", w.flag, name.Name,
			name, instead)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s: %s is not an address of this machine: %s", w.flag, w.address, instead)
	}
	return fmt.Errorf("%s: %w", w.flag, err)
}
