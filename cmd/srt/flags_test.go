package main

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseFlags(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want options
	}{
		"options before the command are srt's": {[]string{"-d", "ls", "-d"}, options{debug: true, command: []string{"ls", "-d"}}},
		"-- ends them":                         {[]string{"--", "-d"}, options{command: []string{"-d"}}},
		"only the first -- is srt's":           {[]string{"--", "--", "-d"}, options{command: []string{"--", "-d"}}},
		"a lone dash is a word":                {[]string{"-", "x"}, options{command: []string{"-", "x"}}},
		"settings in two words":                {[]string{"--settings", "f", "x"}, options{settings: "f", command: []string{"x"}}},
		"settings in one word":                 {[]string{"--settings=f=g", "x"}, options{settings: "f=g", command: []string{"x"}}},
		"the last settings count":              {[]string{"-s", "f", "-s", "g", "x"}, options{settings: "g", command: []string{"x"}}},
		"a value may look like an option":      {[]string{"-s", "-d", "x"}, options{settings: "-d", command: []string{"x"}}},
		"options go on behind -c":              {[]string{"-c", "l", "-d"}, options{line: "l", isLine: true, debug: true}},
		"help needs no command":                {[]string{"-h"}, options{help: true}},
		"descriptors":                          {[]string{"--pass-fd", "3", "--pass-fd=99", "--control-fd", "7", "x"}, options{passFDs: []int{3, 99}, controlFD: 7, command: []string{"x"}}},
		"the rest":                             {[]string{"--dry-run", "--violations", "--report", "r", "--audit", "--explain", "--ask", "x"}, options{dryRun: true, violations: true, report: "r", explain: true, audit: true, ask: true, command: []string{"x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseFlags(tc.args)
			if err != nil {
				t.Fatal(err)
			}
			if tc.want.controlFD == 0 {
				tc.want.controlFD = -1
			}
			if len(got.command) == 0 {
				got.command = nil
			}
			if !reflect.DeepEqual(*got, tc.want) {
				t.Errorf("got %+v, want %+v", *got, tc.want)
			}
		})
	}
}

func TestUsageListsEveryOption(t *testing.T) {
	for _, f := range flags {
		if !strings.Contains(usage, f.name+" ") && !strings.Contains(usage, f.name+",") {
			t.Errorf("the usage text lacks %s", f.name)
		}
	}
	for line := range strings.Lines(usage) {
		if len([]rune(line)) > 81 {
			t.Errorf("too long for a terminal: %q", line)
		}
	}
}

func TestShownCommand(t *testing.T) {
	for name, tc := range map[string]struct{ args, want string }{
		"a line for the shell":        {"-c|echo one", "echo one"},
		"a script: its first command": {"-c|echo one; rm two", "echo one …"},
		"a script of several lines":   {"-c|\necho one\nrm two\n", "echo one …"},
		"one word with white space":   {"echo one; echo two", "echo one …"},
		"words keep what is inside":   {"sh|-c|a; b", "sh -c 'a; b'"},
		"a very long one":             {"-c|" + strings.Repeat("x", 200), strings.Repeat("x", shownLength) + " …"},
		"quotes":                      {"echo|it's||$x", `echo 'it'\''s' '' '$x'`},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parseFlags(strings.Split(tc.args, "|"))
			if err != nil {
				t.Fatal(err)
			}
			_, text := o.argv(func(string) string { return "" })
			if got := o.shown(text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestPrintableLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 漢":     "plain é 漢",
		"\x1b[31mred":   "?[31mred",
		"a\nb\tc":       "a?b?c",
		"bad \xff byte": "bad ? byte",
		"bidi \u202e x": "bidi ? x",
	} {
		if got := printable(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
