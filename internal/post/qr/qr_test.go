package qr

import (
	"bytes"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"rsc.io/qr/coding"
)

const giftURL = "https://gifts.example.com/g/7nB2cD9fGhJkLmNpQrStUv"

// TestPenalty judges patterns whose penalty can be worked out by hand.
func TestPenalty(t *testing.T) {
	t.Parallel()
	const size = 20
	for name, tc := range map[string]struct {
		dark func(x, y int) bool
		want int
	}{
		"checkerboard": {func(x, y int) bool { return (x+y)%2 == 1 }, 0},
		// 40 lines with a run of 20, 19 × 19 blocks, 50 % away from half.
		"all light": {func(x, y int) bool { return false }, 40*(3+15) + 361*3 + 10*10},
		"all dark":  {func(x, y int) bool { return true }, 40*(3+15) + 361*3 + 10*10},
		// The left half is dark: 20 rows with two runs of 10, 20 columns with a run of 20, 18 × 19 blocks.
		"halves": {func(x, y int) bool { return x < 10 }, 20*2*(3+5) + 20*(3+15) + 18*19*3},
		// 12 of 20 columns dark: 60 % is two steps away; in each row the runs are 12 and 8.
		"60 %": {func(x, y int) bool { return x < 12 }, 20*(3+7+3+3) + 20*(3+15) + (11+7)*19*3 + 2*10},
		// Rows of 1:1:3:1:1 with four light after it, then before it; equal rows make columns of one colour.
		"finder, light": {columns("10111010000101010101"), 20*40 + 20*(3+15) + 19*3*(2+3)},
		"light, finder": {columns("10101010100001011101"), 20*40 + 20*(3+15) + 19*3*(3+2)},
	} {
		if got := patterned(size, tc.dark).penalty(); got != tc.want {
			t.Errorf("%s: penalty %d, want %d", name, got, tc.want)
		}
	}
}

func columns(row string) func(x, y int) bool { return func(x, _ int) bool { return row[x] == '1' } }

func patterned(size int, dark func(x, y int) bool) *Code {
	c := &Code{Size: size, modules: make([]bool, size*size)}
	for i := range c.modules {
		c.modules[i] = dark(i%size, i/size)
	}
	return c
}

func TestEncodeChoosesTheLowestPenalty(t *testing.T) {
	t.Parallel()
	chosen := map[int]bool{}
	for _, text := range []string{"a", "b", giftURL, giftURL + "0", giftURL + "1", giftURL + "2", giftURL + "3"} {
		c, err := Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		level, mask := c.format(t)
		if level != 0 {
			t.Errorf("%q: level bits %02b, want 00 (M)", text, level)
		}
		for m := range 8 {
			other, err := encode(coding.String(text), coding.Version((c.Size-17)/4), coding.M, coding.Mask(m))
			if err != nil {
				t.Fatal(err)
			}
			if other.penalty() < c.penalty() {
				t.Errorf("%q: mask %d chosen, mask %d is better", text, mask, m)
			}
		}
		chosen[mask] = true
	}
	if len(chosen) < 2 {
		t.Errorf("every text got the same mask %v: none is chosen", chosen)
	}
}

func TestEncodeLimits(t *testing.T) {
	t.Parallel()
	if _, err := Encode(strings.Repeat("x", 2331)); err != nil {
		t.Errorf("2,331 bytes: %v", err)
	}
	if _, err := Encode(strings.Repeat("x", 2332)); err == nil {
		t.Error("2,332 bytes were encoded, but no code of level M holds them")
	}
}

// TestDecode reads codes of versions 1 to 6 back by a decoder of the test's own, written after the standard.
func TestDecode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 106).Draw(t, "text"))
		c, err := Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.decode(t); got != text {
			t.Fatalf("decoded %q, want %q", got, text)
		}
	})
}

// TestScan draws the SVG that people see and has it read: by zbarimg where that is installed, and always by the test's
// own decoder from the drawn pixels.
func TestScan(t *testing.T) {
	t.Parallel()
	c, err := Encode(giftURL)
	if err != nil {
		t.Fatal(err)
	}
	picture := draw(t, c.SVG("QR code of the gift"), 6)
	back := &Code{Size: c.Size, modules: make([]bool, c.Size*c.Size)}
	for i := range back.modules {
		x, y := i%c.Size+QuietZone, i/c.Size+QuietZone
		back.modules[i] = picture.GrayAt(x*6+3, y*6+3).Y == 0
	}
	if got := back.decode(t); got != giftURL {
		t.Errorf("the drawing decodes to %q", got)
	}
	zbar, err := exec.LookPath("zbarimg")
	if err != nil {
		t.Log("zbarimg is not installed; the drawing was read by the test's own decoder only")
		return
	}
	name := filepath.Join(t.TempDir(), "qr.png")
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), zbar, "--quiet", "--raw", name).Output()
	if err != nil || strings.TrimSpace(string(out)) != giftURL {
		t.Errorf("zbarimg read %q (%v), want %q", out, err, giftURL)
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	t.Parallel()
	c, err := Encode(giftURL)
	if err != nil {
		t.Fatal(err)
	}
	var svg struct {
		ViewBox string `xml:"viewBox,attr"`
		Title   string `xml:"title"`
		Paths   []struct {
			D string `xml:"d,attr"`
		} `xml:"path"`
	}
	if err := xml.Unmarshal([]byte(c.SVG(`<script>"&'`)), &svg); err != nil {
		t.Fatal(err)
	}
	if svg.Title != `<script>"&'` || len(svg.Paths) != 1 || svg.ViewBox != "0 0 41 41" {
		t.Errorf("title %q, %d paths, viewBox %q", svg.Title, len(svg.Paths), svg.ViewBox)
	}
}

func BenchmarkEncode(b *testing.B) {
	for b.Loop() {
		if _, err := Encode(giftURL); err != nil {
			b.Fatal(err)
		}
	}
}

var subpath = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)

// draw paints the one path of the SVG, scale pixels to a module.
func draw(t *testing.T, svg string, scale int) *image.Gray {
	t.Helper()
	size := number(regexp.MustCompile(`viewBox="0 0 (\d+)`).FindStringSubmatch(svg)[1])
	m := image.NewGray(image.Rect(0, 0, size*scale, size*scale))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	for _, s := range subpath.FindAllStringSubmatch(svg, -1) {
		x, y, width := number(s[1]), number(s[2]), number(s[3])
		if s[3] != s[4] {
			t.Fatalf("the run %q does not close", s[0])
		}
		for py := y * scale; py < (y+1)*scale; py++ {
			for px := x * scale; px < (x+width)*scale; px++ {
				m.SetGray(px, py, color.Gray{})
			}
		}
	}
	return m
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

type fataler interface{ Fatalf(string, ...any) }

// format reads both copies of the format information and gives the bits of the level and the mask.
func (c *Code) format(t fataler) (level, mask int) {
	first, second := 0, 0
	for i := range 15 { // bit i of the format information, section 7.9.1
		x, y := 8, i
		switch {
		case i >= 9:
			x, y = 14-i, 8
		case i == 8:
			x, y = 7, 8
		case i >= 6:
			y = i + 1
		}
		if c.Dark(x, y) {
			first |= 1 << i
		}
		if x, y = c.Size-1-i, 8; i >= 8 {
			x, y = 8, c.Size-15+i
		}
		if c.Dark(x, y) {
			second |= 1 << i
		}
	}
	if first != second {
		t.Fatalf("the copies of the format information differ: %015b, %015b", first, second)
	}
	bits := first ^ 0b101010000010010
	return bits >> 13, bits >> 10 & 7
}

var masks = [8]func(i, j int) bool{ // i: row, j: column, section 7.8.2
	func(i, j int) bool { return (i+j)%2 == 0 },
	func(i, _ int) bool { return i%2 == 0 },
	func(_, j int) bool { return j%3 == 0 },
	func(i, j int) bool { return (i+j)%3 == 0 },
	func(i, j int) bool { return (i/2+j/3)%2 == 0 },
	func(i, j int) bool { return i*j%2+i*j%3 == 0 },
	func(i, j int) bool { return (i*j%2+i*j%3)%2 == 0 },
	func(i, j int) bool { return ((i+j)%2+i*j%3)%2 == 0 },
}

// blocksM is the number of blocks and of data codewords in each, of versions 1 to 6 at level M.
var blocksM = [7][2]int{1: {1, 16}, 2: {1, 28}, 3: {1, 44}, 4: {2, 32}, 5: {2, 43}, 6: {4, 27}}

// decode reads a code of version 1 to 6, level M, one segment of bytes. It corrects no errors.
func (c *Code) decode(t fataler) string {
	version := (c.Size - 17) / 4
	for _, corner := range [][2]int{{0, 0}, {c.Size - 7, 0}, {0, c.Size - 7}} {
		for i := range 49 {
			x, y := i%7, i/7
			ring := max(abs(x-3), abs(y-3))
			if c.Dark(corner[0]+x, corner[1]+y) != (ring != 2) {
				t.Fatalf("the finder pattern at %v is damaged", corner)
			}
		}
	}
	words := c.words(t)
	blocks, each := blocksM[version][0], blocksM[version][1]
	var data []byte
	for b := range blocks {
		for i := range each {
			data = append(data, words[i*blocks+b])
		}
	}
	if data[0]>>4 != 4 {
		t.Fatalf("mode %04b, want 0100 (bytes)", data[0]>>4)
	}
	text := make([]byte, data[0]<<4|data[1]>>4)
	for i := range text {
		text[i] = data[i+1]<<4 | data[i+2]>>4
	}
	return string(text)
}

// words reads the codewords in their order of placement, section 7.7.3.
func (c *Code) words(t fataler) []byte {
	_, mask := c.format(t)
	var words []byte
	bits, n := byte(0), 0
	up := true
	for right := c.Size - 1; right > 0; right -= 2 {
		if right == 6 {
			right--
		}
		for k := range c.Size {
			y := k
			if up {
				y = c.Size - 1 - k
			}
			for _, x := range []int{right, right - 1} {
				if c.function(x, y) {
					continue
				}
				bits <<= 1
				if c.Dark(x, y) != masks[mask](y, x) {
					bits |= 1
				}
				if n++; n%8 == 0 {
					words = append(words, bits)
				}
			}
		}
		up = !up
	}
	return words
}

// function reports whether a module is part of a function pattern in versions 1 to 6: those hold one alignment pattern
// at most.
func (c *Code) function(x, y int) bool {
	end := c.Size - 8
	a := c.Size - 7
	return x <= 8 && y <= 8 || x >= end && y <= 8 || x <= 8 && y >= end || x == 6 || y == 6 ||
		c.Size > 21 && abs(x-a) <= 2 && abs(y-a) <= 2
}

func BenchmarkPNG(b *testing.B) {
	c, err := Encode("https://gifts.example.com/g/1oGsKdYhOr9RIWINmb31qn")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := c.PNG(8); err != nil {
			b.Fatal(err)
		}
	}
}
