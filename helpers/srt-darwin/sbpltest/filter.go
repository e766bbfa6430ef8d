package sbpltest

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/helpers/srt-darwin/sbpl"
)

type filter func(q *Query) bool

// compile turns a filter of a rule for op into a predicate.
func compile(n sbpl.Node, op string) (filter, error) {
	if n.Kind != sbpl.List || len(n.List) == 0 || n.List[0].Kind != sbpl.Symbol {
		return nil, fmt.Errorf("a filter is a list")
	}
	name, args := n.List[0].Text, n.List[1:]
	if strings.HasPrefix(name, "require-") {
		return combine(name, args, op)
	}
	make, ok := filters[name]
	if !ok {
		return nil, fmt.Errorf("unbound variable: %s", name)
	}
	if !applies(make.ops, op) {
		return nil, fmt.Errorf("filter %q does not apply", name)
	}
	return make.compile(args, op)
}

func applies(prefixes, op string) bool {
	for p := range words(prefixes) {
		if strings.HasPrefix(op, p) {
			return true
		}
	}
	return false
}

func combine(name string, args []sbpl.Node, op string) (filter, error) {
	var fs []filter
	for _, a := range args {
		f, err := compile(a, op)
		if err != nil {
			return nil, err
		}
		fs = append(fs, f)
	}
	switch {
	case len(fs) == 0:
		return nil, fmt.Errorf("%s without a filter", name)
	case name == "require-not" && len(fs) == 1:
		return func(q *Query) bool { return !fs[0](q) }, nil
	case name == "require-all":
		return func(q *Query) bool {
			for _, f := range fs {
				if !f(q) {
					return false
				}
			}
			return true
		}, nil
	case name == "require-any":
		return func(q *Query) bool {
			for _, f := range fs {
				if f(q) {
					return true
				}
			}
			return false
		}, nil
	}
	return nil, fmt.Errorf("%s with %d filters", name, len(fs))
}

// filters are all that a profile of ours may use, each with the operations that it applies to.
var filters = map[string]struct {
	ops     string
	compile func(args []sbpl.Node, op string) (filter, error)
}{
	"literal":            {"file process-exec", pathFilter(func(have, want string) bool { return have == want })},
	"subpath":            {"file process-exec", pathFilter(inside)},
	"regex":              {"file process-exec", regexFilter},
	"vnode-type":         {"file", symbolFilter([]string{Regular, Directory, Symlink, Socket, CharDev}, func(q *Query) string { return q.Vnode })},
	"extension":          {"file", extensionFilter},
	"ioctl-command":      {"file-ioctl", ioctlFilter},
	"global-name":        {"mach-lookup", nameFilter(func(have, want string) bool { return have == want })},
	"global-name-prefix": {"mach-lookup", nameFilter(strings.HasPrefix)},
	"sysctl-name":        {"sysctl", nameFilter(func(have, want string) bool { return have == want })},
	"sysctl-name-prefix": {"sysctl", nameFilter(strings.HasPrefix)},
	"socket-domain":      {"system-socket", symbolFilter([]string{"AF_UNIX", "AF_SYSTEM"}, func(q *Query) string { return q.Domain })},
	"target":             {"signal process-info mach-priv-task-port", targetFilter},
}

func init() { // apart, because their arguments are filters
	type entry = struct {
		ops     string
		compile func(args []sbpl.Node, op string) (filter, error)
	}
	filters["remote"] = entry{"network-outbound", peerFilter}
	filters["local"] = entry{"network-bind network-inbound", peerFilter}
}

func text(args []sbpl.Node) (string, error) {
	if len(args) != 1 || args[0].Kind != sbpl.String || args[0].Text == "" {
		return "", fmt.Errorf("one string is wanted")
	}
	return args[0].Text, nil
}

func pathFilter(match func(have, want string) bool) func([]sbpl.Node, string) (filter, error) {
	return func(args []sbpl.Node, op string) (filter, error) {
		want, err := text(args)
		if err == nil {
			err = checkPath(want, op)
		}
		return func(q *Query) bool { return match(q.Path, want) }, err
	}
}

// checkPath refuses the spellings that the kernel never produces: a rule with one is inert.
func checkPath(p, op string) error {
	first, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	switch {
	case !strings.HasPrefix(p, "/") || path.Clean(p) != p:
		return fmt.Errorf("%q is not an absolute, clean path: the rule is inert", p)
	case p == "/tmp", p == "/var", p == "/etc":
		return nil // the link itself
	case first == "tmp", first == "var", first == "etc":
		return fmt.Errorf("%q leads through a link: the rule is inert", p)
	case inside(p, dataVolume) && op != "file-test-existence":
		return fmt.Errorf("%q is spelled below the firmlinks: the rule is inert", p)
	}
	return nil
}

func inside(p, dir string) bool {
	return p == dir || dir == "/" && p != "" || strings.HasPrefix(p, dir) && len(p) > len(dir) && p[len(dir)] == '/'
}

func symbolFilter(known []string, get func(q *Query) string) func([]sbpl.Node, string) (filter, error) {
	return func(args []sbpl.Node, _ string) (filter, error) {
		if len(args) != 1 || args[0].Kind != sbpl.Symbol {
			return nil, fmt.Errorf("one symbol is wanted")
		}
		want := args[0].Text
		for _, k := range known {
			if k == want {
				return func(q *Query) bool { return get(q) == want }, nil
			}
		}
		return nil, fmt.Errorf("unbound variable: %s", want)
	}
}

// targetFilter: a process is in its own sandbox too.
func targetFilter(args []sbpl.Node, _ string) (filter, error) {
	f, err := symbolFilter([]string{"self", "same-sandbox"}, func(q *Query) string { return q.Target })(args, "")
	if err != nil || args[0].Text == "self" {
		return f, err
	}
	return func(q *Query) bool { return f(q) || q.Target == "self" }, nil
}

func extensionFilter(args []sbpl.Node, _ string) (filter, error) {
	class, err := text(args)
	if err == nil && class != "com.apple.sandbox.pty" {
		err = fmt.Errorf("unknown extension class %q", class)
	}
	return func(q *Query) bool { return q.Pty }, err
}

// ioctlFilter takes a decimal number: the name TIOCSTI is unbound before macOS 15, and a hexadecimal number ends sandbox-exec.
func ioctlFilter(args []sbpl.Node, _ string) (filter, error) {
	if len(args) != 1 || args[0].Kind != sbpl.Symbol {
		return nil, fmt.Errorf("one number is wanted")
	}
	want, err := strconv.ParseUint(args[0].Text, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("unbound variable: %s", args[0].Text)
	}
	return func(q *Query) bool { return q.Ioctl == want }, nil
}

func nameFilter(match func(have, want string) bool) func([]sbpl.Node, string) (filter, error) {
	return func(args []sbpl.Node, _ string) (filter, error) {
		want, err := text(args)
		return func(q *Query) bool { return match(q.Name, want) }, err
	}
}
