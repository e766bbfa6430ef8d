package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		want string
		err  string
	}{
		"install":               {"install --proxy-port-range 60000-60001 --force", "install map[force: proxy-port-range:60000-60001] []", ""},
		"a value with =":        {"install --sandbox-user=box", "install map[sandbox-user:box] []", ""},
		"acl":                   {"acl forget C:\\x --force", `acl map[force:] [forget C:\x]`, ""},
		"nothing":               {"", "help map[] []", ""},
		"help of a verb":        {"status --help", "help map[] []", ""},
		"unknown verb":          {"instal", "", `srt-windows: unknown verb "instal"`},
		"unknown option":        {"status --xml", "", "srt-windows: status has no option --xml"},
		"another's option":      {"status --force", "", "srt-windows: status has no option --force"},
		"twice":                 {"install --force --force", "", "srt-windows: option --force stands twice"},
		"a value where none is": {"install --force=yes", "", "srt-windows: option --force takes no value"},
		"no value":              {"install --sandbox-user", "", "srt-windows: option --sandbox-user needs a value: NAME"},
		"an operand too many":   {"status now", "", `srt-windows: status does not take "now"`},
		"case matters":          {"Install", "", `srt-windows: unknown verb "Install"`},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := parse(strings.Fields(c.args))
			if err != nil || c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Fatalf("got %v", err)
				}
				return
			}
			if got := fmt.Sprintf("%s %v %v", w.verb, w.options, w.operands); got != c.want {
				t.Fatalf("got %s", got)
			}
		})
	}
}

func TestPortRange(t *testing.T) {
	for text, ok := range map[string]bool{"60080-60089": true, "60080": false, "60080-": false, "-1-5": false, "060080-60089": false, "60080-60089-1": false, "a-b": false, " 1-2": false, "+1-2": false} {
		low, high, err := portRange(text)
		if (err == nil) != ok {
			t.Errorf("%q: %d-%d, %v", text, low, high, err)
		}
	}
}

func TestUsageNamesEverything(t *testing.T) {
	text := usage()
	for _, v := range verbs {
		if v.help != "" && !strings.Contains(text, "  "+v.name) {
			t.Errorf("no word of %s", v.name)
		}
		if v.help == "" && strings.Contains(text, "\n  "+v.name+" ") {
			t.Errorf("the internal %s is offered", v.name)
		}
		for _, o := range v.options {
			if (o.help != "") != strings.Contains(text, "--"+o.name) && o.help != "" {
				t.Errorf("--%s", o.name)
			}
		}
	}
	for _, internal := range []string{"--elevated", "--for "} {
		if strings.Contains(text, internal) {
			t.Errorf("%s is offered", internal)
		}
	}
}
