package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"boon.example/internal/boontest"
	"boon.example/internal/server"
)

// served runs a service with the example's set-up, and gives its address.
func served(t *testing.T) *url.URL {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	if code, _, log := typed(t, "apply", filepath.Join(exampleFiles(t), "harbor-coffee.yaml"), "--data",
		data); code != exitOK {
		t.Fatal(log)
	}
	return &url.URL{Scheme: "http", Host: boontest.Place{Data: data}.Serve(t, server.Config{}, &boontest.Log{}).Address}
}

// A load of which nothing succeeded has verified nothing.
func TestBenchWithoutOneSuccess(t *testing.T) {
	t.Parallel()
	pass := httputil.NewSingleHostReverseProxy(served(t))
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/validate-gift") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	code, out, log := typed(t, "bench", "validate", "--target", proxy.URL, "--key",
		"boon_live_scripts_of_tests_harbor_coffee_web_shop",
		"--storefront", "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21", "--location", "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11",
		"--connections", "2", "--duration", "200ms", "--vouchers", "2", "--value", "100")
	if code != exitFailed || !strings.Contains(out, "no: not one call succeeded") || strings.Contains(out, "yes") {
		t.Errorf("exit code %d, %s%s", code, out, log)
	}
}

// A service that says what is not so is found out; an answer that was lost on its way is not held against it.
func TestBenchChecksTheMoney(t *testing.T) {
	t.Parallel()
	const settled = "of 1 calls no answer told the outcome, 1 of them are settled"
	real := served(t)
	for _, tt := range []struct {
		name, says string
		code       int
		redeem     func(w http.ResponseWriter, r *http.Request, pass http.Handler) // the first redemption
	}{
		{"redeemed without being done", "NO, THIS DOES NOT ADD UP", exitFailed,
			func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				w.Write([]byte("{}"))
			}},
		{"done, and the answer lost", settled, exitOK, func(_ http.ResponseWriter, r *http.Request, pass http.Handler) {
			pass.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}},
		{"lost on its way there", settled, exitOK, func(http.ResponseWriter, *http.Request, http.Handler) {
			panic(http.ErrAbortHandler)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pass := httputil.NewSingleHostReverseProxy(real)
			var redemptions atomic.Int64
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/redeem-gift") && redemptions.Add(1) == 1 {
					tt.redeem(w, r, pass)
					return
				}
				pass.ServeHTTP(w, r)
			}))
			defer proxy.Close()
			code, out, log := typed(t, "bench", "redeem", "--target", proxy.URL, "--key",
				"boon_live_scripts_of_tests_harbor_coffee_head_office",
				"--storefront", "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21", "--location", "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11",
				"--connections", "2", "--duration", "200ms", "--vouchers", "2", "--value", "100")
			if code != tt.code || !strings.Contains(out, tt.says) {
				t.Errorf("exit code %d, %s%s", code, out, log)
			}
		})
	}
}
