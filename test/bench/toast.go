package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/google/uuid"

	"boon.example/internal/command/load"
)

// toast measures REDEEMs as Toast sends them. What is not known within the time that Toast waits is told apart.
func (h *trial) toast() error {
	for _, connections := range []int{16, 256, 2048} {
		var all []reading
		late := int64(0)
		for round := range h.options.repeat {
			progress("%s: toast over %d connections, %d of %d", h.title(), connections, round+1, h.options.repeat)
			plan := load.Plan{Target: h.target, Next: h.toastRedeem(), Connections: connections, Duration: h.options.duration}
			run, err := load.Start(h.ctx, plan)
			if err != nil {
				return err
			}
			run.Wait()
			s := run.Stats()
			for why, n := range s.Failures() {
				if why != "HTTP 500" {
					return fmt.Errorf("%d calls came to %s", n, why)
				}
				late += n
			}
			all = append(all, reading{rate: float64(s.OK.Count()) / run.Took().Seconds(), p50: s.OK.Quantile(0.5),
				p99: s.OK.Quantile(0.99)})
		}
		h.report.note("**REDEEM as Toast sends it** over %d connections: %s a second, p50 %.2f ms, p99 %.2f ms; %d not "+
			"known within 450 ms.", connections, thousands(int(median(all, func(r reading) float64 { return r.rate }))),
			median(all, func(r reading) float64 { return ms(r.p50) }),
			median(all, func(r reading) float64 { return ms(r.p99) }), late)
	}
	return nil
}

// toastRedeem takes a cent of one gift or another, each time under a GUID of its own.
func (h *trial) toastRedeem() load.Next {
	head := "POST /providers/toast/" + toastProvider + " HTTP/1.1\r\nHost: " + h.service.address +
		"\r\nAuthorization: " + toastSecret + "\r\nToast-Transaction-Type: GIFTCARD_REDEEM\r\n" +
		"Toast-Restaurant-External-ID: here\r\nContent-Type: application/json\r\nToast-Transaction-GUID: "
	const before, after = `{"redeemTransactionInformation":{"giftCardIdentifier":"`, `","identifierSource":"SWIPED",` +
		`"redeemedValue":0.01,"checkIdentifier":"5f0cda7e","isCashOut":false,"relatedTransaction":null}}`
	return func(b []byte) ([]byte, load.Note) {
		id := uuid.Must(uuid.NewV7())
		b = append(append(b, head...), id.String()...)
		b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), int64(len(before)+12+len(after)), 10)
		b = append(append(b, "\r\n\r\n"...), before...)
		b = fmt.Appendf(b, "%012d", h.gifts[rand.IntN(len(h.gifts))].Code)
		return append(b, after...), load.Note{Kind: load.Redeem, Key: id}
	}
}
