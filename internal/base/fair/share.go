package fair

import (
	"sync"

	"boon.example/internal/guid"
)

// Share bounds something that accounts hold for as long as their callers like, such as memory. Nobody waits for it: who
// finds none left is told so. An account holds at most half of what others leave. So, however many accounts hold all
// that they can, something is left for the next one. The zero Share is ready.
type Share struct {
	mu   sync.Mutex
	used int
	held map[guid.ID]int // by an account
}

// Take holds n more for an account, where all accounts together may hold most, and reports whether it may. Then Give
// must follow.
func (s *Share) Take(account guid.ID, n, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.held[account]
	if free := most - (s.used - own); s.used+n > most || own+n > free/2 {
		return false
	}
	if s.held == nil {
		s.held = map[guid.ID]int{}
	}
	s.used += n
	s.held[account] += n
	return true
}

// Give ends what Take began.
func (s *Share) Give(account guid.ID, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= n
	if s.held[account] -= n; s.held[account] == 0 {
		delete(s.held, account)
	}
}
