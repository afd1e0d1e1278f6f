package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"
)

var (
	red  = color.NRGBA{200, 0, 0, 255}
	blue = color.NRGBA{0, 0, 200, 255}
)

// corner is a blue picture with a red upper left quarter.
func corner(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, blue)
			if x < w/2 && y < h/2 {
				img.SetNRGBA(x, y, red)
			}
		}
	}
	return img
}

func asPNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// asJPEG writes a JPEG whose Exif data says how to turn it.
func asJPEG(t testing.TB, img image.Image, orientation uint16, order binary.AppendByteOrder) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	tiff := []byte("MM\x00*")
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		tiff = []byte("II*\x00")
	}
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	tiff = append(order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, 0x010f), 2), 4), "me\x00\x00"...)
	tiff = order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, 0x0112), 3), 1)
	tiff = order.AppendUint16(order.AppendUint16(tiff, orientation), 0)
	tiff = append(tiff, "GPS: 37.8 N 122.4 W"...)
	segment := append([]byte("Exif\x00\x00"), tiff...)
	segment = append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(segment)+2)), segment...)
	return append(append([]byte("\xff\xd8"), segment...), b.Bytes()[2:]...)
}

func decoded(t testing.TB, p Picture) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(p.Bytes))
	if p.JPEG {
		img, err = jpeg.Decode(bytes.NewReader(p.Bytes))
	}
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// isRed asks for the quarter in the middle of which a point lies.
func isRed(img image.Image, right, low bool) bool {
	size := img.Bounds().Size()
	x, y := size.X/4, size.Y/4
	if right {
		x = 3 * size.X / 4
	}
	if low {
		y = 3 * size.Y / 4
	}
	r, _, b, _ := img.At(x, y).RGBA()
	return r > b
}

func TestUpright(t *testing.T) {
	t.Parallel()
	for orientation, want := range map[uint16]struct{ right, low, turned bool }{
		0: {}, 1: {}, 9: {}, 2: {true, false, false}, 3: {true, true, false}, 4: {false, true, false},
		5: {false, false, true}, 6: {true, false, true}, 7: {true, true, true}, 8: {false, true, true},
	} {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			p, err := Clean(asJPEG(t, corner(64, 32), orientation, order), 500)
			if err != nil {
				t.Fatal(err)
			}
			img := decoded(t, p)
			if size := img.Bounds().Size(); (size.Y > size.X) != want.turned || !isRed(img, want.right, want.low) {
				t.Errorf("orientation %d: %v, red is not where it belongs", orientation, size)
			}
			if bytes.Contains(p.Bytes, []byte("GPS")) || bytes.Contains(p.Bytes, []byte("Exif")) {
				t.Errorf("orientation %d: metadata is left", orientation)
			}
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	webp, err := os.ReadFile("testdata/gopher.webp")
	if err != nil {
		t.Fatal(err)
	}
	clear := corner(40, 20)
	clear.SetNRGBA(3, 3, color.NRGBA{})
	// A text chunk after the header, as editors leave them.
	plain := asPNG(t, corner(40, 20))
	chunk := []byte("tEXtComment\x00secret note")
	chunk = binary.BigEndian.AppendUint32(append(binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4)), chunk...),
		crc32.ChecksumIEEE(chunk))
	noted := append(append(append([]byte{}, plain[:33]...), chunk...), plain[33:]...)
	for name, file := range map[string][]byte{
		"png": plain, "png with a note": noted, "transparent": asPNG(t, clear), "webp": webp,
		"large": asPNG(t, corner(1000, 300)), "jpeg": asJPEG(t, corner(40, 20), 1, binary.BigEndian),
	} {
		p, err := Clean(file, 200)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		size := decoded(t, p).Bounds().Size()
		if size.X > 200 || size.Y > 200 || name == "large" && size != image.Pt(200, 60) || name == "png" &&
			size != image.Pt(40, 20) {
			t.Errorf("%s: %v", name, size)
		}
		if name == "transparent" && p.JPEG || strings.Contains(string(p.Bytes), "secret note") {
			t.Errorf("%s: JPEG %t, metadata left", name, p.JPEG)
		}
		if again, err := Clean(file, 200); err != nil || !bytes.Equal(again.Bytes, p.Bytes) {
			t.Errorf("%s: another result the second time", name)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	var moving bytes.Buffer
	if err := gif.Encode(&moving, corner(40, 20), nil); err != nil {
		t.Fatal(err)
	}
	bomb := bytes.Clone(asPNG(t, corner(40, 20)))
	binary.BigEndian.PutUint32(bomb[16:], 7_000)
	binary.BigEndian.PutUint32(bomb[20:], 7_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	whole := asPNG(t, corner(400, 200))
	for name, tc := range map[string]struct {
		file []byte
		says string
	}{
		"nothing": {nil, "not a PNG, JPEG or WebP"}, "svg": {[]byte(`<?xml version="1.0"?><SVG onload="alert(1)"/>`),
			"SVG is not taken"},
		"gif": {moving.Bytes(), "not a PNG, JPEG or WebP"}, "html": {[]byte("<html>"), "not a PNG"},
		"bomb": {bomb, "7000 by 7000 pixels"}, "tiny": {asPNG(t, corner(4, 4)), "4 by 4 pixels"},
		"a line, lying": {asPNG(t, corner(800, 8)), "800 by 8 pixels"}, "standing": {asPNG(t, corner(8, 800)), "8 by 800"},
		"damaged": {whole[:len(whole)/2], "damaged"}, "header only": {whole[:8], "damaged"},
		"riff":  {[]byte("RIFF\x00\x00\x00\x00WEBPVP8 "), "damaged"},
		"heavy": {append(bytes.Clone(whole), make([]byte, MaxBytes)...), "at most 4 MiB"},
	} {
		if _, err := Clean(tc.file, 200); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %q", name, err, tc.says)
		}
	}
}

// FuzzClean: whatever the bytes, a refusal or a picture that can be read again.
func FuzzClean(f *testing.F) {
	f.Add(asPNG(f, corner(16, 8)))
	f.Add(asJPEG(f, corner(16, 8), 6, binary.LittleEndian))
	f.Add(asJPEG(f, corner(16, 8), 6, binary.BigEndian)[:40])
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8L"))
	webp, err := os.ReadFile("testdata/gopher.webp")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(webp)
	f.Fuzz(func(t *testing.T, file []byte) {
		if p, err := Clean(file, 64); err == nil {
			decoded(t, p)
		}
	})
}
