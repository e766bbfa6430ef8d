package session

import "sync"

// told counts the events that the hooks have been told of.
type told struct {
	mu    sync.Mutex
	more  sync.Cond
	n     uint64
	ended bool
}

func (t *told) change(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
	if t.more.L != nil {
		t.more.Broadcast()
	}
}

func (t *told) one() { t.change(func() { t.n++ }) }
func (t *told) end() { t.change(func() { t.ended = true }) }
