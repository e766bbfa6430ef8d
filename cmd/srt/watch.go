package main

import (
	"strconv"
	"sync"

	"github.com/srt-dev/srt/core/policy"
	"github.com/srt-dev/srt/core/violation"
	"github.com/srt-dev/srt/core/wire"
)

// summaryLines bounds what is listed after a command; a report has no bound.
const summaryLines = 20

// watcher collects what the sandbox refused. The hooks of a run call it from several goroutines.
type watcher struct {
	o      *options
	policy *policy.Policy
	id     string
	store  violation.Store

	mu      sync.Mutex
	report  *reportFile // nil: none asked for
	remains []string    // what the command left that could run later
}

func newWatcher(o *options) (*watcher, error) {
	w := &watcher{o: o}
	if o.report == "" {
		return w, nil
	}
	var err error
	w.report, err = openReport(o.report)
	return w, err
}

// wanted says whether anybody will see what was refused.
func (w *watcher) wanted() bool { return w.report != nil || w.o.debug || w.shown() }

func (w *watcher) shown() bool { return w.o.violations || isTerminal(2) }

// begin tells the watcher whose violations come.
func (w *watcher) begin(j *job) {
	w.policy, w.id = j.policy, j.id
	w.store.Begin(j.id, "", j.text)
	w.store.SetIgnore(j.policy.IgnoreViolations())
}

func (w *watcher) violation(v wire.Violation) {
	v.CommandID = w.id // there is one command; nobody else can be meant
	if !w.store.Add(v) {
		return
	}
	if w.o.debug {
		say("debug: " + violation.Line(v))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.write(violation.ReportDenied(v))
}

// allowed is for the report alone.
func (w *watcher) allowed(d wire.Decision) {
	d.CommandID = w.id
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report.write(violation.ReportAllowed(d))
}

func (w *watcher) left(things []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remains = append(w.remains, things...)
}

// end closes the report and prints the summary when somebody is there to read it.
func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.report.close(); err != nil {
		print2("srt: error: " + err.Error())
	}
	if !w.shown() {
		return
	}
	w.summary()
	for _, thing := range w.remains {
		say("left behind: " + violation.Sanitise(thing))
	}
}

func (w *watcher) summary() {
	total := w.store.Total()
	if total == 0 {
		return
	}
	say(strconv.Itoa(total) + " refused:")
	groups := violation.Group(w.store.Last(-1))
	shown, hinted := 0, map[string]bool{}
	for _, g := range groups {
		if shown == summaryLines {
			say("  and more; srt --report FILE keeps all")
			break
		}
		line := "  " + g.Line
		if g.Times > 1 {
			line += " (" + strconv.Itoa(g.Times) + " times)"
		}
		say(line)
		shown++
		if allow := w.policy.AllowLine(g.Violation); allow != "" && !hinted[allow] {
			hinted[allow] = true
			hint("to allow it: " + allow)
		}
	}
}
