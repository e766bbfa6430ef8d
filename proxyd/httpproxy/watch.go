package httpproxy

import (
	"os"
	"sync"
	"time"
)

// watch notices a client that goes away while the origin is slow to answer. It reads ahead into the session's buffer, so it runs only
// while nobody else reads from the client, and only for requests that take longer than a moment.
type watch struct {
	session *session
	timer   *time.Timer

	mu      sync.Mutex
	armed   bool
	stopped bool          // a running watch has to end
	ended   chan struct{} // of the running watch
}

// moment is how long an ordinary request may take before a watch is worth its cost.
const moment = 100 * time.Millisecond

// start arms the watch: from now on nobody else reads from the client until stop returns.
func (w *watch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed, w.stopped = true, false
	if w.timer == nil {
		w.timer = time.AfterFunc(moment, w.run)
	} else {
		w.timer.Reset(moment)
	}
}

// stop disarms the watch and waits for a running one. The client's stream is the caller's again.
func (w *watch) stop() {
	w.mu.Lock()
	if !w.armed {
		w.mu.Unlock()
		return
	}
	w.timer.Stop()
	w.armed, w.stopped = false, true
	ended := w.ended
	if ended != nil {
		w.session.conn.SetReadDeadline(time.Unix(1, 0)) // under the lock: run has not begun to read, or will be woken up
	}
	w.mu.Unlock()
	if ended != nil {
		<-ended
		w.session.conn.SetReadDeadline(time.Time{})
		w.session.in.deadline = time.Time{}
	}
}

func (w *watch) run() {
	w.mu.Lock()
	if !w.armed || w.ended != nil {
		w.mu.Unlock()
		return
	}
	ended := make(chan struct{})
	w.ended = ended
	w.session.in.within(0)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.ended = nil
		w.mu.Unlock()
		close(ended)
	}()
	for s := w.session; s.in.w-s.in.r < streamBuffer; { // more than that of pipelined requests is not read ahead
		if err := s.in.fill(); err != nil {
			if !os.IsTimeout(err) {
				s.cancel()
			}
			return
		}
	}
}
