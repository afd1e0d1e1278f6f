package span

import (
	"context"
	"net/http"
	"testing"
)

// TestOffCostsNothing: where nobody records, a request, its group, what it asks for later and the call that tells of it
// allocate nothing.
func TestOffCostsNothing(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	var off *Tracer
	all := []context.Context{t.Context(), t.Context()}
	if n := testing.AllocsPerRun(100, func() {
		ctx, request := off.Request(r)
		group, s := Group("group", all)
		_, stage := Start(group, "load")
		End(stage, nil)
		End(s, nil)
		off.Caused([16]byte{1}, Header(ctx))
		_, job := off.Later(ctx, "", "job")
		End(job, nil)
		_, call := off.Call(ctx, [16]byte{1}, "webhook")
		End(call, nil)
		End(request, nil)
	}); n > 0 {
		t.Errorf("it allocates %v times", n)
	}
}
