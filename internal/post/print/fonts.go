package print

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"
)

//go:embed fonts/DejaVuSans.ttf
var regularFont []byte

//go:embed fonts/DejaVuSans-Bold.ttf
var boldFont []byte

// Fonts are those that this machine prints with: the two of this package and what its folders hold. They are safe for
// concurrent use. A folder is read at most once, when a text first needs more than the two.
type Fonts struct {
	Fault    string // of the folder that was named; "": none
	log      *slog.Logger
	find     func() []*source // all, those to be preferred first
	setters  sync.Pool        // of *setter
	checkers chan *setter     // for Prints
	opened   sync.Mutex
	keep     []*source // those whose files are in memory, the oldest first
	kept     int       // the bytes of these
	builtIns [2]*source
}

// The bounds of what is read of a folder.
const (
	maxFonts    = 5_000
	maxFontSize = 64 << 20
	maxKept     = 96 << 20
)

// NewFonts are the fonts of a folder; of those that the system has, if none is named.
func NewFonts(log *slog.Logger, folder string) *Fonts {
	if folder == "" {
		return newFonts(log, systemFolders()...)
	}
	f := newFonts(log, folder)
	if _, err := os.Stat(folder); err != nil {
		f.Fault = fmt.Sprintf("there is no folder of fonts: %s", err)
	}
	return f
}

func newFonts(log *slog.Logger, folders ...string) *Fonts {
	f := &Fonts{log: log, builtIns: [2]*source{builtIn("regular", regularFont, 400), builtIn("bold", boldFont, 700)}}
	f.find = sync.OnceValue(func() []*source { return f.search(folders) })
	f.setters.New = func() any { return newSetter(f) }
	f.checkers = make(chan *setter, 2)
	for range cap(f.checkers) {
		checker := newSetter(f)
		checker.checks = true
		f.checkers <- checker
	}
	return f
}

// BuiltIn are the two fonts that are always there.
var BuiltIn = sync.OnceValue(func() *Fonts { return newFonts(slog.New(slog.DiscardHandler)) })

func systemFolders() []string {
	home, _ := os.UserHomeDir() //nolint:errcheck // without one, its folder is not there
	switch runtime.GOOS {
	case "windows":
		return []string{filepath.Join(os.Getenv("WINDIR"), "Fonts")}
	case "darwin":
		return []string{"/System/Library/Fonts", "/Library/Fonts", filepath.Join(home, "Library/Fonts")}
	}
	return []string{"/usr/share/fonts", "/usr/local/share/fonts", filepath.Join(home, ".local/share/fonts")}
}

// source is a font. Its file is read when it is first needed, and may be dropped again.
type source struct {
	name    string
	content []byte // of one that is built in
	ranges  [][2]rune
	weight  int
	plain   bool // neither of serifs nor of one width, nor otherwise special

	font *font.Font // under Fonts.opened
	size int        // of its file, once it was read
	bad  bool       // its file is damaged
}

func builtIn(name string, content []byte, weight int) *source {
	s := &source{name: name, content: content, weight: weight, plain: true}
	parsed, err := parseFont(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		panic(err) // it is embedded
	}
	s.font, s.ranges = parsed, runeRanges(parsed.Cmap)
	return s
}

// search reads what is in the folders. The order does not depend on that in which they are read.
func (f *Fonts) search(folders []string) []*source {
	found := slices.Clone(f.builtIns[:])
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || len(found) >= maxFonts {
				return nil //nolint:nilerr // what cannot be read is passed by
			}
			switch strings.ToLower(filepath.Ext(path)) {
			case ".ttf", ".otf", ".ttc", ".otc":
			default:
				return nil
			}
			s, err := scanFont(path)
			if err != nil {
				f.log.Warn("a font is not used", "file", path, "error", err)
			} else if s != nil {
				found = append(found, s)
			}
			return nil
		})
		if err != nil {
			f.log.Warn("a folder of fonts cannot be read", "folder", folder, "error", err)
		}
	}
	slices.SortStableFunc(found[2:], func(a, b *source) int {
		return cmp.Or(cmp.Compare(b2i(!a.plain), b2i(!b.plain)), cmp.Compare(a.name, b.name))
	})
	return found
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// special are parts of the names of fonts that are taken only where there is no other.
var special = []string{"serif", "mono", "nastaliq", "looped", "condensed", "italic", "oblique", "lastresort",
	"fallback"}

// scanFont reads what a file is of; nil when it is of no use: coloured pictures and slanted letters.
func scanFont(path string) (s *source, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("reading it: %v", p)
		}
	}()
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil
	}
	loader, err := load(file, info.Size())
	if err != nil {
		return nil, err
	}
	outlines := loader.HasTable(opentype.MustNewTag("glyf")) || loader.HasTable(opentype.MustNewTag("CFF ")) ||
		loader.HasTable(opentype.MustNewTag("CFF2"))
	description, _ := font.Describe(loader, nil)
	if !outlines || loader.HasTable(opentype.MustNewTag("COLR")) || description.Aspect.Style == font.StyleItalic {
		return nil, nil
	}
	raw, err := loader.RawTable(opentype.MustNewTag("cmap"))
	if err != nil {
		return nil, err
	}
	ranges, err := tableRanges(raw)
	if err != nil {
		return nil, err
	}
	lower := strings.ToLower(filepath.Base(path))
	return &source{name: path, ranges: ranges, weight: int(description.Aspect.Weight),
		plain: description.Aspect.Stretch == font.StretchNormal &&
			!slices.ContainsFunc(special, func(part string) bool { return strings.Contains(lower, part) })}, nil
}

var errDamaged = errors.New("it is no font, or a damaged one")

// load opens the first font of a file, whose tables are all within it: the library believes the lengths that it reads.
func load(file opentype.Resource, size int64) (*opentype.Loader, error) {
	if size > maxFontSize {
		return nil, fmt.Errorf("it has %d MB, the limit is %d", size>>20, maxFontSize>>20)
	}
	at := func(offset int64, n int) []byte {
		b := make([]byte, n)
		if _, err := file.ReadAt(b, offset); err != nil && !errors.Is(err, io.EOF) {
			return make([]byte, n)
		}
		return b
	}
	begin := int64(0)
	head := at(0, 16)
	if string(head[:4]) == "ttcf" {
		if binary.BigEndian.Uint32(head[8:]) > 64 {
			return nil, errDamaged
		}
		begin = int64(binary.BigEndian.Uint32(head[12:]))
	}
	kind := string(at(begin, 4))
	if kind != "\x00\x01\x00\x00" && kind != "OTTO" && kind != "true" {
		return nil, errDamaged
	}
	for i := range int64(binary.BigEndian.Uint16(at(begin+4, 2))) {
		table := at(begin+12+16*i, 16)
		if int64(binary.BigEndian.Uint32(table[8:]))+int64(binary.BigEndian.Uint32(table[12:])) > size {
			return nil, errDamaged
		}
	}
	loaders, err := opentype.NewLoaders(file)
	if err != nil || len(loaders) == 0 {
		return nil, errDamaged
	}
	return loaders[0], nil
}

func parseFont(file opentype.Resource, size int64) (*font.Font, error) {
	loader, err := load(file, size)
	if err != nil {
		return nil, err
	}
	return font.NewFont(loader)
}

// open gives the font itself; nil where its file is damaged, which is told once.
func (f *Fonts) open(s *source) (opened *font.Font) {
	f.opened.Lock()
	defer f.opened.Unlock()
	if s.font != nil || s.bad {
		return s.font
	}
	defer func() {
		if p := recover(); p != nil {
			f.reject(s, fmt.Errorf("reading it: %v", p))
			opened = nil
		}
	}()
	content, err := os.ReadFile(s.name)
	if err == nil {
		s.font, err = parseFont(bytes.NewReader(content), int64(len(content)))
	}
	if err != nil {
		f.reject(s, err)
		return nil
	}
	s.size = len(content)
	f.keep, f.kept = append(f.keep, s), f.kept+s.size
	for f.kept > maxKept {
		f.keep[0].font, f.kept, f.keep = nil, f.kept-f.keep[0].size, f.keep[1:]
	}
	return s.font
}

// reject lets a font be used no more. Fonts.opened is held.
func (f *Fonts) reject(s *source, err error) {
	if !s.bad {
		f.log.Warn("a font is not used", "file", s.name, "error", err)
	}
	s.bad = true
}

// covers reports whether a font says that it has a character.
func (s *source) covers(r rune) bool {
	_, found := slices.BinarySearchFunc(s.ranges, r, func(in [2]rune, r rune) int {
		switch {
		case in[1] < r:
			return -1
		case in[0] > r:
			return 1
		}
		return 0
	})
	return found
}

// runeRanges are the characters that a font says it has, in order.
func runeRanges(m font.Cmap) [][2]rune {
	ranger, ok := m.(font.CmapRuneRanger)
	if !ok {
		return nil // a font of symbols in an encoding of its own
	}
	ranges := slices.Clone(ranger.RuneRanges(nil))
	slices.SortFunc(ranges, func(a, b [2]rune) int { return cmp.Compare(a[0], b[0]) })
	return ranges
}

func tableRanges(raw []byte) ([][2]rune, error) {
	table, _, err := tables.ParseCmap(raw)
	if err != nil {
		return nil, err
	}
	m, _, err := font.ProcessCmap(table, tables.FPNone)
	if err != nil {
		return nil, err
	}
	return runeRanges(m), nil
}
