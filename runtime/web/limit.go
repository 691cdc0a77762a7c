package web

import "sync"

// share is the part of the streams that one capability token may hold: one in so many. A guest can
// exhaust the streams of no token but its own.
const share = 10

// shares counts the streams of each capability token.
type shares struct {
	mu   sync.Mutex
	held map[string]int // by the id of the grant
}

// acquire counts a stream in, and reports whether there was room for it. A nil grant has no bound
// of its own.
func (h *shares) acquire(g *Grant, most int) bool {
	if g == nil {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held[g.ID] >= most {
		return false
	}
	h.held[g.ID]++
	return true
}

// leave counts a stream out.
func (h *shares) leave(g *Grant) {
	if g == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held[g.ID]--; h.held[g.ID] == 0 {
		delete(h.held, g.ID)
	}
}
