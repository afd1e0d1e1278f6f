package connections

import "time"

// phase is a time for which a connection waits for bytes of its client, or handles a call. It stands in two queues: of
// all connections, and of its client network.
type phase struct {
	conn  *connection
	since time.Time
	nodes [2]node
}

// phases are the phases of many connections that go on. The one that began first comes first.
type phases struct{ waiting, busy queue }

// longest is the connection whose phase has gone on for the longest; nil: there is none. A call counts when it has been
// handled for at least least.
func (s *phases) longest(now time.Time, least time.Duration) *connection {
	waiting, busy := s.waiting.first(), s.busy.first()
	if busy != nil && now.Sub(busy.since) >= least && (waiting == nil || busy.since.Before(waiting.since)) {
		return busy.conn
	}
	if waiting != nil {
		return waiting.conn
	}
	return nil
}

// begin puts a phase at the end of the queues, which it leaves with end.
func (s *phase) begin(queues ...*queue) {
	s.since = time.Now()
	for n, q := range queues {
		q.push(&s.nodes[n], s)
	}
}

// end ends a phase; it may have ended before.
func (s *phase) end() {
	for n := range s.nodes {
		s.nodes[n].leave()
	}
}

// queue is a list that needs no memory of its own, as every request changes it.
type queue struct{ oldest, newest *node }

type node struct {
	phase        *phase
	queue        *queue // nil: it is in none
	older, newer *node
}

func (q *queue) first() *phase {
	if q.oldest == nil {
		return nil
	}
	return q.oldest.phase
}

func (q *queue) push(n *node, s *phase) {
	*n = node{phase: s, queue: q, older: q.newest}
	if q.newest != nil {
		q.newest.newer = n
	} else {
		q.oldest = n
	}
	q.newest = n
}

func (n *node) leave() {
	if n.queue == nil {
		return
	}
	if n.older != nil {
		n.older.newer = n.newer
	} else {
		n.queue.oldest = n.newer
	}
	if n.newer != nil {
		n.newer.older = n.older
	} else {
		n.queue.newest = n.older
	}
	*n = node{}
}
