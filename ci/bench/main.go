// Command bench measures what the sandbox costs: start-up and work on files against raw bwrap, the proxy against direct connections and one splice
// relay, and what a thousand idle tunnels hold. Everything is measured in pairs in one run, in turned order each second round, and
// reported as medians and as medians of the per-round ratios, because one machine's milliseconds say nothing on another.
// "bench client …" is the load generator that it runs inside the sandbox. It must never write anywhere but to its output file and
// its own temporary directory.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// bench is one run of the program.
type bench struct {
	srt, bwrap string
	self       string
	session    string // the tests of core/sandbox, compiled; "": none
	dir        string // working directory of the commands, and settings files
	quick      bool
	report     report
}

// suites in the order of the report.
var suites = []struct {
	name string
	run  func(*bench) error
}{
	{"startup", (*bench).startup},
	{"ending", (*bench).ending},
	{"memory", (*bench).memory},
	{"crowd", (*bench).crowd},
	{"session", (*bench).next},
	{"trees", (*bench).trees},
	{"scale", (*bench).scale},
	{"connect", (*bench).connect},
	{"keepalive", (*bench).keepAlive},
	{"domains", (*bench).domains},
	{"bulk", (*bench).bulk},
	{"idle", (*bench).idle},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "client" {
		if err := client(os.Args[2:]); err != nil {
			fatal(err)
		}
		return
	}
	srt := flag.String("srt", "bin/srt", "the srt to measure")
	bwrap := flag.String("bwrap", "/usr/bin/bwrap", "bubblewrap, the floor of start-up")
	session := flag.String("session", "", "the compiled tests of core/sandbox, which measure the next command of a session")
	out := flag.String("out", "", "write the report to this file instead of standard output")
	quick := flag.Bool("quick", false, "fewer and shorter rounds: for a look, not for the record")
	flag.Parse()
	if err := run(bench{srt: *srt, bwrap: *bwrap, session: *session, quick: *quick}, *out, flag.Args()); err != nil {
		fatal(err)
	}
}

func run(b bench, out string, only []string) error {
	for _, name := range only {
		if !slices.ContainsFunc(suites, func(s struct {
			name string
			run  func(*bench) error
		}) bool {
			return s.name == name
		}) {
			return fmt.Errorf("no suite is called %q", name)
		}
	}
	var err error
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.srt, err = filepath.Abs(b.srt); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "srt-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	for _, s := range suites {
		if len(only) > 0 && !slices.Contains(only, s.name) {
			continue
		}
		start := time.Now()
		if err := s.run(&b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(os.Stderr, "bench: %s took %.0f s\n", s.name, time.Since(start).Seconds())
	}
	text := b.report.markdown(machine(b.srt))
	if out == "" {
		fmt.Print(text)
		return nil
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

// rounds is how often a pair is measured.
func (b *bench) rounds(full int) int {
	if b.quick {
		return max(full/5, 2)
	}
	return full
}

// span is how long one load runs.
func (b *bench) span() time.Duration {
	if b.quick {
		return 300 * time.Millisecond
	}
	return 2 * time.Second
}

func fatal(err error) {
	fmt.Fprintf(os.Stderr, "bench: %v\n", err)
	os.Exit(1)
}
