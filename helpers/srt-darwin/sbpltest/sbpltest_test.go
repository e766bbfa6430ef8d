package sbpltest

import (
	"strings"
	"testing"
)

func load(t *testing.T, rules string) *Profile {
	t.Helper()
	p, err := Load("(version 1)\n(deny default)\n"+rules, MacOS14)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The facts: each is a measurement on real systems, see docs/macos.md.
func TestOrderOfRules(t *testing.T) {
	for name, c := range map[string]struct {
		rules string
		q     Query
		first bool // operation first
		text  bool // source order
	}{
		"the last match of one operation wins": {
			"(allow file-read*)(deny file-read* (subpath \"/w\"))(allow file-read* (subpath \"/w/a\"))",
			Query{Op: "file-read-data", Path: "/w/a/b"}, true, true},
		"a narrow allowance against a later wide denial": {
			"(allow file-write-data (subpath \"/w\"))(deny file-write* (literal \"/w/f\"))",
			Query{Op: "file-write-data", Path: "/w/f"}, true, false},
		"a narrow denial against a later wide allowance": {
			"(deny file-write-unlink)(allow file-write* (subpath \"/w\"))",
			Query{Op: "file-write-unlink", Path: "/w/f"}, false, true},
		"a rule for a wide operation covers narrow ones": {
			"(allow file-read*)", Query{Op: "file-read-xattr", Path: "/w/f"}, true, true},
		"nothing said: the default": {
			"(allow file-read*)", Query{Op: "file-write-data", Path: "/w/f"}, false, false},
		"version 1 allows some operations by itself": {
			"", Query{Op: "file-link", Path: "/w/f"}, true, true},
		"a wide denial does not take those back for certain": {
			"(deny file*)", Query{Op: "file-link", Path: "/w/f"}, true, false},
		"a denial by the same name does": {
			"(deny file-link)", Query{Op: "file-link", Path: "/w/f"}, false, false},
		"process-info* is taken back by its own name": {
			"(deny process-info*)(allow process-info* (target same-sandbox))", Query{Op: "process-info-pidinfo", Target: "others"}, false, false},
		"and given for the own sandbox": {
			"(deny process-info*)(allow process-info* (target same-sandbox))", Query{Op: "process-info-pidinfo", Target: "self"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := load(t, c.rules)
			if got := p.Decide(OperationFirst, c.q).Allow; got != c.first {
				t.Errorf("operation first: %v, want %v", got, c.first)
			}
			if got := p.Decide(SourceOrder, c.q).Allow; got != c.text {
				t.Errorf("source order: %v, want %v", got, c.text)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	for name, c := range map[string]struct {
		rule    string
		yes, no []Query
	}{
		"subpath is the place and what is below": {
			`(allow file-read* (subpath "/w/a"))`,
			[]Query{{Op: "file-read-data", Path: "/w/a"}, {Op: "file-read-data", Path: "/w/a/b"}},
			[]Query{{Op: "file-read-data", Path: "/w/ab"}, {Op: "file-read-data", Path: "/w"}}},
		"literal is the place alone": {
			`(allow file-read* (literal "/w/a"))`,
			[]Query{{Op: "file-read-data", Path: "/w/a"}}, []Query{{Op: "file-read-data", Path: "/w/a/b"}}},
		"a regex counts bytes": {
			`(allow file-read* (regex "^/w/[^/]$"))`,
			[]Query{{Op: "file-read-data", Path: "/w/a"}}, []Query{{Op: "file-read-data", Path: "/w/é"}, {Op: "file-read-data", Path: "/w/ab"}}},
		"all, any, not": {
			`(allow file-read* (require-all (subpath "/w") (require-not (require-any (subpath "/w/a") (subpath "/w/b")))))`,
			[]Query{{Op: "file-read-data", Path: "/w/c"}}, []Query{{Op: "file-read-data", Path: "/w/b/c"}}},
		"localhost is two addresses and no mapped one": {
			`(allow network-outbound (remote tcp "localhost:80"))`,
			[]Query{{Op: "network-outbound", IP: true, TCP: true, Host: "127.0.0.1", Port: 80}, {Op: "network-outbound", IP: true, TCP: true, Host: "::1", Port: 80}},
			[]Query{{Op: "network-outbound", IP: true, TCP: true, Host: "127.0.0.1", Port: 81}, {Op: "network-outbound", IP: true, TCP: true, Host: "::ffff:127.0.0.1", Port: 80},
				{Op: "network-outbound", IP: true, TCP: true, Host: "10.0.0.1", Port: 80}, {Op: "network-outbound", IP: true, Host: "127.0.0.1", Port: 80}, {Op: "network-outbound", Path: "/s"}}},
		"localhost takes in an address that is not decided yet": {
			`(allow network-bind (local ip "localhost:*"))`,
			[]Query{{Op: "network-bind", IP: true, Host: "0.0.0.0", Port: 1}, {Op: "network-bind", IP: true, Host: "::", Port: 1}},
			[]Query{{Op: "network-bind", IP: true, Host: "10.0.0.1", Port: 1}}},
		"unix sockets by path": {
			`(allow network-outbound (remote unix-socket (subpath "/s")))`,
			[]Query{{Op: "network-outbound", Path: "/s/a"}}, []Query{{Op: "network-outbound", Path: "/t"}, {Op: "network-outbound", IP: true, Host: "127.0.0.1", Port: 1}}},
		"ioctl by number": {
			`(allow file-ioctl)(deny file-ioctl (ioctl-command 2147578994))`,
			[]Query{{Op: "file-ioctl", Path: "/dev/tty", Ioctl: 1}}, []Query{{Op: "file-ioctl", Path: "/dev/tty", Ioctl: 0x80017472}}},
		"a terminal made inside": {
			`(allow file-read* (extension "com.apple.sandbox.pty"))`,
			[]Query{{Op: "file-read-data", Path: "/dev/ttys1", Pty: true}}, []Query{{Op: "file-read-data", Path: "/dev/ttys1"}}},
		"services by prefix": {
			`(allow mach-lookup (global-name-prefix "com.a."))`,
			[]Query{{Op: "mach-lookup", Name: "com.a.b"}}, []Query{{Op: "mach-lookup", Name: "com.b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := load(t, c.rule)
			for _, o := range Orders() {
				for _, q := range c.yes {
					if !p.Decide(o, q).Allow {
						t.Errorf("%v: %+v is denied", o, q)
					}
				}
				for _, q := range c.no {
					if v := p.Decide(o, q); v.Allow {
						t.Errorf("%v: %+v is allowed by line %d", o, q, v.Line)
					}
				}
			}
		})
	}
}

func TestWrongProfiles(t *testing.T) {
	for name, c := range map[string]struct{ rules, err string }{
		"operation that does not exist":       {"(allow file-reed*)", "line 3: unbound variable: file-reed*"},
		"star where there is none":            {"(allow file-ioctl*)", "line 3: unbound variable: file-ioctl*"},
		"operation of a later release":        {"(deny file-graft)", "line 3: unbound variable: file-graft"},
		"filter that does not exist":          {`(allow file-read* (path-suffix "/a"))`, "line 3: file-read*: unbound variable: path-suffix"},
		"filter of another operation":         {`(allow file-read* (sysctl-name "a"))`, `line 3: file-read*: filter "sysctl-name" does not apply`},
		"slash at the end":                    {`(deny file-read* (subpath "/w/"))`, `line 3: file-read*: "/w/" is not an absolute, clean path: the rule is inert`},
		"through a link of the system":        {`(deny file-read* (subpath "/tmp/a"))`, `line 3: file-read*: "/tmp/a" leads through a link: the rule is inert`},
		"below the firmlinks":                 {`(deny file-read* (subpath "/System/Volumes/Data/Users"))`, `line 3: file-read*: "/System/Volumes/Data/Users" is spelled below the firmlinks: the rule is inert`},
		"host by name":                        {`(allow network-outbound (remote tcp "example.com:80"))`, `line 3: network-outbound: host must be * or localhost in network address, not "example.com:80"`},
		"port zero":                           {`(allow network-outbound (remote tcp "localhost:0"))`, `line 3: network-outbound: bad port in network address "localhost:0"`},
		"outbound by our own address":         {`(allow network-outbound (local ip "localhost:*"))`, `line 3: network-outbound: filter "local" does not apply`},
		"ioctl by name":                       {`(deny file-ioctl (ioctl-command TIOCSTI))`, "line 3: file-ioctl: unbound variable: TIOCSTI"},
		"ioctl in hexadecimal":                {`(deny file-ioctl (ioctl-command 0x80017472))`, "line 3: file-ioctl: unbound variable: 0x80017472"},
		"regex with an inline flag":           {`(deny file-read* (regex "^/(?i)a"))`, `line 3: file-read*: regex "^/(?i)a": ? has nothing to work on`},
		"regex with ^ inside":                 {`(deny file-read* (regex "^/(^|a)b"))`, `line 3: file-read*: regex "^/(^|a)b": unexpected ^ operator in middle of expression`},
		"regex without an anchor":             {`(deny file-read* (regex "a"))`, `line 3: file-read*: regex "a": does not begin at the root`},
		"regex with a class escape":           {`(deny file-read* (regex "^/\\d"))`, `line 3: file-read*: regex "^/\\d": an escape that is not of punctuation`},
		"regex with a count":                  {`(deny file-read* (regex "^/a{2}"))`, `line 3: file-read*: regex "^/a{2}": unexpected { operator in middle of expression`},
		"regex with an empty alternative":     {`(deny file-read* (regex "^/(a|)"))`, `line 3: file-read*: regex "^/(a|)": ) has nothing to work on`},
		"regex with a backslash in a set":     {`(deny file-read* (regex "^/[a\\]]"))`, `line 3: file-read*: regex "^/[a\\]]": a set that readers may differ on`},
		"rule without an operation":           {`(allow (subpath "/w"))`, "line 3: a rule without an operation"},
		"message of an allowance":             {`(allow file-read* (with message "a"))`, "line 3: the only modifier is (with message \"…\") of a denial"},
		"signal on denial":                    {`(deny file-read* (with send-signal SIGKILL))`, "line 3: the only modifier is (with message \"…\") of a denial"},
		"import of another profile":           {`(import "system.sb")`, "line 3: unknown form"},
		"require-not of two":                  {`(deny file-read* (require-not (literal "/a") (literal "/b")))`, "line 3: file-read*: require-not with 2 filters"},
		"require-all of none":                 {`(deny file-read* (require-all))`, "line 3: file-read*: require-all without a filter"},
		"vnode type that does not exist":      {`(deny file-read* (vnode-type FOLDER))`, "line 3: file-read*: unbound variable: FOLDER"},
		"target that profiles do not know":    {`(allow signal (target children-of-others))`, "line 3: signal: unbound variable: children-of-others"},
		"condition that is more than a guard": {`(if (file-exists? "/a") (deny nvram*))`, "line 3: the only condition is (if (defined? 'operation) rule)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load("(version 1)\n(deny default)\n"+c.rules, MacOS14)
			if err == nil || err.Error() != c.err {
				t.Errorf("got error %v\nwant      %s", err, c.err)
			}
		})
	}
	if _, err := Load("(deny default)", MacOS14); err == nil || !strings.Contains(err.Error(), "(version 1)") {
		t.Errorf("a profile without a version: %v", err)
	}
}

func TestGuardedOperation(t *testing.T) {
	const src = "(version 1)\n(deny default)\n(if (defined? 'file-graft) (deny file-graft))"
	for _, r := range []Release{MacOS14, MacOS26} {
		p, err := Load(src, r)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Decide(OperationFirst, Query{Op: "file-graft", Path: "/w"}).Allow; got != (r == MacOS14) {
			t.Errorf("release %v: allowed %v", r, got)
		}
	}
}

func TestMisordered(t *testing.T) {
	for rules, want := range map[string]int{
		"(allow file-read*)\n(allow file-write*)\n(deny file-read-data (literal \"/a\"))": 0,
		"(deny file-read-data (literal \"/a\"))\n(allow file-read*)":                      4,
		"(deny file-link)\n(allow file-write*)\n(allow file* (literal \"/a\"))":           5,
	} {
		if got := load(t, rules).Misordered(); got != want {
			t.Errorf("%s: line %d, want %d", rules, got, want)
		}
	}
}
