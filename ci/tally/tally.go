package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is one line of "go test -json" (see "go doc test2json").
type event struct {
	Action     string
	Package    string
	ImportPath string // of build events
	Test       string
	Output     string
	Elapsed    float64
}

// each calls f for every event. A line that is no event (a message of go itself) is an event of output without a package.
func each(in io.Reader, f func(event)) error {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				e = event{Action: "output", Output: string(line)}
			}
			f(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// key names a test; Test is empty for what a package says itself.
type key struct{ pkg, test string }

type outcome struct {
	passed, failed, skipped bool
	output                  strings.Builder
}

type tally struct {
	tests map[key]*outcome
	open  map[key]bool // started and not ended
}

func newTally() *tally { return &tally{tests: map[key]*outcome{}, open: map[key]bool{}} }

// read adds one run. A test that never ended has failed: its process died.
func (t *tally) read(in io.Reader) error {
	clear(t.open)
	events := 0
	err := each(in, func(e event) {
		k := key{e.Package, e.Test}
		if e.ImportPath != "" {
			k.pkg = e.ImportPath
		}
		o := t.tests[k]
		if o == nil {
			o = &outcome{}
			t.tests[k] = o
		}
		events++
		switch e.Action {
		case "start", "run":
			t.open[k] = true
		case "pass":
			o.passed = true
			delete(t.open, k)
		case "skip":
			o.skipped = true
			delete(t.open, k)
		case "fail", "build-fail":
			o.failed = true
			delete(t.open, k)
		case "output", "build-output":
			o.output.WriteString(e.Output)
		}
	})
	for k := range t.open {
		t.tests[k].failed = true
	}
	if err == nil && events == 0 {
		err = fmt.Errorf("no events: nothing was tested")
	}
	return err
}

// report shows failures and skips and says whether all is well.
func (t *tally) report(out io.Writer, noSkip bool) bool {
	parents := map[key]bool{}
	for k := range t.tests {
		for i, c := range k.test {
			if c == '/' {
				parents[key{k.pkg, k.test[:i]}] = true
			}
		}
		if k.test != "" {
			parents[key{k.pkg, ""}] = true
		}
	}
	keys := slices.SortedFunc(maps.Keys(t.tests), func(a, b key) int {
		return strings.Compare(a.pkg+" "+a.test, b.pkg+" "+b.test)
	})
	failedBelow := map[key]bool{} // what a parent's failure is explained by
	for _, k := range keys {
		if t.tests[k].failed && k.test != "" {
			failedBelow[key{k.pkg, ""}] = true
			for i, c := range k.test {
				if c == '/' {
					failedBelow[key{k.pkg, k.test[:i]}] = true
				}
			}
		}
	}
	passed, failed, skipped := 0, 0, 0
	for _, k := range keys {
		o := t.tests[k]
		switch {
		case o.failed && !failedBelow[k]:
			failed++
			fmt.Fprintf(out, "\nFAIL  %s %s\n%s", k.pkg, k.test, indent(o.output.String()))
		case parents[k] || k.test == "" || o.failed:
		case o.passed:
			passed++
		case o.skipped:
			skipped++
			fmt.Fprintf(out, "skip  %s %s: %s\n", k.pkg, k.test, reason(o.output.String()))
		}
	}
	ok := failed == 0 && passed > 0
	if noSkip && skipped > 0 {
		fmt.Fprintln(out, "\nevery test has to run as root or as an ordinary user; the skipped ones ran on neither side")
		failed, skipped, ok = failed+skipped, 0, false
	}
	fmt.Fprintf(out, "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	return ok
}

func indent(s string) string {
	return "      " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n      ") + "\n"
}

// reason finds the message of a skip: the last line that is not a frame of the output.
func reason(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for _, l := range slices.Backward(lines) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "---") && !strings.HasPrefix(l, "===") {
			return l
		}
	}
	return "no reason given"
}
