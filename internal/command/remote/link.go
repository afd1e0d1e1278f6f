package remote

import (
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"boon.example/internal/command/terminal"
	"boon.example/internal/post/qr"
)

// TellLink prints a link that pairs a device, and where people look on, a QR code of it.
func TellLink(t *terminal.Terminal, till string, until time.Time, link string) error {
	code, err := qr.Encode(link)
	if err != nil {
		return err
	}
	if terminal.OnTerminal(t.Stderr) {
		drawQR(t.Stderr, code)
	}
	fmt.Fprintf(t.Stderr, "Open this on the device of till %s by %s; it pairs one device, once:\n", terminal.Cell(till),
		terminal.Moment(until))
	switch {
	case thisMachineOnly(link):
		fmt.Fprintln(t.Stderr, "It leads to this machine only: for another device, give --public-url.")
	case !strings.HasPrefix(link, "https:"):
		fmt.Fprintln(t.Stderr, "It is not HTTPS: whoever shares the network can take the till's key, and no camera opens.")
	}
	_, err = fmt.Fprintln(t.Stdout, link)
	return err
}

// thisMachineOnly reports whether an address means the machine that asks.
func thisMachineOnly(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback() || u.Hostname() == "localhost"
}

// drawQR draws a QR code with two modules in each character, in black on white whatever the colours of the terminal
// are.
func drawQR(w io.Writer, code *qr.Code) {
	for y := -qr.QuietZone; y < code.Size+qr.QuietZone; y += 2 {
		var line strings.Builder
		for x := -qr.QuietZone; x < code.Size+qr.QuietZone; x++ {
			half := 0
			if code.Dark(x, y) {
				half |= 1
			}
			if code.Dark(x, y+1) {
				half |= 2
			}
			line.WriteRune([]rune(" ▀▄█")[half])
		}
		fmt.Fprintf(w, "\x1b[38;5;16;48;5;231m%s\x1b[0m\n", line.String())
	}
}
