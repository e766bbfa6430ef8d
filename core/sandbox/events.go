package sandbox

import (
	"sync"
	"sync/atomic"
	"time"
)

// Event is one decision while a command ran.
type Event struct {
	Time      time.Time
	Key       string // attribution key of the command
	Command   string // its text
	Operation string // "network-outbound", "file-write", "file-read", "unix-socket", "syscall"
	Target    string // host:port, path or name; it may hold anything, also control characters
	Allowed   bool
	Rule      string // the settings entry that decided, as written; "" when none did
	Reason    string
	Process   string // name of the program, when known
	Count     int    // how many equal ones this stands for, ≥ 1
}

// EventStream receives events as they happen.
type EventStream struct {
	c       chan Event
	hub     *hub
	dropped atomic.Uint64
}

// C gives the events; it is closed by Close and by Manager.Close.
func (s *EventStream) C() <-chan Event { return s.c }

// Dropped is how many events came while the buffer was full.
func (s *EventStream) Dropped() uint64 { return s.dropped.Load() }

// Close ends the stream. It may be called more than once.
func (s *EventStream) Close() { s.hub.leave(s) }

// hub hands events out; nobody waits for a slow reader.
type hub struct {
	mu      sync.Mutex
	closed  bool
	streams map[*EventStream]struct{}
}

func (h *hub) join(buffer int) *EventStream {
	s := &EventStream{c: make(chan Event, max(1, buffer)), hub: h}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(s.c)
		return s
	}
	if h.streams == nil {
		h.streams = map[*EventStream]struct{}{}
	}
	h.streams[s] = struct{}{}
	return s
}

func (h *hub) leave(s *EventStream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, open := h.streams[s]; open {
		delete(h.streams, s)
		close(s.c)
	}
}

func (h *hub) tell(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.streams {
		select {
		case s.c <- e:
		default:
			s.dropped.Add(1)
		}
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.streams {
		close(s.c)
	}
	h.streams = nil
}
