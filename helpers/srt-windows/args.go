package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-windows/problem"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// words are a verb and its options.
type words struct {
	verb     string
	options  map[string]string // without the dashes; "" for one that takes no value
	operands []string
}

// option says how a verb's option is read.
type option struct {
	name  string
	value string // what stands for the value in the usage text; "": the option takes none
	help  string // "": internal
}

// verb is one line of the usage text.
type verb struct {
	name     string
	operands int // most that are taken
	help     string
	options  []option
}

var verbs = []verb{
	{"install", 0, "make the sandbox account and its fence (asks for an administrator)", []option{
		{"proxy-port-range", "LO-HI", "ports on loopback that commands reach (60080-60089)"},
		{"sandbox-user", "NAME", "name of the account (srt-sandbox)"},
		{"allow-loopback", "", "let commands reach every port on loopback"},
		{"sublayer-guid", "GUID", "sublayer of the filters, where other tools must know it"},
		{"force", "", "change an installation that has other settings, take over an account of that name"},
		{"for", "SID", ""}, {"elevated", "", ""}}},
	{"uninstall", 0, "remove all of it (asks for an administrator)", []option{{"force", "", "end commands that still run"}, {"elevated", "", ""}}},
	{"status", 0, "compare the machine with what was installed", []option{{"json", "", "for programs"}}},
	{"selfcheck", 0, "prove on this machine what a command can and cannot do", []option{{"json", "", "for programs"}}},
	{"acl", 2, "list | forget [PATH]: access entries that srt put on your files", []option{
		{"all", "", "forget: every path"}, {"force", "", "forget: also what running commands need, and what cannot be removed"}, {"json", "", "list: for programs"}}},
	{"version", 0, "say which build this is", nil},
	{"plan", 0, "", nil}, {"describe", 0, "", nil}, {"check", 0, "", nil}, {"exec", 0, "", nil}, {"runner", 3, "", nil}, {"probe", 0, "", nil},
}

func usageError(format string, args ...any) error {
	return &problem.Error{Code: problem.Usage, Op: "srt-windows", Detail: fmt.Sprintf(format, args...), Fix: "srt-windows help"}
}

// parse reads the command line behind the program's name.
func parse(args []string) (words, error) {
	w := words{options: map[string]string{}}
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "--help", "/?"}, args[0]) {
		w.verb = "help"
		return w, nil
	}
	at := slices.IndexFunc(verbs, func(v verb) bool { return v.name == args[0] })
	if at < 0 {
		return w, usageError("unknown verb %q", args[0])
	}
	v := verbs[at]
	w.verb = v.name
	for rest := args[1:]; len(rest) > 0; rest = rest[1:] {
		name, isOption := strings.CutPrefix(rest[0], "--")
		if !isOption {
			w.operands = append(w.operands, rest[0])
			continue
		}
		name, value, inline := strings.Cut(name, "=")
		o := slices.IndexFunc(v.options, func(o option) bool { return o.name == name })
		_, twice := w.options[name]
		switch {
		case name == "help":
			return words{verb: "help", options: map[string]string{}}, nil
		case o < 0:
			return w, usageError("%s has no option --%s", v.name, name)
		case twice:
			return w, usageError("option --%s stands twice", name)
		case v.options[o].value == "" && inline:
			return w, usageError("option --%s takes no value", name)
		case v.options[o].value != "" && !inline:
			if len(rest) < 2 {
				return w, usageError("option --%s needs a value: %s", name, v.options[o].value)
			}
			rest = rest[1:]
			value = rest[0]
		}
		w.options[name] = value
	}
	if len(w.operands) > v.operands {
		return w, usageError("%s does not take %q", v.name, w.operands[v.operands])
	}
	return w, nil
}

func (w words) has(name string) bool { _, ok := w.options[name]; return ok }

// portRange reads LO-HI.
func portRange(text string) (low, high int, err error) {
	a, b, ok := strings.Cut(text, "-")
	low, err1 := strconv.Atoi(a)
	high, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || strconv.Itoa(low)+"-"+strconv.Itoa(high) != text {
		return 0, 0, usageError("--proxy-port-range %q: want LO-HI, such as 60080-60089", text)
	}
	return low, high, nil
}

// usage is the help text.
func usage() string {
	var b strings.Builder
	b.WriteString("usage: srt-windows VERB [OPTION…]\n\n")
	for _, v := range verbs {
		if v.help == "" {
			continue
		}
		fmt.Fprintf(&b, "  %-10s %s\n", v.name, v.help)
		for _, o := range v.options {
			if o.help != "" {
				fmt.Fprintf(&b, "    %-30s %s\n", strings.TrimSpace("--"+o.name+" "+o.value), o.help)
			}
		}
	}
	b.WriteString("\nexit status:\n  0   done\n")
	for _, r := range problem.Table {
		fmt.Fprintf(&b, "  %-3d %s: %s\n", r.Exit, r.Code, r.Meaning)
	}
	return b.String()
}

// sublayer and forUser keep the types of install's options in one place.
func (w words) sublayer() winapi.GUID { return winapi.GUID(w.options["sublayer-guid"]) }
func (w words) forUser() sd.SID       { return sd.SID(w.options["for"]) }
