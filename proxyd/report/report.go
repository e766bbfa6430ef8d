// Package report tells srt and the log what happened: one Violation per refusal, one record per connection. It never blocks the
// connection that it speaks about (but for EventAllowed, which an audit must not lose), never drops a refusal silently, and must never
// put an address that a client is not meant to learn into an event.
package report

import (
	"log/slog"
	"sync"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/limits"
)

// Operation is that of every Violation and Decision of proxyd.
const Operation = "network-outbound"

// Keys of log records.
const (
	KeyCommand = "command"
	KeyProto   = "proto"
	KeyDest    = "dest"
	KeyVerdict = "verdict"
	KeyReason  = "reason"
	KeyRule    = "rule"
	KeyAddr    = "addr"
	KeyDropped = "dropped"
	KeyRoute   = "route"
	KeyLookup  = "dns_ms"
	KeyError   = "error"
)

// Outbox holds the events that srt has not read yet. Equal refusals are counted together, so that a flood of them stays small.
type Outbox struct {
	mu     sync.Mutex
	some   sync.Cond // there is something to send, or the box is closed
	room   sync.Cond // an EventAllowed may be added
	queue  []wire.ProxyEvent
	equal  map[wire.Violation]int // what may still be counted up → place in queue
	sent   int                    // events that left the queue, so that places stay valid
	closed bool
}

// NewOutbox makes an empty box.
func NewOutbox() *Outbox {
	o := &Outbox{equal: make(map[wire.Violation]int)}
	o.some.L, o.room.L = &o.mu, &o.mu
	return o
}

// Put adds an answer or a question. It never blocks.
func (o *Outbox) Put(e wire.ProxyEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(e)
}

// Denied adds a refusal of one connection or request.
func (o *Outbox) Denied(v wire.Violation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	v.Operation, v.TimeMs, v.Count = Operation, 0, 0
	v.Reason = v.Reason[:min(len(v.Reason), limits.EventReason)]
	if len(o.queue) >= limits.Events {
		if _, known := o.equal[v]; !known { // still told, still counted, no longer one by one
			v = wire.Violation{CommandID: v.CommandID, Operation: Operation, Target: "*", Reason: "more refusals than can be listed one by one"}
		}
	}
	if i, ok := o.equal[v]; ok {
		o.queue[i-o.sent].Violation.Count++
		return
	}
	o.equal[v] = o.sent + len(o.queue)
	full := v
	full.TimeMs, full.Count = time.Now().UnixMilli(), 1
	o.add(wire.ProxyEvent{Kind: wire.EventViolation, Violation: &full})
}

// Allowed adds a permission. It waits while srt is behind: an audit that loses entries is none.
func (o *Outbox) Allowed(d wire.Decision) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) >= limits.Events && !o.closed {
		o.room.Wait()
	}
	d.Operation, d.TimeMs, d.Count = Operation, time.Now().UnixMilli(), 1
	o.add(wire.ProxyEvent{Kind: wire.EventAllowed, Decision: &d})
}

func (o *Outbox) add(e wire.ProxyEvent) {
	if o.closed {
		return
	}
	e.Version = wire.Version
	o.queue = append(o.queue, e)
	o.some.Signal()
}

// Next waits for the oldest event; false when the box is closed.
func (o *Outbox) Next() (wire.ProxyEvent, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.closed {
		o.some.Wait()
	}
	if o.closed {
		return wire.ProxyEvent{}, false
	}
	e := o.queue[0]
	o.queue[0] = wire.ProxyEvent{}
	o.queue = o.queue[1:]
	o.sent++
	if e.Violation != nil {
		key := *e.Violation
		key.TimeMs, key.Count = 0, 0
		delete(o.equal, key)
	}
	o.room.Broadcast()
	return e, true
}

// Drain waits until everything was taken, or the box is closed.
func (o *Outbox) Drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) > 0 && !o.closed {
		o.room.Wait()
	}
}

// Close drops what is left: srt is gone.
func (o *Outbox) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.queue = nil
	o.some.Broadcast()
	o.room.Broadcast()
}

// Log is where records go; a nil *Log and one that is not enabled write nothing.
type Log struct{ *slog.Logger }

// Record writes one record of a connection or request.
func (l *Log) Record(msg string, attrs ...any) {
	if l != nil && l.Logger != nil {
		l.Debug(msg, attrs...)
	}
}
