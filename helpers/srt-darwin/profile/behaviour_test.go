package profile

import (
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpltest"
)

// TestBehaviour asks the model whole system calls, one sentence of the contract a case. A question is "OPERATION PATH [PATH]".
func TestBehaviour(t *testing.T) {
	ops := map[string]pathrule.Op{"read": pathrule.OpRead, "stat": pathrule.OpStat, "list": pathrule.OpList, "exec": pathrule.OpExec, "write": pathrule.OpWrite,
		"create": pathrule.OpCreate, "mkdir": pathrule.OpMkdir, "remove": pathrule.OpRemove, "symlink": pathrule.OpSymlink, "chmod": pathrule.OpChmod,
		"rename": pathrule.OpRename, "link": pathrule.OpLink}
	for name, c := range map[string]struct {
		tree    string
		g       golden
		yes, no []string
	}{
		"everything is readable, nothing writable": {"/Users/u/p/f /etc/x", golden{},
			[]string{"read /Users/u/p/f", "list /", "exec /Users/u/p/f", "read /etc/x"}, []string{"write /Users/u/p/f", "create /Users/u/p/g", "chmod /Users/u/p/f", "remove /Users/u/p/f"}},
		"a hidden directory hides listing, names and content, and is not written": {"/Users/u/s/d/f", golden{DenyRead: []string{"/Users/u/s"}, AllowWrite: []string{"/Users/u"}},
			[]string{"stat /Users/u/s", "create /Users/u/x"},
			[]string{"list /Users/u/s", "stat /Users/u/s/d", "read /Users/u/s/d/f", "stat /Users/u/s/nothing", "create /Users/u/s/x", "remove /Users/u/s/d/f", "rename /Users/u/s /Users/u/t", "rename /Users/u/s/d /Users/u/d", "exec /Users/u/s/d/f"}},
		"links, dots and capitals do not lead around": {"/Users/u/s/f /Users/u/p/l->../s/f /Users/u/p/d->../s", golden{DenyRead: []string{"/Users/u/s"}, AllowWrite: []string{"/Users/u/p"}},
			nil, []string{"read /Users/u/p/l", "read /Users/u/p/d/f", "list /Users/u/p/d", "read /Users/u/p/../s/f", "read /System/Volumes/Data/Users/u/s/f"}},
		"allowRead opens again, denyRead inside of it closes again": {"/Users/u/p/f /Users/u/p/s/k /Users/u/p/s/o/c /Users/u/q", golden{DenyRead: []string{"/Users", "/Users/u/p/s"}, AllowRead: []string{"/Users/u/p", "/Users/u/p/s/o"}},
			[]string{"read /Users/u/p/f", "list /Users/u/p", "stat /Users/u", "stat /Users", "read /Users/u/p/s/o/c", "stat /Users/u/p/s"}, []string{"list /Users/u", "read /Users/u/q", "list /Users", "read /Users/u/p/s/k", "list /Users/u/p/s"}},
		"the working directory stays readable when its home is hidden": {"/Users/u/p/f", golden{DenyRead: []string{"/Users/u"}, AllowRead: []string{"/Users/u/p"}, AllowWrite: []string{"/Users/u/p"}},
			[]string{"list /Users/u/p", "read /Users/u/p/f", "write /Users/u/p/f", "create /Users/u/p/g", "stat /Users/u"}, []string{"create /Users/u/g", "list /Users/u"}},
		"a pattern hides what is there and what comes later": {"/Users/u/p/.env /Users/u/p/a/", golden{DenyRead: []string{"glob:/Users/u/p/**/.env"}, AllowWrite: []string{"/Users/u/p"}},
			[]string{"read /Users/u/p/.envrc", "stat /Users/u/p/.env"}, []string{"read /Users/u/p/.env", "rename /Users/u/p/.env /Users/u/p/x", "read /Users/u/p/a/.env", "create /Users/u/p/a/.env", "link /Users/u/p/.env /Users/u/p/x"}},
		"denyRead of a path that is not there yet": {"/Users/u/p/", golden{DenyRead: []string{"/Users/u/p/later/key"}, AllowWrite: []string{"/Users/u/p"}},
			[]string{"create /Users/u/p/x"}, []string{"read /Users/u/p/later/key"}},
		"denyWrite inside and above an allowed path wins": {"/Users/u/p/k/f /Users/u/q/r/f", golden{AllowWrite: []string{"/Users/u/p", "/Users/u/q/r"}, DenyWrite: []string{"/Users/u/p/k", "/Users/u/q"}},
			[]string{"create /Users/u/p/x", "read /Users/u/p/k/f"}, []string{"write /Users/u/p/k/f", "create /Users/u/p/k/x", "remove /Users/u/p/k/f", "rename /Users/u/p/k /Users/u/p/l", "write /Users/u/q/r/f"}},
		"a directory above a protected path stays": {"/Users/u/p/a/b/k", golden{AllowWrite: []string{"/Users/u/p"}, DenyWrite: []string{"/Users/u/p/a/b/k"}},
			[]string{"create /Users/u/p/a/b/x", "mkdir /Users/u/p/a/c"}, []string{"rename /Users/u/p/a /Users/u/p/z", "rename /Users/u/p/a/b /Users/u/p/z", "remove /Users/u/p/a/b"}},
		"a denied path that is not there cannot be made, by no road": {"/Users/u/p/z/k", golden{AllowWrite: []string{"/Users/u/p"}, DenyWrite: []string{"/Users/u/p/a/k"}},
			[]string{"create /Users/u/p/k", "mkdir /Users/u/p/b"}, []string{"create /Users/u/p/a/k", "mkdir /Users/u/p/a", "rename /Users/u/p/z /Users/u/p/a", "symlink /Users/u/p/a"}},
		"a denied path below a plain file protects the file": {"/Users/u/p/f", golden{AllowWrite: []string{"/Users/u/p"}, DenyWrite: []string{"/Users/u/p/f/x"}},
			nil, []string{"write /Users/u/p/f", "remove /Users/u/p/f"}},
		"a link out of the tree gives nothing, one into it works": {"/Users/u/p/out->/Users/u/q /Users/u/q/f /Users/u/in->p /Users/u/p/f", golden{AllowWrite: []string{"/Users/u/p"}},
			[]string{"write /Users/u/in/f", "create /Users/u/in/g"}, []string{"write /Users/u/p/out/f", "create /Users/u/p/out/g"}},
		"an allowed file, an allowed file that is not there": {"/Users/u/f /Users/u/p/", golden{AllowWrite: []string{"/Users/u/f", "/Users/u/g"}},
			[]string{"write /Users/u/f", "create /Users/u/g"}, []string{"remove /Users/u/f", "create /Users/u/h", "symlink /Users/u/g", "rename /Users/u/p /Users/u/f"}},
		"protected names in every directory, their neighbours not": {"/Users/u/p/a/b/c/d/ /Users/u/p/.claude/x /Users/u/p/.git/HEAD /Users/u/p/.git/config /Users/u/p/.git/hooks/", golden{AllowWrite: []string{"/Users/u/p"}, Protected: "all", GitRules: true},
			[]string{"create /Users/u/p/.claude/y", "create /Users/u/p/.git/index.lock", "write /Users/u/p/.git/HEAD", "create /Users/u/p/.bash", "mkdir /Users/u/p/vscode", "create /Users/u/p/.git/ORIG_HEAD"},
			[]string{"create /Users/u/p/.bashrc", "create /Users/u/p/a/b/c/d/.bashrc", "mkdir /Users/u/p/a/.vscode", "create /Users/u/p/.claude/settings.json", "mkdir /Users/u/p/.claude/hooks", "write /Users/u/p/.git/config", "create /Users/u/p/.git/hooks/pre-commit",
				"create /Users/u/p/.git/commondir", "create /Users/u/p/.git/Commondir", "create /Users/u/p/.git/config.worktree", "rename /Users/u/p/.git /Users/u/p/g", "rename /Users/u/p/.git/hooks /Users/u/p/h", "mkdir /Users/u/p/a/.claude", "mkdir /Users/u/p/a/.git", "symlink /Users/u/p/a/.git"}},
		"a writable git directory inside of another one": {"/Users/u/p/.git/.git/HEAD", golden{AllowWrite: []string{"/Users/u/p/.git/.git"}, GitRules: true},
			[]string{"write /Users/u/p/.git/.git/HEAD", "create /Users/u/p/.git/.git/index"}, []string{"create /Users/u/p/.git/.git/x", "create /Users/u/p/.git/.git/commondir", "create /Users/u/p/.git/index"}},
		"who works inside a protected name may": {"/Users/u/p/.vscode/ext/f", golden{AllowWrite: []string{"/Users/u/p/.vscode/ext"}, Protected: "all", Dir: "/Users/u/p/.vscode/ext"},
			[]string{"write /Users/u/p/.vscode/ext/f", "create /Users/u/p/.vscode/ext/g"}, []string{"create /Users/u/p/.vscode/ext/.vscode", "create /Users/u/p/.vscode/x"}},
		"the root is hidden and something opened": {"/bin/sh /Users/u/p/f", golden{DenyRead: []string{"/"}, AllowRead: []string{"/bin", "/Users/u/p"}},
			[]string{"exec /bin/sh", "read /Users/u/p/f", "stat /Users", "list /"}, []string{"list /Users", "read /etc/passwd"}},
	} {
		t.Run(name, func(t *testing.T) {
			var tree []string
			for _, e := range strings.Fields(c.tree) {
				tree = append(tree, strings.Replace(e, "->", " -> ", 1))
			}
			j, _, fs := build(t, c.g, tree...)
			for _, o := range sbpltest.Orders() {
				m := sbpltest.Machine{Profile: j, Order: o, FS: fs}
				ask := func(question string) error {
					w := strings.Fields(question)
					if len(w) == 3 {
						return m.DoPair(ops[w[0]], w[1], w[2])
					}
					return m.Do(ops[w[0]], w[1])
				}
				for _, q := range c.yes {
					if err := ask(q); err != nil {
						t.Errorf("%v: %s: %v", o, q, err)
					}
				}
				for _, q := range c.no {
					if ask(q) == nil {
						t.Errorf("%v: %s is allowed", o, q)
					}
				}
			}
		})
	}
}
