package pathrule_test

import (
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/wire"
)

// rules is one case: a tree, a policy, what happens after the start, and questions. A question is "OP PATH [PATH]"; in no it may go on
// with " | " and the rule that must be named.
type rules struct {
	tree                                       []string
	denyRead, allowRead, allowWrite, denyWrite []string
	protected                                  []wire.Protected
	git                                        bool
	gitConfig                                  bool
	opts                                       pathrule.Options
	later                                      []string
	yes, no                                    []string
}

var ops = map[string]pathrule.Op{"read": pathrule.OpRead, "stat": pathrule.OpStat, "list": pathrule.OpList, "exec": pathrule.OpExec,
	"write": pathrule.OpWrite, "create": pathrule.OpCreate, "mkdir": pathrule.OpMkdir, "remove": pathrule.OpRemove, "rename": pathrule.OpRename,
	"link": pathrule.OpLink, "symlink": pathrule.OpSymlink, "chmod": pathrule.OpChmod, "truncate": pathrule.OpTruncate}

// entries reads entries; "glob:" makes one a pattern.
func entries(paths []string) []wire.PathEntry {
	out := []wire.PathEntry{}
	for _, p := range paths {
		rest, glob := strings.CutPrefix(p, "glob:")
		out = append(out, wire.PathEntry{Path: rest, Glob: glob, Rule: rest})
	}
	return out
}

func (r *rules) policy() wire.FilePolicy {
	return wire.FilePolicy{DenyRead: entries(r.denyRead), AllowRead: entries(r.allowRead), AllowWrite: entries(r.allowWrite),
		DenyWrite: entries(r.denyWrite), Protected: r.protected, GitRules: r.git, GitConfig: r.gitConfig, ScanDepth: 3}
}

func ask(t *testing.T, p *pathrule.Policy, question string) pathrule.Decision {
	t.Helper()
	words := strings.Fields(question)
	op, ok := ops[words[0]]
	switch {
	case ok && len(words) == 2:
		return p.Decide(op, words[1])
	case ok && len(words) == 3:
		return p.DecidePair(op, words[1], words[2])
	}
	t.Fatalf("question %q", question)
	return pathrule.Decision{}
}

func run(t *testing.T, cases map[string]rules) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			fs := memfs.New(c.tree...)
			p, err := pathrule.NewWith(c.policy(), fs, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			fs.Start()
			fs.Add(c.later...)
			for _, q := range c.yes {
				if d := ask(t, p, q); !d.Allowed {
					t.Errorf("%s: denied by %q: %s", q, d.Rule, d.Reason)
				}
			}
			for _, q := range c.no {
				q, rule, named := strings.Cut(q, " | ")
				d := ask(t, p, q)
				if d.Allowed {
					t.Errorf("%s: allowed by %q: %s", q, d.Rule, d.Reason)
				} else if d.Reason == "" || named && d.Rule != rule {
					t.Errorf("%s: rule %q, want %q (reason %q)", q, d.Rule, rule, d.Reason)
				}
			}
		})
	}
}

func TestReading(t *testing.T) {
	run(t, map[string]rules{
		"everything is readable by default": {
			tree: []string{"/w/a", "/etc/passwd"},
			yes:  []string{"read /w/a", "read /etc/passwd", "list /", "stat /etc", "exec /w/a"},
		},
		"a denied file hides its content and not its neighbours": {
			tree: []string{"/w/s", "/w/t"}, denyRead: []string{"/w/s"},
			yes: []string{"read /w/t", "list /w", "stat /w/s"},
			no:  []string{"read /w/s | /w/s", "exec /w/s"},
		},
		"a denied directory hides listing, names and content": {
			tree: []string{"/w/d/s", "/w/t"}, denyRead: []string{"/w/d"},
			yes: []string{"stat /w/d", "read /w/t"},
			no:  []string{"list /w/d", "stat /w/d/s", "read /w/d/s", "read /w/d/nothing"},
		},
		"a denial inside a denied directory shows no more": {
			tree: []string{"/w/d/e/f"}, denyRead: []string{"/w/d", "/w/d/e"},
			yes: []string{"stat /w/d"}, no: []string{"stat /w/d/e", "list /w/d/e"},
		},
		"a link to a denied place does not open it": {
			tree: []string{"/w/d/s", "/w/l -> d", "/w/m -> d/s", "/w/n -> /w/l/../d/s"}, denyRead: []string{"/w/d"},
			no: []string{"read /w/l/s", "read /w/m", "read /w/n", "list /w/l"},
		},
		"dots do not lead around": {
			tree: []string{"/w/d/s", "/w/e/"}, denyRead: []string{"/w/d"},
			no: []string{"read /w/e/../d/s", "read /w/./d/s", "read /w/d/../d/s"},
		},
		"an entry that is a link denies where it leads": {
			tree: []string{"/w/d/s", "/w/l -> d/s", "/w/k -> d", "/w/x/y"}, denyRead: []string{"/w/l"},
			yes: []string{"list /w/d", "read /w/x/y"},
			no:  []string{"read /w/l", "read /w/d/s", "read /w/k/s"},
		},
		"a link that leads nowhere or in circles is harmless": {
			tree: []string{"/w/l -> gone", "/w/a -> b", "/w/b -> a", "/w/f"}, denyRead: []string{"/w/l", "/w/a"},
			yes: []string{"read /w/f", "list /w"},
		},
		"allowRead opens again inside": {
			tree: []string{"/h/u/p/f", "/h/u/s"}, denyRead: []string{"/h"}, allowRead: []string{"/h/u/p"},
			yes: []string{"read /h/u/p/f", "list /h/u/p", "stat /h/u"},
			no:  []string{"read /h/u/s", "list /h/u", "list /h", "stat /h/u/s"},
		},
		"allowRead wins for the same path": {
			tree: []string{"/w/s"}, denyRead: []string{"/w/s"}, allowRead: []string{"/w/s"}, yes: []string{"read /w/s"},
		},
		"a more specific denial inside an allowed region wins": {
			tree: []string{"/w/s/k", "/w/a", "/v/x"}, denyRead: []string{"/", "/w/s"}, allowRead: []string{"/w"},
			yes: []string{"read /w/a", "list /w"},
			no:  []string{"read /w/s/k", "read /v/x"},
		},
		"deny, allow inside, deny inside that, allow inside that": {
			tree:     []string{"/d/s", "/d/p/f", "/d/p/q/g", "/d/p/q/r/h"},
			denyRead: []string{"/d", "/d/p/q"}, allowRead: []string{"/d/p", "/d/p/q/r"},
			yes: []string{"read /d/p/f", "read /d/p/q/r/h"},
			no:  []string{"read /d/s", "read /d/p/q/g"},
		},
		"a denied file is not opened by the directory above": {
			tree: []string{"/w/s", "/w/t"}, denyRead: []string{"/w/s"}, allowRead: []string{"/w"},
			yes: []string{"read /w/t"}, no: []string{"read /w/s"},
		},
		"a pattern is more specific than the directory it matches in": {
			tree: []string{"/w/a/.env", "/w/a/b"}, denyRead: []string{"glob:/w/**/.env"}, allowRead: []string{"/w"},
			yes: []string{"read /w/a/b"}, no: []string{"read /w/a/.env | /w/**/.env"},
		},
		"a pattern also names the path with these characters": {
			tree: []string{"/w/[WIP]x/f", "/w/Wx/f"}, denyRead: []string{"glob:/w/[WIP]x"},
			no: []string{"list /w/[WIP]x", "read /w/[WIP]x/f", "list /w/Wx"},
		},
		"a pattern that ends in two stars means the directory": {
			tree: []string{"/w/a/build/o", "/w/a/x", "/w/build"}, denyRead: []string{"glob:/w/**/build/**"},
			yes: []string{"read /w/a/x", "read /w/build"},
			no:  []string{"list /w/a/build", "read /w/a/build/o"},
		},
		"a pattern follows links to directories and ends on loops": {
			tree: []string{"/o/k/.env", "/w/l -> /o", "/w/m/up -> ..", "/w/m/.env"}, denyRead: []string{"glob:/w/**/.env"},
			no: []string{"read /o/k/.env", "read /w/l/k/.env", "read /w/m/up/m/.env"},
		},
		"a read pattern is about what exists at the start": {
			tree: []string{"/w/a.pem"}, denyRead: []string{"glob:/w/*.pem"}, later: []string{"/w/b.pem"},
			yes: []string{"read /w/b.pem"}, no: []string{"read /w/a.pem"},
		},
		"a read pattern covers what comes later where the system can": {
			tree: []string{"/w/a.pem"}, denyRead: []string{"glob:/w/*.pem"}, later: []string{"/w/b.pem"}, opts: pathrule.Options{LateReads: true},
			no: []string{"read /w/b.pem | /w/*.pem", "read /w/a.pem"},
		},
		"an entry that does not exist is harmless": {
			tree: []string{"/w/a"}, denyRead: []string{"/w/nope/deep"}, allowRead: []string{"/nope"}, yes: []string{"read /w/a"},
		},
		"case is ignored where the file system does": {
			tree: []string{"/w/secret"}, denyRead: []string{"/W/SECRET"}, opts: pathrule.Options{FoldCase: true, LateReads: true},
			no: []string{"read /w/secret"},
		},
		"the re-opened place is reached by the link that was named": {
			tree: []string{"/usr/lib/x", "/lib -> usr/lib", "/etc/s"}, denyRead: []string{"/"}, allowRead: []string{"/lib"},
			yes: []string{"read /lib/x", "read /usr/lib/x"}, no: []string{"read /etc/s", "list /"},
		},
	})
}

func TestWriting(t *testing.T) {
	run(t, map[string]rules{
		"nothing is writable by default": {
			tree: []string{"/w/f", "/w/d/"},
			no:   []string{"write /w/f", "create /w/n", "mkdir /w/n", "remove /w/f", "rename /w/f /w/g", "symlink /w/l", "link /w/f /w/g", "chmod /w/f", "truncate /w/f"},
		},
		"an allowed directory is writable and its neighbours are not": {
			tree: []string{"/w/s/f", "/w/o"}, allowWrite: []string{"/w/s"},
			yes: []string{"write /w/s/f", "create /w/s/n", "mkdir /w/s/n", "remove /w/s/f", "rename /w/s/f /w/s/g", "link /w/s/f /w/s/g", "symlink /w/s/l", "chmod /w/s"},
			no:  []string{"write /w/o", "create /w/n", "rename /w/s/f /w/f", "link /w/o /w/s/o", "remove /w/s", "rename /w/s /w/t"},
		},
		"an allowed file is writable and stays where it is": {
			tree: []string{"/w/f", "/w/g"}, allowWrite: []string{"/w/f"},
			yes: []string{"write /w/f", "create /w/f", "truncate /w/f"},
			no:  []string{"write /w/g", "remove /w/f", "rename /w/g /w/f"},
		},
		"a denial wins inside, above and for the same path": {
			tree: []string{"/w/a/f", "/w/b/c/f", "/v/f"}, allowWrite: []string{"/w", "/w/b/c", "/v"}, denyWrite: []string{"/w/a", "/w/b", "/v"},
			yes: []string{"create /w/n"},
			no:  []string{"write /w/a/f | /w/a", "create /w/a/n", "write /w/b/c/f | /w/b", "write /v/f | /v"},
		},
		"a protected path and every directory above it stay where they are": {
			tree: []string{"/w/a/b/k", "/w/x/"}, allowWrite: []string{"/w"}, denyWrite: []string{"/w/a/b/k"},
			yes: []string{"create /w/a/b/n", "rename /w/x /w/y"},
			no:  []string{"remove /w/a/b/k", "rename /w/a/b/k /w/z", "rename /w/a/b /w/z", "rename /w/a /w/z", "rename /w/x /w/a", "link /w/a/b/k /w/h"},
		},
		"a missing denied path cannot come into being by any road": {
			tree: []string{"/w/f", "/w/d/", "/w/x/new", "/w/y/n -> /w/x"}, allowWrite: []string{"/w"}, denyWrite: []string{"/w/m/n/new", "/w/d/new"},
			yes: []string{"mkdir /w/m", "create /w/new", "rename /w/f /w/m"},
			no: []string{"create /w/d/new | /w/d/new", "mkdir /w/d/new", "rename /w/f /w/d/new", "link /w/f /w/d/new", "symlink /w/d/new", "rename /w/x /w/m/n",
				"symlink /w/m", "symlink /w/m/n", "rename /w/y/n /w/m", "rename /w/y /w/m | /w/m/n/new"},
			later: []string{"/w/k/"},
		},
		"a directory that would carry a denied name is not moved there": {
			tree: []string{"/w/x/new", "/w/m/"}, allowWrite: []string{"/w"}, denyWrite: []string{"/w/m/n/new"},
			yes: []string{"rename /w/x /w/m/o"}, no: []string{"rename /w/x /w/m/n | /w/m/n/new"},
		},
		"a denied path below a plain file protects the file": {
			tree: []string{"/w/f"}, allowWrite: []string{"/w"}, denyWrite: []string{"/w/f/x/y"},
			no: []string{"write /w/f | /w/f/x/y", "remove /w/f", "rename /w/f /w/g"},
		},
		"a write is judged by where it lands": {
			tree: []string{"/w/in -> s", "/w/s/f", "/w/out -> /o", "/o/f", "/w/g -> /o/f", "/o/back -> /w/s", "/w/new -> /o/n"}, allowWrite: []string{"/w"},
			yes: []string{"write /w/in/f", "create /o/back/n", "remove /w/out", "rename /w/g /w/h"},
			no:  []string{"write /w/out/f", "write /w/g", "create /w/out/n", "create /w/new", "remove /w/out/f"},
		},
		"a denied link is protected together with its target": {
			tree: []string{"/w/l -> t", "/w/t", "/w/k -> gone"}, allowWrite: []string{"/w"}, denyWrite: []string{"/w/l", "/w/k"},
			no: []string{"remove /w/l", "write /w/l", "write /w/t", "rename /w/t /w/l", "remove /w/k", "create /w/gone | /w/k", "create /w/k"},
		},
		"a link on the way to a denied path is protected too": {
			tree: []string{"/w/l -> d", "/w/d/x"}, allowWrite: []string{"/w"}, denyWrite: []string{"/w/l/x", "/w/l/y"},
			no: []string{"remove /w/l", "write /w/d/x", "create /w/d/y", "rename /w/d /w/e"},
		},
		"what cannot be read cannot be written": {
			tree: []string{"/w/h/f", "/w/s"}, allowWrite: []string{"/w"}, denyRead: []string{"/w/h", "/w/s"},
			no: []string{"write /w/h/f", "create /w/h/n", "write /w/s", "remove /w/s", "rename /w/h /w/g", "rename /w/s /w/t"},
		},
		"a re-opened place inside a denied one is writable when allowWrite covers it": {
			tree: []string{"/w/h/p/f", "/w/h/q/f", "/w/h/r"}, allowWrite: []string{"/w"}, denyRead: []string{"/w/h"}, allowRead: []string{"/w/h/p"},
			yes: []string{"write /w/h/p/f", "create /w/h/p/n"},
			no:  []string{"write /w/h/q/f", "create /w/h/n", "remove /w/h/p", "write /w/h/r"},
		},
		"allowWrite inside a denied read needs allowRead": {
			tree: []string{"/h/p/f"}, denyRead: []string{"/h"}, allowWrite: []string{"/h/p"},
			no: []string{"write /h/p/f", "create /h/p/n"},
		},
		"a denied pattern covers what exists and what comes later": {
			tree: []string{"/w/s/d/app.lock", "/w/x/app.lock.d/f", "/w/t"}, allowWrite: []string{"/w"}, denyWrite: []string{"glob:/w/**/app.lock"},
			yes: []string{"create /w/s/app", "rename /w/x /w/y"},
			no:  []string{"write /w/s/d/app.lock | /w/**/app.lock", "remove /w/s/d/app.lock", "create /w/app.lock | /w/**/app.lock", "rename /w/t /w/s/app.lock", "mkdir /w/q/app.lock", "rename /w/s /w/z"},
		},
		"a directory that would carry a match of a pattern is not moved there": {
			tree: []string{"/w/x/d/a.yml", "/w/y/"}, allowWrite: []string{"/w"}, denyWrite: []string{"glob:/w/conf/**/*.yml"},
			yes: []string{"rename /w/y /w/conf"}, no: []string{"rename /w/x /w/conf | /w/conf/**/*.yml"},
		},
		"a link may not stand for the directories that a denied pattern begins with": {
			tree: []string{"/w/d/", "/w/x/conf -> /w/d", "/w/y/conf/"}, allowWrite: []string{"/w"}, denyWrite: []string{"glob:/w/app/conf/*.yml"},
			yes: []string{"symlink /w/l", "mkdir /w/app", "rename /w/y /w/app"}, no: []string{"symlink /w/app | /w/app/conf/*.yml", "symlink /w/app/conf", "rename /w/x/conf /w/app", "rename /w/x /w/app"},
		},
		"a pattern of allowWrite is about what exists": {
			tree: []string{"/w/a.log", "/w/b"}, allowWrite: []string{"glob:/w/*.log"},
			yes: []string{"write /w/a.log"}, no: []string{"write /w/b", "create /w/c.log"},
		},
		"a literal path with pattern characters is one path": {
			tree: []string{"/w/o*/f", "/w/other/f"}, allowWrite: []string{"/w/o*"},
			yes: []string{"write /w/o*/f"}, no: []string{"write /w/other/f"},
		},
		"an allowed path that does not exist can be made": {
			tree: []string{"/w/x"}, allowWrite: []string{"/w/out"},
			yes: []string{"mkdir /w/out", "create /w/out", "create /w/out/f"}, no: []string{"create /w/other", "mkdir /w/out2", "symlink /w/out", "rename /w/x /w/out"},
		},
		"an allowed path without a directory above it cannot": {
			tree: []string{"/w/x"}, allowWrite: []string{"/w/a/b"}, no: []string{"mkdir /w/a", "create /w/a/b"},
		},
		"an allowed link is followed": {
			tree: []string{"/w/l -> /r", "/r/f"}, allowWrite: []string{"/w/l"},
			yes: []string{"write /w/l/f", "write /r/f"}, no: []string{"create /w/f", "remove /w/l"},
		},
		"an allowed link whose target is writable anyway needs no trust": {
			tree: []string{"/w/l -> d", "/w/d/f"}, allowWrite: []string{"/w", "/w/l"}, yes: []string{"write /w/l/f", "remove /w/l"},
		},
		"case is ignored where the file system does": {
			tree: []string{"/w/Keep/f"}, allowWrite: []string{"/W"}, denyWrite: []string{"/w/kEEP", "/w/new"}, opts: pathrule.Options{FoldCase: true},
			yes: []string{"create /w/n"}, no: []string{"write /w/Keep/f", "create /w/NEW"},
		},
		"the whole tree": {
			tree: []string{"/w/f", "/etc/x"}, allowWrite: []string{"/"}, denyWrite: []string{"/etc"},
			yes: []string{"write /w/f", "create /n"}, no: []string{"write /etc/x", "rename /etc /e"},
		},
	})
}

func TestAnUnknownOperationIsDenied(t *testing.T) {
	p, err := pathrule.New(wire.FilePolicy{AllowWrite: entries([]string{"/"})}, memfs.New("/f"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []pathrule.Decision{p.Decide(0, "/f"), p.Decide(pathrule.OpRename, "/f"), p.Decide(99, "/f"), p.Decide(pathrule.OpRead, "f"),
		p.DecidePair(pathrule.OpWrite, "/f", "/g"), p.DecidePair(pathrule.OpRename, "f", "/g")} {
		if d.Allowed || d.Reason == "" {
			t.Errorf("allowed: %+v", d)
		}
	}
}

func TestDisabledAllowsEverything(t *testing.T) {
	p, err := pathrule.New(wire.FilePolicy{Disabled: true}, memfs.New("/f"))
	if err != nil {
		t.Fatal(err)
	}
	if !p.Decide(pathrule.OpWrite, "/f").Allowed || !p.DecidePair(pathrule.OpRename, "/f", "/g").Allowed {
		t.Error("denied")
	}
}

func TestErrorsNameTheEntryAndTheWayOut(t *testing.T) {
	for name, c := range map[string]struct {
		tree   []string
		policy wire.FilePolicy
		want   string
		hint   string
	}{
		"an allowed link in a writable directory": {
			tree:   []string{"/w/build -> /out", "/out/"},
			policy: wire.FilePolicy{AllowWrite: []wire.PathEntry{{Path: "/w", Rule: "."}, {Path: "/w/build", Rule: "build"}}},
			want:   `allowWrite "build": "/w/build" is a symbolic link that leads to "/out" and lies in a directory that the command may write`,
			hint:   `name "/out" itself in allowWrite, or remove the link`,
		},
		"an allowed link in circles": {
			tree:   []string{"/w/a -> b", "/w/b -> a"},
			policy: wire.FilePolicy{AllowWrite: []wire.PathEntry{{Path: "/w/a", Rule: "a"}}},
			want:   `allowWrite "a": "/w/a" is a symbolic link that leads nowhere`, hint: "remove the entry or the link",
		},
		"a broken pattern": {
			policy: wire.FilePolicy{DenyRead: []wire.PathEntry{{Path: "/w/[a", Glob: true, Rule: "[a"}}},
			want:   `denyRead "[a": "[" without "]": write "\[" for a bracket`, hint: `{"path": …, "literal": true} makes an entry that is no pattern`,
		},
		"an empty path":    {policy: wire.FilePolicy{DenyWrite: []wire.PathEntry{{Rule: "x"}}}, want: `denyWrite "x": the path is empty`},
		"a NUL":            {policy: wire.FilePolicy{DenyWrite: []wire.PathEntry{{Path: "/a\x00b", Rule: "x"}}}, want: `denyWrite "x": a path cannot contain a NUL byte`},
		"a path too long":  {policy: wire.FilePolicy{DenyRead: []wire.PathEntry{{Path: "/" + strings.Repeat("a", 4095), Rule: "x"}}}, want: `denyRead "x": 4096 bytes, a path has at most 4095`},
		"a relative path":  {policy: wire.FilePolicy{DenyRead: []wire.PathEntry{{Path: "a", Rule: "x"}}}, want: `denyRead "x": "a" is not an absolute, clean path (a bug, please report)`},
		"an unclean path":  {policy: wire.FilePolicy{DenyRead: []wire.PathEntry{{Path: "/a/../b", Rule: "x"}}}, want: `denyRead "x": "/a/../b" is not an absolute, clean path (a bug, please report)`},
		"a protected path": {policy: wire.FilePolicy{Protected: []wire.Protected{{Name: "a//b"}}}, want: `protected name "a//b": is not a sequence of names`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pathrule.New(c.policy, memfs.New(c.tree...))
			f, ok := err.(*wire.Fault)
			if !ok || f.Error() != c.want || f.Hint != c.hint || f.Code != wire.CodePolicy {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}
