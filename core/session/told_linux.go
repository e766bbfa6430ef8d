package session

// wait returns when n events have been told, or none will be any more.
func (t *told) wait(n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.more.L == nil {
		t.more.L = &t.mu
	}
	for t.n < n && !t.ended {
		t.more.Wait()
	}
}
