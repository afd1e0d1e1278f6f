package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"boon.example/test/chromium"
)

// browser is a headless chromium.
type browser struct{ ctx context.Context }

// onlyPictures are for a browser that takes pictures of pages and clicks nothing. Without them, a picture is taken of
// what is drawn by then: where the machine is busy, that is the page around a frame, and a hole in its place. With
// them, the page that a click leads to may never be drawn.
func onlyPictures() []chromedp.ExecAllocatorOption {
	return []chromedp.ExecAllocatorOption{chromedp.Flag("run-all-compositor-stages-before-draw", true),
		chromedp.Flag("disable-new-content-rendering-timeout", true)}
}

// launch starts a browser, which ends with close.
func launch(ctx context.Context, more ...chromedp.ExecAllocatorOption) (_ *browser, closeIt func(), err error) {
	path, err := chromium.Find()
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.Flag("hide-scrollbars", true),
		// In a process of its own, a sandboxed frame (the mail in the outbox) is painted after the picture was taken.
		chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,IsolateSandboxedIframes"),
		chromedp.WSURLReadTimeout(timeout))
	options = append(options, more...)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // chromium refuses a sandbox to root
	}
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	ctx, end := chromedp.NewContext(ctx)
	closeIt = func() { end(); stop() }
	if err := chromedp.Do(ctx); err != nil {
		closeIt()
		return nil, nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return &browser{ctx}, closeIt, nil
}

const phone = 360 // the width of a small phone, in CSS pixels

// look is how a page is looked at.
type look struct {
	theme string  // light or dark
	width int64   // in CSS pixels
	scale float64 // of them to pixels
}

// open shows a page.
func (b *browser) open(ctx context.Context, address string, l look) error {
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: l.theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	err := chromedp.Do(ctx,
		chromedp.EmulateViewport(l.width, 740, chromedp.EmulateScale(l.scale)),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
			return err
		}),
		chromedp.Navigate(address),
	)
	if err != nil {
		return fmt.Errorf("opening a page: %w", err)
	}
	return nil
}

// timeout is how long a page may take on a machine that is busy.
const timeout = time.Minute

// shoot takes a picture of a whole page.
func (b *browser) shoot(address string, l look) (image.Image, error) {
	ctx, cancel := context.WithTimeout(b.ctx, timeout)
	defer cancel()
	if err := b.open(ctx, address, l); err != nil {
		return nil, err
	}
	shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		return nil, fmt.Errorf("taking a picture: %w", err)
	}
	return png.Decode(bytes.NewReader(shot))
}

// paper makes a picture of the first page of a PDF.
func paper(ctx context.Context, pdf []byte, resolution string) (image.Image, error) {
	render, err := exec.LookPath("pdftoppm")
	if err != nil {
		return nil, errors.New("pdftoppm is not installed: install it (Debian: apt install poppler-utils) to take " +
			"pictures of PDFs")
	}
	dir, err := os.MkdirTemp("", "boon-pdf-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "page")
	if err := os.WriteFile(file+".pdf", pdf, 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, render, "-png", "-r", resolution, "-singlefile", file+".pdf",
		file).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pdftoppm: %w\n%s", err, out)
	}
	b, err := os.ReadFile(file + ".png")
	if err != nil {
		return nil, err
	}
	return png.Decode(bytes.NewReader(b))
}
