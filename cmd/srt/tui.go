package main

import (
	"errors"
	"strings"
	"unicode"

	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

// Everything that srt says goes to stderr under one of three prefixes. Bytes that a terminal would act on never get through:
// names of files, hosts and commands come from outside.

// say prints one line: "srt: …".
func say(text string) { print2("srt: " + text) }

// hint prints the next thing to type or to change.
func hint(text string) {
	if text != "" {
		print2("srt: hint: " + text)
	}
}

// fail prints err with its way out and gives the exit status.
func fail(err error) int {
	var (
		s *settings.Error
		f *wire.Fault
		u *usageError
	)
	switch {
	case errors.As(err, &s):
		short := *s
		short.Hint = ""
		print2("srt: error: " + short.Error())
		hint(s.Hint)
	case errors.As(err, &f):
		print2("srt: error: " + f.Error())
		hint(f.Hint)
		return faultStatus(f)
	case errors.As(err, &u):
		print2("srt: error: " + u.problem)
		hint(u.hint)
	default:
		print2("srt: error: " + err.Error())
	}
	return exitFailed
}

// print2 writes one line to stderr. It goes past os.File, which would turn a closed pipe into the end of srt and of its exit status.
func print2(line string) { writeAll(2, printable(line)+"\n") }

// show prints help or version to stdout.
func show(text string) int {
	if !writeAll(1, text) {
		return exitFailed
	}
	return 0
}

// printable shows what a terminal would obey instead of showing it, as an escape.
func printable(line string) string {
	clean := func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }
	if strings.IndexFunc(line, clean) < 0 {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		if clean(r) {
			b.WriteRune('?')
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
