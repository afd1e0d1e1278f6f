package bars

import (
	"bytes"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScan draws codes as people see them, and has a scanner's program read them.
func TestScan(t *testing.T) {
	t.Parallel()
	zbar, err := exec.LookPath("zbarimg")
	if err != nil {
		t.Skip("LEFT OUT: there is no zbarimg")
	}
	for _, text := range []string{"482915073364", "000000000000", "6035714412345678", "GIFT7K2M9Q", "A1b2C3-4"} {
		c, err := Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "bars.png")
		if err := os.WriteFile(name, drawn(t, c), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), zbar, "--quiet", "--raw", "-Sdisable", "-Scode128.enable", name).Output()
		if err != nil || strings.TrimSpace(string(out)) != text {
			t.Errorf("zbarimg read %q (%v), want %q", out, err, text)
		}
	}
}

func drawn(t *testing.T, c *Code) []byte {
	t.Helper()
	const scale, height = 3, 90
	img := image.NewGray(image.Rect(0, 0, c.Width()*scale, height))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	for _, bar := range c.Bars() {
		for x := bar.At * scale; x < (bar.At+bar.Width)*scale; x++ {
			for y := range height {
				img.SetGray(x, y, color.Gray{})
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestShape: twelve digits take 101 modules, as pairs of digits do in the code's set C. Dark bars are apart, begin
// after the quiet zone and end before the other.
func TestShape(t *testing.T) {
	t.Parallel()
	c, err := Encode("482915073364")
	if err != nil || c.Width() != 101+2*QuietZone {
		t.Fatalf("twelve digits take %d modules, %v", c.Width(), err)
	}
	end := QuietZone - 1
	for _, bar := range c.Bars() {
		if bar.At <= end || bar.Width < 1 || bar.Width > 4 {
			t.Errorf("bar %+v after %d", bar, end)
		}
		end = bar.At + bar.Width
	}
	if end != c.Width()-QuietZone {
		t.Errorf("the last bar ends at %d of %d", end, c.Width())
	}
	var svg struct {
		Title string `xml:"title"`
	}
	if err := xml.Unmarshal([]byte(c.SVG("A <bar> code")), &svg); err != nil || svg.Title != "A <bar> code" {
		t.Errorf("the drawing is no XML: %v, %+v", err, svg)
	}
	for _, text := range []string{"", "é", "a\nb", strings.Repeat("1", 81)} {
		if _, err := Encode(text); err == nil {
			t.Errorf("%q has a bar code", text)
		}
	}
}
