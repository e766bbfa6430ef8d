// Command tally reads what "go test -json" wrote. "tally watch" copies its input to a file and shows one line a package meanwhile;
// "tally sum FILE…" shows every failure of all runs together and ends with "N passed, N failed, N skipped". A test that was skipped
// in every run counts as failed under -no-skip: scripts/test runs some tests as root only and some as an ordinary user only, and a
// test that ran on neither side tested nothing. It must never turn a failure into a success: what it cannot read is an error.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	noSkip := flag.Bool("no-skip", false, "sum: a test that ran nowhere is a failure")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: tally watch FILE <events | tally [-no-skip] sum FILE…")
	}
	flag.Parse()
	args := flag.Args()
	switch {
	case len(args) == 2 && args[0] == "watch":
		if err := watch(os.Stdin, args[1], os.Stdout); err != nil {
			fatal(err)
		}
	case len(args) >= 2 && args[0] == "sum":
		t := newTally()
		for _, name := range args[1:] {
			f, err := os.Open(name)
			if err != nil {
				fatal(err)
			}
			if err := t.read(f); err != nil {
				fatal(fmt.Errorf("%s: %w", name, err))
			}
			f.Close()
		}
		if !t.report(os.Stdout, *noSkip) {
			os.Exit(1)
		}
	default:
		flag.Usage()
		os.Exit(2)
	}
}

// watch copies events to a file and shows how packages end.
func watch(in io.Reader, file string, out io.Writer) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	err = each(io.TeeReader(in, f), func(e event) {
		if e.Test == "" && (e.Action == "pass" || e.Action == "fail") {
			fmt.Fprintf(out, "%-4s  %-70s %6.1fs\n", e.Action, e.Package, e.Elapsed)
		}
	})
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func fatal(err error) {
	fmt.Fprintf(os.Stderr, "tally: %v\n", err)
	os.Exit(2)
}
