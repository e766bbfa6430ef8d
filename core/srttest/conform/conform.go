// Package conform is one table of what a sandbox must allow and refuse, asked of two systems: on Linux each operation is tried in a real
// sandbox, on macOS's behalf the model of Seatbelt is asked, and both start from a settings file. Where the systems differ on purpose
// the table says so. It must never be imported by anything but tests.
package conform

import (
	_ "embed" // the table
	"fmt"
	"strings"

	"github.com/srt-dev/srt/core/policy"
	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

// Case is a tree under some settings, with questions that do not depend on one another.
type Case struct {
	Name      string
	Tree      []string // as core/pathrule/memfs reads it; directories that a question needs to be there
	Settings  string
	Error     string // part of the message with which nothing runs; "" when the command runs
	Questions []Question
}

// Question is one operation.
type Question struct {
	Op     string   // a name of Operations
	Args   []string // paths, or where a connection goes to
	Linux  bool     // allowed there
	Darwin bool
}

func (q Question) String() string { return strings.Join(append([]string{q.Op}, q.Args...), " ") }

// Allowed says what is expected on a system.
func (q Question) Allowed(goos string) bool {
	if goos == "darwin" {
		return q.Darwin
	}
	return q.Linux
}

// verdicts are the first words of a question.
var verdicts = map[string][2]bool{"yes": {true, true}, "no": {false, false}, "linux": {true, false}, "macos": {false, true}}

// Operations are the operations of questions, each with its number of arguments.
var Operations = map[string]int{
	"read": 1, "list": 1, "stat": 1, "exec": 1, "write": 1, "truncate": 1, "chmod": 1, "create": 1, "mkdir": 1, "symlink": 1, "remove": 1,
	"rename": 2, "link": 2,
	"connect": 1, "bind": 1, // proxy, or a port of the loopback on which somebody outside listens; bind: any port
	"dial": 1, "serve": 1, // unix sockets
}

//go:embed cases.txt
var table string

// Place is where the three directories of a case lie: $B holds $W, the working directory, $H, the home directory, and $O.
type Place struct{ Base string }

// Dir and Home are two of them.
func (p Place) Dir() string { return p.Base + "/work" }

// Home is the home directory.
func (p Place) Home() string { return p.Base + "/home" }

// Replace puts the directories of the place where their names stand.
func (p Place) Replace(s string) string {
	return strings.NewReplacer("$W", p.Dir(), "$H", p.Home(), "$O", p.Base+"/outside", "$B", p.Base).Replace(s)
}

// Cases gives the table for a place.
func Cases(p Place) ([]Case, error) {
	var out []Case
	seen := map[string]bool{}
	for i, line := range strings.Split(p.Replace(table), "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		switch {
		case word == "" || strings.HasPrefix(word, "#"):
			continue
		case word == "case":
			if seen[rest] {
				return nil, fmt.Errorf("line %d: %q is there twice", i+1, rest)
			}
			seen[rest] = true
			out = append(out, Case{Name: rest, Settings: "{}", Tree: []string{p.Dir() + "/", p.Home() + "/", p.Base + "/outside/"}})
			continue
		case len(out) == 0:
			return nil, fmt.Errorf("line %d: stands before the first case", i+1)
		}
		if err := out[len(out)-1].add(word, rest); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return out, nil
}

// add reads one line of a case.
func (c *Case) add(word, rest string) error {
	switch word {
	case "tree":
		for entry := range strings.FieldsSeq(rest) {
			c.Tree = append(c.Tree, strings.Replace(entry, "->", " -> ", 1))
		}
	case "settings":
		c.Settings = rest
	case "error":
		c.Error = rest
	default:
		v, ok := verdicts[word]
		fields := strings.Fields(rest)
		if !ok || len(fields) == 0 || Operations[fields[0]] != len(fields)-1 {
			return fmt.Errorf("%q %q is not a question", word, rest)
		}
		c.Questions = append(c.Questions, Question{fields[0], fields[1:], v[0], v[1]})
	}
	return nil
}

// Request makes the request of a case as srt does: settings file, policy, request. tmp is the run's own directory, proxy the address of
// its proxy.
func (c *Case) Request(goos string, p Place, argv, env []string, proxy string) (wire.LaunchRequest, error) {
	f, err := settings.ParseLine([]byte(c.Settings))
	if err != nil {
		return wire.LaunchRequest{}, err
	}
	resolved, err := policy.Resolve(f, policy.Context{GOOS: goos, Home: p.Home(), Dir: p.Dir(), Env: env, Exists: func(string) bool { return false }})
	if err != nil {
		return wire.LaunchRequest{}, err
	}
	cmd := wire.Command{Argv: argv, Env: env, Dir: p.Dir(), PassFDs: []int{}, IgnoredSignals: []int{}}
	return resolved.LaunchRequest(cmd, policy.LaunchOptions{CommandID: "1", SessionID: "0123456789abcdef", ProxyAddr: proxy}), nil
}
