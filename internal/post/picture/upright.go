package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// upright turns and mirrors a picture as its camera noted that it must be (Exif, tag Orientation, 1 to 8).
func upright(img *image.NRGBA, orientation int) *image.NRGBA {
	if orientation < 2 || orientation > 8 {
		return img
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	to := image.NewNRGBA(image.Rect(0, 0, w, h))
	if orientation >= 5 { // lying on a side
		to = image.NewNRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			at := [...]image.Point{
				2: {w - 1 - x, y}, 3: {w - 1 - x, h - 1 - y}, 4: {x, h - 1 - y},
				5: {y, x}, 6: {h - 1 - y, x}, 7: {h - 1 - y, w - 1 - x}, 8: {y, w - 1 - x},
			}[orientation]
			to.SetNRGBA(at.X, at.Y, img.NRGBAAt(x, y))
		}
	}
	return to
}

// orientation finds the tag in the Exif data of a JPEG; 1 when it has none, which is upright. WebP and PNG with such
// data are rare, and are taken as they are.
func orientation(file []byte) int {
	const app1, scan = 0xe1, 0xda
	if !starts("\xff\xd8")(file) {
		return 1
	}
	for b := file[2:]; len(b) >= 4 && b[0] == 0xff && b[1] != scan; {
		length := 2 + int(binary.BigEndian.Uint16(b[2:]))
		if length < 4 || length > len(b) {
			break
		}
		if data, found := bytes.CutPrefix(b[4:length], []byte("Exif\x00\x00")); found && b[1] == app1 {
			return tiffOrientation(data)
		}
		b = b[length:]
	}
	return 1
}

// tiffOrientation reads the tag in the first directory of a TIFF structure.
func tiffOrientation(t []byte) int {
	const tag, head, entry = 0x0112, 8, 12
	if len(t) < head {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if t[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int(order.Uint32(t[4:]))
	if at < head || at > len(t)-2 {
		return 1
	}
	count := int(order.Uint16(t[at:]))
	for i := range count {
		e := at + 2 + i*entry
		if e+entry > len(t) {
			break
		}
		if order.Uint16(t[e:]) == tag {
			return int(order.Uint16(t[e+8:]))
		}
	}
	return 1
}
