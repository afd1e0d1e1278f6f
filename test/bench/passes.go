package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/fstest"
	"time"

	"boon.example/client"
	"boon.example/internal/post/pass/passtest"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

// What the passes part does.
const (
	passTime   = 5 * time.Second
	passDesign = "0199a000-0000-7000-8000-1%011d"
	coldTimes  = 40 // for each number of callers: each pass is of a design of which no pass was made before
)

// passes measures how long the service takes over a pass for Apple Wallet: of a design whose pictures were drawn
// before, and of one that is seen for the first time.
func (h *trial) passes() (err error) {
	progress("%s: passes", h.title())
	callers := []int{1, 16}
	if err := h.passSetUp(1 + coldTimes*len(callers)); err != nil {
		return err
	}
	v := &reader{trial: h, base: "http://" + h.service.address, http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: slices.Max(callers)}}}
	if v.api, err = client.New(v.base, key); err != nil {
		return err
	}
	time.Sleep(time.Second) // the service has read its set-up again
	var gifts [][]string    // their passes, by design
	for n := range 1 + coldTimes*len(callers) {
		times := 1
		if n == 0 {
			times = slices.Max(callers)
		}
		all, err := v.passesOf(fmt.Sprintf(passDesign, n), times)
		if err != nil {
			return err
		}
		gifts = append(gifts, all)
	}
	rows := "A pass for Apple Wallet | callers | passes/s | KB | p50 ms | p99 ms | at most, ms\n" +
		"---|--:|--:|--:|--:|--:|--:\n"
	var failed []error
	for n, connections := range callers {
		cold := slices.Concat(gifts[1+n*coldTimes : 1+(n+1)*coldTimes]...)
		for _, kind := range []struct {
			name  string
			paths []string
			once  bool
		}{{"of a design that is seen for the first time", cold, true}, {"of a design that is known", gifts[0], false}} {
			row, err := v.passTimes(kind.name, kind.paths, connections, kind.once)
			rows += row
			failed = append(failed, err)
		}
	}
	h.report.printf(&h.report.notes, "\n%s\n", rows)
	return errors.Join(failed...)
}

// passSetUp gives the merchant a wallet and designs, each of which has a look of its own.
func (h *trial) passSetUp(designs int) (err error) {
	s, err := store.Open(h.ctx, store.Options{Dir: h.place.data(), Database: h.place.database()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	files, err := passtest.Make(time.Now().AddDate(0, 6, 0))
	if err != nil {
		return err
	}
	text := &strings.Builder{}
	text.WriteString(walletOf(files) + "    voucherDesigns:\n")
	for n := range designs {
		fmt.Fprintf(text, "      - {id: "+passDesign+", name: Design %d, accentColor: \"#%06x\", logo: logo.png, "+
			"picture: picture.png}\n", n, n, 0x203040+n)
	}
	all := strings.Replace(setupFile, "    storefronts:", text.String()+"    storefronts:", 1)
	var logo, picture bytes.Buffer
	if err := errors.Join(png.Encode(&logo, gradient{}), png.Encode(&picture, grain{})); err != nil {
		return err
	}
	file, err := setup.ParseBeside("bench", []byte(all), fstest.MapFS{"logo.png": {Data: logo.Bytes()},
		"picture.png": {Data: picture.Bytes()}}, nil)
	if err == nil {
		_, err = file.Apply(h.ctx, s, time.Now(), rand.Reader)
	}
	return err
}

// grain is a picture that is as hard to pack as a photograph.
type grain struct{ gradient }

func (g grain) At(x, y int) color.Color {
	c := g.gradient.At(x, y).(color.NRGBA)
	noise := uint8((uint32(x)*2654435761 ^ uint32(y)*2246822519) >> 20 & 15)
	return color.NRGBA{c.R ^ noise, c.G ^ noise>>1, c.B ^ noise, 255}
}

// passesOf makes gifts of a design, and gives the addresses of their passes.
func (v *reader) passesOf(design string, times int) (paths []string, err error) {
	for range times {
		g, _, err := v.send(1, design, "Enjoy!")
		if err != nil {
			return nil, err
		}
		paths = append(paths, "/g/"+g.VoucherPublicToken+"/pass.pkpass")
	}
	return paths, nil
}

// passTimes asks for passes over some connections: each once, or again and again for some seconds.
func (v *reader) passTimes(name string, paths []string, callers int, once bool) (row string, err error) {
	var all sync.WaitGroup
	var turn, size atomic.Int64
	took, failed := make([][]time.Duration, callers), make([]error, callers)
	begun := time.Now()
	for c := range callers {
		all.Go(func() {
			for failed[c] == nil && (once || time.Since(begun) < passTime) {
				n := int(turn.Add(1)) - 1
				if once && n >= len(paths) {
					return
				}
				asked := time.Now()
				body, err := v.do("GET", paths[n%len(paths)], "", "")
				took[c], failed[c] = append(took[c], time.Since(asked)), err
				size.Store(int64(len(body)))
			}
		})
	}
	all.Wait()
	seconds := time.Since(begun).Seconds()
	if err := errors.Join(failed...); err != nil {
		return "", fmt.Errorf("a pass %s: %w", name, err)
	}
	each := slices.Concat(took...)
	slices.Sort(each)
	p50, p99 := each[len(each)/2], each[len(each)*99/100]
	if most := v.options.passes; most > 0 && p99 > most {
		err = fmt.Errorf("a pass %s took %v over %d connections; %v is allowed", name, p99, callers, most)
	}
	return fmt.Sprintf("%s | %d | %.0f | %.0f | %.1f | %.1f | %.1f\n", name, callers, float64(len(each))/seconds,
		float64(size.Load())/1000, ms(p50), ms(p99), ms(each[len(each)-1])), err
}
