package supervise

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

const (
	reportQueue  = 256             // violations that wait to be handed on
	reportWindow = 2 * time.Second // equal ones within this time are one with a count
	reportKinds  = 512             // different ones remembered per window; more are counted together
)

type reportKey struct{ operation, target, rule, process string }

// A reporter hands on what happened without ever making a caller wait.
type reporter struct {
	begin   sync.Once // with the first that is put
	queue   chan reportKey
	dropped atomic.Int64
	done    sync.WaitGroup
}

// violation notes one refusal. It is never on the path of a call that succeeds.
func (w *worker) violation(operation, target, rule string) {
	w.reports.put(w.entry(operation, target, rule), w.refused, w.quit)
}

func (w *worker) entry(operation, target, rule string) reportKey {
	const most = 4096
	return reportKey{operation, target[:min(len(target), most)], rule, w.comm()}
}

// put queues k for out; what does not fit is counted.
func (r *reporter) put(k reportKey, out func(reportKey, int), quit <-chan struct{}) {
	r.begin.Do(func() { r.start(out, quit) })
	select {
	case r.queue <- k:
	default:
		r.dropped.Add(1)
	}
}

func (w *worker) comm() string {
	fd, e := w.procOpen([]byte("comm\x00")[:4], unix.O_RDONLY)
	if e != 0 {
		return ""
	}
	defer closeFd(fd)
	var b [64]byte
	n, e := pread(fd, b[:])
	if e != 0 {
		return ""
	}
	return strings.TrimSuffix(string(b[:n]), "\n")
}

// start begins to hand on what is queued, with how often it happened, until quit.
func (r *reporter) start(out func(k reportKey, count int), quit <-chan struct{}) {
	r.queue = make(chan reportKey, reportQueue)
	r.done.Add(1)
	go func() {
		defer r.done.Done()
		counts := map[reportKey]int{} // beyond the first, which went out at once
		var over <-chan time.Time     // the window of the first ones; nil: there are none
		flush := func() {
			for k, n := range counts {
				if n > 0 {
					out(k, n)
				}
			}
			clear(counts)
			over = nil
			if n := r.dropped.Swap(0); n > 0 {
				out(reportKey{}, int(n))
			}
		}
		take := func(k reportKey) {
			n, seen := counts[k]
			switch {
			case seen:
				counts[k] = n + 1
			case len(counts) >= reportKinds:
				r.dropped.Add(1)
			default:
				counts[k] = 0
				out(k, 1)
			}
			if over == nil {
				over = time.After(reportWindow)
			}
		}
		for {
			select {
			case k := <-r.queue:
				take(k)
			case <-over:
				flush()
			case <-quit:
				for len(r.queue) > 0 {
					take(<-r.queue)
				}
				flush()
				return
			}
		}
	}()
}

// refused hands a refusal on; an empty k stands for count that could not be told one by one.
func (s *Supervisor) refused(k reportKey, count int) {
	if k == (reportKey{}) {
		k = more(count, "refusals")
	}
	s.cfg.Report(k.violation(count))
}

// permitted is refused for what the command was let create.
func (s *Supervisor) permitted(k reportKey, count int) {
	if k == (reportKey{}) {
		k = more(count, "creations")
	}
	s.cfg.Audit(wire.Decision{Verdict: wire.VerdictAllow, Operation: k.operation, Target: k.target, Process: k.process,
		Reason: "the file policy allows it", TimeMs: time.Now().UnixMilli(), Count: count})
}

func more(count int, what string) reportKey {
	return reportKey{operation: "file-write", target: fmt.Sprintf("(%d more %s)", count, what)}
}

func (k reportKey) violation(count int) wire.Violation {
	v := wire.Violation{Operation: k.operation, Target: k.target, Rule: k.rule, Process: k.process, TimeMs: time.Now().UnixMilli(), Count: count}
	switch {
	case k.operation == "unix-socket":
		v.Reason = "not a socket of this sandbox and not in allowUnixSockets"
	case k.operation == "syscall":
		v.Reason = "not available in the sandbox"
	case k.rule == "":
		v.Reason = "not covered by allowWrite"
	default:
		v.Reason = "protected by " + k.rule
	}
	return v
}

// ruleOf finds the rule beside a path that mounts refused, for messages.
func (s *Supervisor) ruleOf(path string) string {
	best, rule := -1, ""
	for _, list := range [][]view.Target{s.cfg.ReadOnly, s.cfg.Hide} {
		for _, t := range list {
			if (path == t.Path || strings.HasPrefix(path, t.Path+"/")) && len(t.Path) > best {
				best, rule = len(t.Path), t.Rule
			}
		}
	}
	return rule
}
