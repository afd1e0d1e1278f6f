package client_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"boon.example/client"
)

// TestExportGoesOn: pages are fetched until one has no next, and written in their order.
func TestExportGoesOn(t *testing.T) {
	t.Parallel()
	page := func(w http.ResponseWriter, r *http.Request, text, next string) {
		sum := sha256.Sum256([]byte(text))
		w.Header().Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
		if next != "" {
			w.Header().Set("Link", "<"+next+`>; rel="next"`)
		}
		says("text/csv", text)(w, r)
	}
	const path = "/api/integration/exports/gifts"
	var asked []string
	c, _ := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		page(w, r, []string{"code\r\n", "1\r\n", ""}[n-1], []string{path + "?cursor=a", path + "?cursor=b", ""}[n-1])
	})
	var out strings.Builder
	err := c.ExportGifts(t.Context(), client.ExportOptions{Codes: true,
		From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}, &out)
	if err != nil || out.String() != "code\r\n1\r\n" || len(asked) != 3 ||
		asked[0] != path+"?codes=true&format=csv&from=2026-01-01T00%3A00%3A00Z" || asked[2] != path+"?cursor=b" {
		t.Errorf("%q, %v, asked %v", out.String(), err, asked)
	}
	// Another host would be given the key.
	c, _ = serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		page(w, r, "code\r\n", "https://elsewhere.example"+path+"?cursor=a")
	})
	if err := c.ExportEntries(t.Context(), client.ExportOptions{}, &out); err == nil ||
		!strings.Contains(err.Error(), "elsewhere.example") {
		t.Errorf("a page elsewhere: %v", err)
	}
	// What is not whole is no page.
	c, _ = serve(t, func(_ int, w http.ResponseWriter, r *http.Request) { says("text/csv", "code\r\n")(w, r) })
	if err := c.ExportGifts(t.Context(), client.ExportOptions{}, &out); err == nil {
		t.Error("an answer without a digest is taken")
	}
}

// TestCertificateOfAnImport: it is taken as it is, if its digest is that which was told.
func TestCertificateOfAnImport(t *testing.T) {
	t.Parallel()
	const told = `{"certificate": "boon import 1"}`
	for sum, good := range map[string]bool{sumOf(told): true, sumOf("x"): false} {
		c, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Digest", "sha-256=:"+sum+":")
			says("application/json", told)(w, r)
		})
		text, err := c.ImportCertificate(t.Context(), "i")
		if (err == nil && string(text) == told) != good {
			t.Errorf("%s: %q, %v", sum, text, err)
		}
	}
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}
