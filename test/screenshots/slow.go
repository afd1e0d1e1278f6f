package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// A slow phone, as Lighthouse has it: 4G where it is bad, and a processor that takes four times as long as this one.
const (
	slowRoundTrip = 150                 // milliseconds
	slowDown      = 1.6 * 1_000_000 / 8 // bytes a second
	slowUp        = 750 * 1_000 / 8
	slowProcessor = 4
	slowTimes     = 5
)

// seenAfter tells when something of the page was painted first, when its largest part was, and how much came over the
// line, in milliseconds and bytes.
const seenAfter = `new Promise(done => new PerformanceObserver(list => {
	const page = performance.getEntriesByType("navigation")[0];
	const came = performance.getEntriesByType("resource").reduce((sum, r) => sum + r.transferSize, page.transferSize);
	done([performance.getEntriesByName("first-contentful-paint")[0].startTime, list.getEntries().at(-1).startTime, came]);
}).observe({type: "largest-contentful-paint", buffered: true}))`

// slow prints how long pages take to be seen on a slow phone that sees Boon for the first time.
func (s *studio) slow(ctx context.Context) error {
	pages, err := s.consolePages(ctx)
	if err != nil {
		return err
	}
	invitation, err := s.invite(ctx, "Robin", "robin@example.com")
	if err != nil {
		return err
	}
	if err := s.comeIn(invitation); err != nil {
		return err
	}
	outside, err := s.guestPages(ctx)
	if err != nil {
		return err
	}
	if err := s.slowDown(); err != nil {
		return err
	}
	fmt.Println("Page | KB over the line | first paint, ms | largest paint, ms\n---|--:|--:|--:")
	for _, p := range append(outside, pages...) {
		var first, largest []float64
		var bytes float64
		for range slowTimes {
			seen, err := s.seen(s.url + p.path)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			first, largest, bytes = append(first, seen[0]), append(largest, seen[1]), seen[2]
		}
		slices.Sort(first)
		slices.Sort(largest)
		fmt.Printf("%s | %.1f | %.0f | %.0f\n", p.name, bytes/1000, first[slowTimes/2], largest[slowTimes/2])
	}
	return nil
}

// slowDown makes a slow phone of the browser, which keeps nothing from page to page.
func (s *studio) slowDown() error {
	return chromedp.Do(s.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		forgets := network.SetCacheDisabledParams{CacheDisabled: true}
		if _, err := cdp.Call(ctx, t, network.SetCacheDisabled, forgets); err != nil {
			return err
		}
		line := network.Conditions{Latency: slowRoundTrip, DownloadThroughput: slowDown, UploadThroughput: slowUp}
		_, err := cdp.Call(ctx, t, network.EmulateNetworkConditionsByRule,
			network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{&line}})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, t, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: slowProcessor})
		return err
	}))
}

// seen opens a page and gives what seenAfter tells.
func (s *studio) seen(address string) ([]float64, error) {
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	if err := s.open(ctx, address, look{"light", 375, 2}); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[[]float64](seenAfter, chromedp.EvalAwaitPromise))
}
