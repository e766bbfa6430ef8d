package main

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

const usage = `usage: srt [options] COMMAND [ARG...]
       srt [options] "SHELL LINE"
       srt doctor [--json | --prove]

Runs a command that may read files, write only where the settings allow, and
reach only the hosts that they allow. One word with white space in it is a line
for the shell; several words are executed as they are.

  -s, --settings PATH  settings file (default: ~/.srt-settings.json)
  -c STRING            run STRING as a line for the shell
      --dry-run        print how the command would be run, and run nothing
      --violations     after the command, list what was refused
      --report FILE    write what was refused, and allowed connections, to FILE,
                       as lines of JSON
      --audit          write to the report also which files were created
      --explain        also report reads that were refused
      --ask            ask on the terminal about hosts that are on no list
      --control-fd N   read new settings from descriptor N, one object a line
      --pass-fd N      hand descriptor N on to the command (may be repeated)
  -d, --debug          say on stderr what is done and why
  -V, --version        print the version
  -h, --help           print this
      --               end of options

Exit status: the command's own; 128+N when signal N ended it; 125 when srt
failed, 126 when the command cannot be executed, 127 when it was not found.
`

// options are what the command line asks for.
type options struct {
	debug, version, help, dryRun, violations, explain, audit, ask bool

	settings  string // "" when not given
	report    string
	controlFD int // -1 when not given
	passFDs   []int

	line    string   // of -c
	isLine  bool     // -c was given
	command []string // words
}

// usageError is a mistake on the command line.
type usageError struct{ problem, hint string }

func (e *usageError) Error() string { return e.problem }

// flag is one option: exactly one of its functions is set.
type flag struct {
	name string // with its dashes
	set  func(o *options)
	take func(o *options, value string) error
}

var flags = [...]flag{
	{name: "-d", set: func(o *options) { o.debug = true }},
	{name: "--debug", set: func(o *options) { o.debug = true }},
	{name: "-V", set: func(o *options) { o.version = true }},
	{name: "--version", set: func(o *options) { o.version = true }},
	{name: "-h", set: func(o *options) { o.help = true }},
	{name: "--help", set: func(o *options) { o.help = true }},
	{name: "--dry-run", set: func(o *options) { o.dryRun = true }},
	{name: "--violations", set: func(o *options) { o.violations = true }},
	{name: "--explain", set: func(o *options) { o.explain = true }},
	{name: "--audit", set: func(o *options) { o.audit = true }},
	{name: "--ask", set: func(o *options) { o.ask = true }},
	{name: "-s", take: takeSettings},
	{name: "--settings", take: takeSettings},
	{name: "-c", take: takeLine},
	{name: "--report", take: takeReport},
	{name: "--control-fd", take: takeControlFD},
	{name: "--pass-fd", take: takePassFD},
}

// parseFlags reads the options in front of the command; the first word that is none ends them.
func parseFlags(args []string) (*options, error) {
	o := &options{controlFD: -1}
	for len(args) > 0 {
		word := args[0]
		if word == "--" {
			args = args[1:]
			break
		}
		if len(word) < 2 || word[0] != '-' {
			break
		}
		rest, err := parseFlag(o, word, args[1:])
		if err != nil {
			return nil, err
		}
		args = rest
	}
	o.command = args
	return o, check(o)
}

func parseFlag(o *options, word string, rest []string) ([]string, error) {
	name, value, joined := word, "", false
	if strings.HasPrefix(word, "--") {
		name, value, joined = strings.Cut(word, "=")
	}
	for i := range flags {
		f := &flags[i]
		switch {
		case f.name != name:
			continue
		case f.set != nil && joined:
			return nil, &usageError{"option " + name + " takes no value", ""}
		case f.set != nil:
			f.set(o)
			return rest, nil
		case joined:
			return rest, f.take(o, value)
		case len(rest) == 0:
			return nil, &usageError{"option " + name + " needs a value", "srt --help"}
		}
		return rest[1:], f.take(o, rest[0])
	}
	return nil, unknownOption(name)
}

func unknownOption(name string) error {
	var names []string
	for i := range flags {
		if strings.HasPrefix(flags[i].name, "--") { // one letter is near every other
			names = append(names, flags[i].name)
		}
	}
	e := &usageError{"unknown option " + strconv.Quote(name), "srt --help lists the options; to run a command of that name: srt -- " + name}
	if near := settings.Nearest(name, names); near != "" {
		e.hint = "did you mean " + near + "?"
	}
	return e
}

func takeSettings(o *options, value string) error {
	if value == "" {
		return &usageError{"option --settings needs the path of a file", ""}
	}
	o.settings = value
	return nil
}

func takeReport(o *options, value string) error {
	if value == "" {
		return &usageError{"option --report needs the path of a file", ""}
	}
	o.report = value
	return nil
}

func takeLine(o *options, value string) error {
	if o.isLine {
		return &usageError{"option -c was given twice", "join the lines with ;"}
	}
	o.line, o.isLine = value, true
	return nil
}

func takeControlFD(o *options, value string) error {
	fd, err := parseFD("--control-fd", value, maxDescriptor)
	o.controlFD = fd
	return err
}

func takePassFD(o *options, value string) error {
	fd, err := parseFD("--pass-fd", value, wire.MaxPassFD)
	o.passFDs = append(o.passFDs, fd)
	return err
}

const maxDescriptor = 1 << 20

func parseFD(name, value string, most int) (int, error) {
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 3 || fd > most || value != strconv.Itoa(fd) {
		return -1, &usageError{"option " + name + " takes the number of a descriptor from 3 to " + strconv.Itoa(most) + ", not " + strconv.Quote(value), ""}
	}
	return fd, nil
}

// missing refuses what cannot be had on an operating system.
func missing(o *options, goos string) error {
	if goos != "windows" {
		return nil
	}
	switch {
	case o.controlFD >= 0:
		return &usageError{"option --control-fd is not there on Windows, where descriptors have no numbers", ""}
	case len(o.passFDs) > 0:
		return &usageError{"option --pass-fd is not there on Windows, where descriptors have no numbers", ""}
	case o.ask:
		return &usageError{"option --ask is not there on Windows, where the command has the keyboard", "add the hosts to network.allowedDomains"}
	}
	return nil
}

// check judges the options together.
func check(o *options) error {
	switch {
	case o.help || o.version:
		return nil
	case o.isLine && len(o.command) > 0:
		return &usageError{"option -c takes one string, and " + strconv.Quote(o.command[0]) + " is left over",
			`quote the whole line: srt -c "…"`}
	case !o.isLine && len(o.command) == 0:
		return &usageError{"no command", "srt COMMAND [ARG...]; srt --help says more"}
	case !o.isLine && o.command[0] == "":
		return &usageError{"the command is an empty word", ""}
	case o.audit && o.report == "":
		return &usageError{"option --audit needs a report to write to", "srt --audit --report FILE …"}
	case o.isLine && strings.TrimSpace(o.line) == "":
		return &usageError{"the shell line is empty", ""}
	}
	if err := missing(o, runtime.GOOS); err != nil {
		return err
	}
	for i, fd := range o.passFDs {
		if fd == o.controlFD {
			return &usageError{"descriptor " + strconv.Itoa(fd) + " cannot be both the control channel and the command's", ""}
		}
		for _, other := range o.passFDs[:i] {
			if other == fd {
				return &usageError{"option --pass-fd " + strconv.Itoa(fd) + " was given twice", ""}
			}
		}
	}
	return nil
}
