package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleaseIsAttested writes the statement about a release as goreleaser has it written, and checks it as
// docs/operating/install.md tells: the signature, the digest of each file, the commit.
func TestReleaseIsAttested(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"ssh-keygen", "sha256sum", "git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s", tool)
		}
	}
	dir := t.TempDir()
	sh := func(script string, env ...string) (string, error) {
		c := exec.CommandContext(t.Context(), "bash", "-euc", script)
		c.Dir, c.Env = "../..", append(append(os.Environ(), "DIR="+dir), env...)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	must := func(script string, env ...string) string {
		t.Helper()
		out, err := sh(script, env...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return out
	}
	files := map[string]string{"boon_1.2.3_linux_amd64.tar.gz": "an archive", "boon_1.2.3.deb": "a package"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must(`cd "$DIR" && sha256sum boon_* >SHA256SUMS && ssh-keygen -q -t ed25519 -N '' -f key &&
		echo "release@boon $(cat key.pub)" >allowed_signers`)
	const attest = `deploy/release/attest "$DIR/SHA256SUMS" "$DIR/provenance.intoto.json" "$DIR/provenance.intoto.json.sig"`
	if out, err := sh(attest, "RELEASE_SIGNING_KEY="); err == nil || !strings.Contains(out, "RELEASE_SIGNING_KEY") {
		t.Errorf("a release without a key: %v %s", err, out)
	}
	must(attest+" true", "RELEASE_SIGNING_KEY=")
	must(attest, "RELEASE_SIGNING_KEY="+filepath.Join(dir, "key"))
	page, err := os.ReadFile("../../docs/operating/install.md")
	if err != nil {
		t.Fatal(err)
	}
	_, check, _ := strings.Cut(string(page), "<!-- check a release -->\n\n```sh\n")
	check, _, is := strings.Cut(check, "```")
	if !is {
		t.Fatal("docs/operating/install.md tells no commands that check a release")
	}
	if out := must(`cd "$DIR"; ` + check); !strings.Contains(out, "Good \"boon-release\" signature for release@boon") {
		t.Errorf("the commands of the page say %s", out)
	}
	var said struct {
		Subject []struct {
			Name   string
			Digest struct{ SHA256 string }
		}
		Predicate struct {
			BuildDefinition struct {
				ResolvedDependencies []struct{ Digest struct{ GitCommit string } }
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "provenance.intoto.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	for _, s := range said.Subject {
		file, err := os.ReadFile(filepath.Join(dir, s.Name))
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(file)) != s.Digest.SHA256 {
			t.Errorf("%s has not the digest %s: %v", s.Name, s.Digest.SHA256, err)
		}
	}
	if commit := said.Predicate.BuildDefinition.ResolvedDependencies[0].Digest.GitCommit; len(said.Subject) != 3 ||
		commit != strings.TrimSpace(must("git rev-parse HEAD")) {
		t.Errorf("%d files, commit %q", len(said.Subject), commit)
	}
	must(`cd "$DIR"; echo more >>boon_1.2.3.deb`)
	if out, err := sh(`cd "$DIR"; ` + check); err == nil {
		t.Errorf("a file that was changed passes: %s", out)
	}
	must(`cd "$DIR"; sha256sum boon_* >SHA256SUMS`)
	if out, err := sh(`cd "$DIR"; ` + check); err == nil {
		t.Errorf("a changed file with a changed list passes: %s", out)
	}
}
