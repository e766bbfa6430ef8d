package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/proxyd/limits"
)

func violation(n int) wire.Violation {
	return wire.Violation{CommandID: "c", Target: fmt.Sprintf("h%d:1", n), Reason: "r"}
}

func next(t *testing.T, o *Outbox) wire.ProxyEvent {
	t.Helper()
	e, ok := o.Next()
	if !ok {
		t.Fatal("the box is closed")
	}
	if e.Version != wire.Version {
		t.Errorf("version %d", e.Version)
	}
	return e
}

func TestEqualRefusalsAreCountedTogether(t *testing.T) {
	o := NewOutbox()
	for range 3 {
		o.Denied(violation(1))
	}
	o.Denied(violation(2))
	o.Denied(violation(1))
	e := next(t, o).Violation
	if e.Target != "h1:1" || e.Count != 4 || e.Operation != "network-outbound" || time.Since(time.UnixMilli(e.TimeMs)) > time.Minute {
		t.Errorf("%+v", e)
	}
	o.Denied(violation(1)) // the first one is on its way: a new one begins
	if e := next(t, o).Violation; e.Target != "h2:1" || e.Count != 1 {
		t.Errorf("%+v", e)
	}
	if e := next(t, o).Violation; e.Target != "h1:1" || e.Count != 1 {
		t.Errorf("%+v", e)
	}
}

func TestAFloodStaysSmallAndIsNotLost(t *testing.T) {
	o := NewOutbox()
	const n = 10 * limits.Events
	for i := range n {
		o.Denied(violation(i))
	}
	if len(o.queue) != limits.Events+1 {
		t.Errorf("%d events wait", len(o.queue))
	}
	total := 0
	for range limits.Events {
		total += next(t, o).Violation.Count
	}
	last := next(t, o).Violation
	if last.Target != "*" || last.Reason != "more refusals than can be listed one by one" || last.CommandID != "c" {
		t.Errorf("%+v", last)
	}
	if total += last.Count; total != n {
		t.Errorf("%d refusals of %d", total, n)
	}
}

func TestALongReasonFitsAnEvent(t *testing.T) {
	o := NewOutbox()
	v := violation(1)
	v.Reason = strings.Repeat("\xff", wire.MaxProxyMessage) // each byte becomes six in JSON
	o.Denied(v)
	o.Denied(v)
	e := next(t, o)
	if b, err := wire.Encode(e); err != nil || len(b) > wire.MaxProxyMessage || e.Violation.Count != 2 {
		t.Errorf("%d bytes, %v, count %d", len(b), err, e.Violation.Count)
	}
}

func TestOrderAndClose(t *testing.T) {
	o := NewOutbox()
	o.Denied(violation(1))
	o.Put(wire.ProxyEvent{Kind: wire.EventReady, Seq: 7})
	if next(t, o).Kind != wire.EventViolation || next(t, o).Seq != 7 {
		t.Error("the order changed")
	}
	done := make(chan bool)
	go func() {
		_, ok := o.Next()
		done <- ok
	}()
	o.Close()
	if <-done {
		t.Error("a closed box gives events")
	}
	o.Denied(violation(1))
	o.Put(wire.ProxyEvent{})
	o.Allowed(wire.Decision{})
	if len(o.queue) > 0 {
		t.Error("a closed box takes events")
	}
}

func TestAnAuditWaitsForItsReader(t *testing.T) {
	o := NewOutbox()
	for range limits.Events {
		o.Allowed(wire.Decision{})
	}
	added := make(chan struct{})
	go func() {
		o.Allowed(wire.Decision{Target: "last"})
		close(added)
	}()
	select {
	case <-added:
		t.Fatal("an entry was added to a full box")
	case <-time.After(20 * time.Millisecond):
	}
	next(t, o)
	<-added
	for range limits.Events - 1 {
		next(t, o)
	}
	if e := next(t, o); e.Decision.Target != "last" {
		t.Errorf("%+v", e)
	}
}

func TestDrain(t *testing.T) {
	o := NewOutbox()
	o.Put(wire.ProxyEvent{})
	drained := make(chan struct{})
	go func() {
		o.Drain()
		close(drained)
	}()
	next(t, o)
	<-drained
}

func TestALogThatIsNotThereIsHarmless(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			t.Error(r)
		}
	}()
	var l *Log
	l.Record("x")
	(&Log{}).Record("x")
}
