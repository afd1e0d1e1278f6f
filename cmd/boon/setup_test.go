package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetupExport: what boon setup export writes is what boon apply takes, and changes nothing.
func TestSetupExport(t *testing.T) {
	t.Parallel()
	dir := exampleFiles(t)
	data, to := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "to")
	file := filepath.Join(dir, "harbor-coffee.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var logo bytes.Buffer
	if err := png.Encode(&logo, image.NewNRGBA(image.Rect(0, 0, 30, 30))); err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("headline: Enjoy"), []byte("headline: Enjoy\n        logo: logo.png"))
	for name, content := range map[string][]byte{file: text, filepath.Join(dir, "logo.png"): logo.Bytes()} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, log := typed(t, "apply", file, "--data", data); code != exitOK {
		t.Fatal(log)
	}

	code, out, log := typed(t, "setup", "export", to, "--data", data)
	if code != exitOK || out != filepath.Join(to, "setup.yaml")+"\n" {
		t.Fatalf("exit %d, %s%s", code, out, log)
	}
	code, out, log = typed(t, "apply", filepath.Join(to, "setup.yaml"), "--data", data)
	if code != exitOK || !strings.HasPrefix(out, "Nothing to change") {
		t.Errorf("exit %d, %s%s", code, out, log)
	}
	if code, _, log := typed(t, "setup", "export", to, "--data", data); code != exitFailed ||
		!strings.Contains(log, "file exists") {
		t.Errorf("into a folder that is there: exit %d, %s", code, log)
	}
	elsewhere := filepath.Join(t.TempDir(), "data")
	if code, out, log := typed(t, "apply", filepath.Join(to, "setup.yaml"), "--data", elsewhere); code != exitOK {
		t.Errorf("to another database: exit %d, %s%s", code, out, log)
	}
}
