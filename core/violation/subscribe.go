package violation

import "sync/atomic"

// Subscription receives violations as they are stored.
type Subscription struct {
	c       chan Record
	store   *Store
	dropped atomic.Uint64
}

// Subscribe starts a subscription that holds up to buffer unread violations (at least 1); what comes when it is full is dropped and counted.
// The caller must Close it.
func (s *Store) Subscribe(buffer int) *Subscription {
	sub := &Subscription{c: make(chan Record, max(1, buffer)), store: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readers == nil {
		s.readers = map[*Subscription]struct{}{}
	}
	s.readers[sub] = struct{}{}
	return sub
}

// C gives the violations; it is closed by Close.
func (sub *Subscription) C() <-chan Record { return sub.c }

// Dropped is how many violations came while the buffer was full.
func (sub *Subscription) Dropped() uint64 { return sub.dropped.Load() }

// Close ends the subscription. It may be called more than once.
func (sub *Subscription) Close() {
	sub.store.mu.Lock()
	defer sub.store.mu.Unlock()
	if _, open := sub.store.readers[sub]; open {
		delete(sub.store.readers, sub)
		close(sub.c)
	}
}

// offer is called with the store locked, so that it cannot meet Close.
func (sub *Subscription) offer(r Record) {
	select {
	case sub.c <- r:
	default:
		sub.dropped.Add(1)
	}
}
