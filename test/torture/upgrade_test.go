package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/store/pgtest"
	"boon.example/test/rig"
	"boon.example/test/storm"
)

const upgradeKills = 50

// TestUpgrade runs the program of an older version and this one side by side on one store, while this one brings the
// schema up to date and while both are killed at random, under tills that call both.
func TestUpgrade(t *testing.T) {
	older := os.Getenv("TEST_UPGRADE_FROM")
	if older == "" {
		t.Skip("TEST_UPGRADE_FROM names no older program; test/upgrade/run builds one and runs this test")
	}
	t.Run("sqlite", func(t *testing.T) { upgrade(t, older, "") })
	t.Run("postgres", func(t *testing.T) {
		database, err := pgtest.Start()
		check(t, err)
		t.Cleanup(func() {
			if err := database.Close(); err != nil {
				t.Error(err)
			}
		})
		upgrade(t, older, database.URL)
	})
}

func upgrade(t *testing.T, older, database string) {
	old, err := rig.InstallFile(older, filepath.Join(t.TempDir(), "data"), database,
		strings.ReplaceAll(rig.Setup(), " language: en,", "")) // 0.1.0 has no such field
	check(t, err)
	boon := &rig.Installation{Binary: shipped, Flags: old.Flags}
	programs := []*rig.Installation{old, boon}
	newAddress, err := rig.FreeAddress()
	check(t, err)
	tills := storm.Options{Clients: 12, Older: true}
	l := startTills(t, boon, tills, serve(t, old), &rig.Server{URL: "http://" + newAddress, Address: newAddress})
	time.Sleep(300 * time.Millisecond)
	early := cutShort(t, boon, newAddress)
	l.servers[1], err = boon.Start(newAddress)
	check(t, err)
	killed := [2]int{}
	for range upgradeKills {
		time.Sleep(time.Duration(50+rand.IntN(250)) * time.Millisecond)
		n := rand.IntN(2)
		killed[n]++
		l.servers[n].Kill()
		l.servers[n], err = programs[n].Start(l.servers[n].Address)
		check(t, err)
		t.Cleanup(l.servers[n].Kill)
	}
	l.end(fmt.Sprintf("the new program killed %d times before it served; then the old one %d times and the new one %d "+
		"times", early, killed[0], killed[1]))
}

// cutShort starts the new program and kills it, each time a little later, until it has come to serve: so it dies at
// many points of the steps that it takes.
func cutShort(t *testing.T, i *rig.Installation, address string) (kills int) {
	t.Helper()
	for wait := time.Millisecond; ; wait += max(time.Millisecond, wait/20) {
		cmd := exec.Command(i.Binary, slices.Concat([]string{"serve", "--listen", address}, i.Flags)...)
		out, err := cmd.StdoutPipe()
		check(t, err)
		check(t, cmd.Start())
		late := time.AfterFunc(wait, func() { cmd.Process.Kill() })
		line, _ := bufio.NewReader(out).ReadString('\n')
		late.Stop()
		cmd.Process.Kill()
		cmd.Wait()
		if strings.HasPrefix(line, "listening on ") {
			return kills
		}
		kills++
		if wait > 30*time.Second {
			t.Fatal("the new program never came to serve")
		}
	}
}
