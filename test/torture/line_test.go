package main

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// point is where a line to PostgreSQL can be made to fail: on the way of a redemption's first question, of what it
// writes, or of its commit.
type point string

const (
	load   point = "load"
	save   point = "save"
	commit point = "commit"
)

// pointOf names the point of a message; statements are the texts of prepared ones, by name.
func pointOf(m pgproto3.FrontendMessage, statements map[string]string) point {
	text := ""
	switch m := m.(type) {
	case *pgproto3.Parse:
		statements[m.Name] = m.Query
		return ""
	case *pgproto3.Bind:
		text = statements[m.PreparedStatement]
	case *pgproto3.Query:
		text = m.String
	}
	switch {
	case text == "COMMIT":
		return commit
	case strings.HasPrefix(text, "INSERT INTO entry"):
		return save
	case strings.Contains(text, "FROM voucher") && strings.Contains(text, "FOR NO KEY UPDATE"):
		return load
	}
	return ""
}

// line is a way to PostgreSQL on which what is said can be lost, or only the answer to it.
type line struct {
	net.Listener
	server string

	mu     sync.Mutex
	at     point // "": nowhere
	effect bool  // the server hears it and does it, and its answer is lost
	times  int   // how often it fails still
	failed int   // how often it did
}

func newLine(t *testing.T, server string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Listener: listener, server: server}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { l.carry(client) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l
}

// breakAt makes the line fail so often at a point; 0 times: no more.
func (l *line) breakAt(at point, effect bool, times int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.effect, l.times, l.failed = at, effect, times, 0
}

// breaks tells whether the line fails now, and whether what is said is heard.
func (l *line) breaks(at point) (now, heard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at == "" || at != l.at || l.times == 0 {
		return false, false
	}
	l.times--
	l.failed++
	return true, l.effect
}

// carry is one connection.
func (l *line) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		return
	}
	var answers sync.WaitGroup
	defer answers.Wait()
	defer server.Close()
	in := pgproto3.NewBackend(client, client)
	out := pgproto3.NewFrontend(server, server)
	first, err := in.ReceiveStartupMessage()
	if err != nil {
		return
	}
	out.Send(first)
	if out.Flush() != nil {
		return
	}
	var mute sync.Mutex // held by the goroutine that loses the answers
	lost := false
	answers.Go(func() {
		defer client.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			mute.Lock()
			gone := lost
			mute.Unlock()
			if err != nil || gone { // the answer shows that it was heard; it is dropped
				return
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	})
	l.forward(in, out, func() { mute.Lock(); lost = true; mute.Unlock() })
}

// forward hands on what the client says until the line fails.
func (l *line) forward(in *pgproto3.Backend, out *pgproto3.Frontend, lose func()) {
	statements := map[string]string{}
	for {
		m, err := in.Receive()
		if err != nil {
			return
		}
		fails, heard := l.breaks(pointOf(m, statements))
		if fails && !heard {
			return
		}
		if fails {
			lose()
		}
		out.Send(m)
		if out.Flush() != nil {
			return
		}
	}
}
