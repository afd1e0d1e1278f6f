//go:build unix

package telemetry_test

import (
	"encoding/json"
	"net/http"
	"syscall"
	"testing"
	"time"

	"boon.example/internal/base/telemetry"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
)

// BenchmarkRedeem tells the processor time of a redemption, client included, without telemetry and with one call in a
// hundred recorded, in turn so that what else the machine does meets both.
func BenchmarkRedeem(b *testing.B) {
	c := &collector{}
	at := c.listen(b)
	b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", at)
	b.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
	b.Setenv("OTEL_TRACES_SAMPLER_ARG", "0.01")
	services := []*boontest.Service{boontest.Example(b, server.Config{}),
		boontest.Example(b, server.Config{Version: "v1.2.3", Telemetry: telemetry.Settings{Traces: true, Metrics: true}})}
	sell := func(s *boontest.Service) string {
		_, text := call(b, s, send, shop, order(`"deliveryMethodID":3`), nil)
		var sent struct {
			Gifts []struct{ VoucherCode string }
		}
		if err := json.Unmarshal(text, &sent); err != nil || len(sent.Gifts) == 0 {
			b.Fatalf("%s", text)
		}
		return `{"voucherCode":"` + sent.Gifts[0].VoucherCode + `","amount":0.01}`
	}
	var spent [2]time.Duration
	const block = 50
	calls := 0
	for b.Loop() {
		for n, s := range services {
			body := sell(s)
			before := processorTime()
			for range block {
				if status, text := call(b, s, redeem, till, body, nil); status != http.StatusOK {
					b.Fatalf("%d %s", status, text)
				}
			}
			spent[n] += processorTime() - before
		}
		calls += block
	}
	b.ReportMetric(float64(spent[0].Microseconds())/float64(calls), "µs-off/call")
	b.ReportMetric(float64(spent[1].Microseconds())/float64(calls), "µs-1%/call")
	b.ReportMetric(100*(float64(spent[1])/float64(spent[0])-1), "%more")
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
