package fileplan

import (
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

// entries reads entries; "glob:" makes one a pattern.
func entries(paths ...string) []wire.PathEntry {
	out := []wire.PathEntry{}
	for _, p := range paths {
		rest, glob := strings.CutPrefix(p, "glob:")
		out = append(out, wire.PathEntry{Path: rest, Glob: glob, Rule: rest})
	}
	return out
}

// steps writes the mount steps of a view, one a line.
func steps(v *view.View) []string {
	out := []string{}
	for _, l := range []struct {
		word string
		list []view.Target
	}{{"write", v.Write}, {"reopen", v.Reopen}, {"readonly", v.ReadOnly}, {"hide", v.Hide}, {"once", v.CreateOnce}} {
		for _, t := range l.list {
			s := l.word + " " + t.Path
			if t.Dir {
				s += "/"
			}
			if t.Link {
				s += "@"
			}
			out = append(out, s)
		}
	}
	return out
}

func names(v *view.View) []string {
	out := []string{}
	for _, n := range v.Names {
		out = append(out, n.Kind+" "+n.Path)
	}
	return out
}

var table = []wire.Protected{{Name: ".git/hooks", Dir: true}, {Name: ".git/config"}, {Name: ".bashrc"}, {Name: ".vscode", Dir: true}, {Name: ".claude/commands", Dir: true}}

type planCase struct {
	tree                                       []string
	dir                                        string
	denyRead, allowRead, allowWrite, denyWrite []string
	protected                                  []wire.Protected
	git                                        bool
	steps, names, notes                        []string // names and notes nil: not looked at
}

func (c planCase) policy() wire.FilePolicy {
	return wire.FilePolicy{DenyRead: entries(c.denyRead...), AllowRead: entries(c.allowRead...), AllowWrite: entries(c.allowWrite...),
		DenyWrite: entries(c.denyWrite...), Protected: c.protected, GitRules: c.git, ScanDepth: 3}
}

func TestSteps(t *testing.T) {
	for name, c := range map[string]planCase{
		"no entries: no steps": {tree: []string{"/w/f"}, steps: []string{}, names: []string{}},
		"nested entries are one step": {tree: []string{"/w/a/b/", "/w/c/d", "/w/c/e/"}, allowWrite: []string{"/w", "/w/a", "/w/a/b"}, denyWrite: []string{"/w/c", "/w/c/d", "/w/c/e"},
			steps: []string{"write /w/", "readonly /w/c/"}, names: []string{"path /w/c"}},
		"a writable entry inside a denied one is not applied": {tree: []string{"/w/c/d/"}, allowWrite: []string{"/w", "/w/c/d"}, denyWrite: []string{"/w/c"},
			steps: []string{"write /w/", "readonly /w/c/"}, notes: []string{`allowWrite "/w/c/d": writing there is denied`}},
		"hide, re-open writable inside a writable tree": {tree: []string{"/w/h/p/", "/w/h/s"}, allowWrite: []string{"/w"}, denyRead: []string{"/w/h"}, allowRead: []string{"/w/h/p"},
			steps: []string{"write /w/", "write /w/h/p/", "hide /w/h/"}, names: []string{"path /w/h"}},
		"hide, re-open read-only": {tree: []string{"/h/u/p/f", "/h/s"}, dir: "/h/u/p", denyRead: []string{"/h"}, allowRead: []string{"/h/u/p"},
			steps: []string{"reopen /h/u/p/", "hide /h/"}, names: []string{}},
		"re-open read-only with a writable place inside": {tree: []string{"/h/u/p/out/"}, dir: "/h/u/p", denyRead: []string{"/h"}, allowRead: []string{"/h/u/p"}, allowWrite: []string{"/h/u/p/out"},
			steps: []string{"write /h/u/p/out/", "reopen /h/u/p/", "hide /h/"}},
		"a re-opened place that is denied writing": {tree: []string{"/w/h/p/"}, allowWrite: []string{"/w"}, denyRead: []string{"/w/h"}, allowRead: []string{"/w/h/p"}, denyWrite: []string{"/w/h/p"},
			steps: []string{"write /w/", "reopen /w/h/p/", "hide /w/h/"}},
		"a link that leads to a re-opened place is made again": {tree: []string{"/usr/lib/x", "/lib -> usr/lib", "/w/"}, denyRead: []string{"/"}, allowRead: []string{"/lib", "/w"},
			steps: []string{"reopen /lib@", "reopen /usr/lib/", "reopen /w/", "hide //"}},
		"the whole tree writable": {tree: []string{"/w/", "/etc/x", "/proc/", "/dev/null"}, allowWrite: []string{"/"}, denyWrite: []string{"/etc", "/dev/null"},
			steps: []string{"write //", "readonly /etc/"}, notes: []string{`denyWrite "/dev/null": the command has a /dev of its own`}},
		"a missing denied path is a name and no step": {tree: []string{"/w/f"}, allowWrite: []string{"/w"}, denyWrite: []string{"/w/.env", "/w/a/b", "/o/x"},
			steps: []string{"write /w/"}, names: []string{"path /w/.env", "path /w/a/b"}, notes: []string{`denyWrite "/o/x": nothing there is writable anyway`}},
		"below a plain file": {tree: []string{"/w/f"}, allowWrite: []string{"/w"}, denyWrite: []string{"/w/f/x"},
			steps: []string{"write /w/", "readonly /w/f"}, names: []string{"path /w/f"}},
		"a protected link, dangling": {tree: []string{"/w/.bashrc -> gone"}, allowWrite: []string{"/w"}, protected: table[2:3],
			steps: []string{"write /w/", "readonly /w/.bashrc@"}, names: []string{"path /w/.bashrc", "path /w/gone", "sequence .bashrc"}},
		"an allowed path that does not exist": {tree: []string{"/w/f"}, allowWrite: []string{"/w/out", "/w/a/b"}, denyWrite: []string{"/w/out/secret"},
			steps: []string{"once /w/out"}, names: []string{"path /w/out/secret"},
			notes: []string{`allowWrite "/w/a/b": the directory above it does not exist, so nothing can be created there`}},
		"an allowed path that does not exist and that a pattern denies": {tree: []string{"/w/f"}, allowWrite: []string{"/w/out"}, denyWrite: []string{"glob:/w/o*"},
			steps: []string{}, notes: []string{`allowWrite "/w/out": cannot be made: writing to /w/out is denied by a pattern (/w/o*)`}},
		"an allowed path that does not exist, inside a writable tree": {tree: []string{"/w/f"}, allowWrite: []string{"/w", "/w/out"}, steps: []string{"write /w/"}},
		"allowWrite in what cannot be read": {tree: []string{"/h/p/", "/h/q", "/w/"}, denyRead: []string{"/h"}, allowWrite: []string{"/h/p", "/h/new"},
			steps: []string{"hide /h/"}, notes: []string{`allowWrite "/h/new": nothing there may be read (denyRead), so nothing may be written`, `allowWrite "/h/p": nothing there may be read (denyRead), so nothing may be written`}},
		"patterns": {tree: []string{"/w/a/x.pem", "/w/y.pem", "/w/k.key"}, allowWrite: []string{"/w"}, denyRead: []string{"glob:/w/**/*.pem"}, denyWrite: []string{"glob:/w/*.key"},
			steps: []string{"write /w/", "readonly /w/k.key", "hide /w/a/x.pem", "hide /w/y.pem"}, names: []string{"path /w/a/x.pem", "path /w/k.key", "path /w/y.pem", "glob /w/*.key"}},
		"a pattern below a link is based where it leads": {tree: []string{"/w/l -> /w/d", "/w/d/a.key"}, allowWrite: []string{"/w"}, denyWrite: []string{"glob:/w/l/*.key"},
			steps: []string{"write /w/", "readonly /w/d/a.key", "readonly /w/l@"}, names: []string{"path /w/d/a.key", "path /w/l", "glob /w/d/*.key"}},
		"a repository": {tree: []string{"/w/.git/HEAD", "/w/.git/config", "/w/.git/hooks/x", "/w/.git/objects/", "/w/.git/refs/", "/w/.git/description"}, allowWrite: []string{"/w"}, protected: table[:2], git: true,
			steps: []string{"write /w/", "readonly /w/.git/config", "readonly /w/.git/hooks/"},
			names: []string{"path /w/.git", "path /w/.git/config", "path /w/.git/hooks", "path /w/.git/info/attributes", "sequence .git/hooks", "sequence .git/config", "gitdir /w/.git"}},
		"entries in the command's own file systems do nothing": {tree: []string{"/w/", "/dev/kvm", "/proc/12/x", "/sys/a/", "/proc/sys/"}, allowWrite: []string{"/dev/kvm", "/sys/a", "/proc/sys"}, denyRead: []string{"/proc/12", "/sys/a"},
			steps: []string{"hide /sys/a/"},
			notes: []string{`allowWrite "/dev/kvm": the command has a /dev of its own`, `denyRead "/proc/12": the command sees no process of the host`, `allowWrite "/proc/sys": /proc and /sys stay read-only`, `allowWrite "/sys/a": nothing there may be read (denyRead), so nothing may be written`}},
		"allowRead with nothing to lift": {tree: []string{"/w/"}, allowRead: []string{"/w"}, steps: []string{}, notes: []string{`allowRead "/w": nothing above it is denied`}},
	} {
		t.Run(name, func(t *testing.T) {
			fs := memfs.New(append(c.tree, "/w/")...)
			dir := c.dir
			if dir == "" {
				dir = "/w"
			}
			v, notes, err := plan(c.policy(), Options{Dir: dir}, fs)
			if err != nil {
				t.Fatal(err)
			}
			if got := steps(v); !slices.Equal(got, c.steps) {
				t.Errorf("steps\n got %q\nwant %q", got, c.steps)
			}
			if got := names(v); c.names != nil && !slices.Equal(got, c.names) {
				t.Errorf("names\n got %q\nwant %q", got, c.names)
			}
			for _, n := range c.notes {
				if !slices.Contains(notes, n) {
					t.Errorf("note %q is missing in %q", n, notes)
				}
			}
		})
	}
}

func TestPlanErrors(t *testing.T) {
	for name, c := range map[string]struct {
		planCase
		want string
	}{
		"the working directory is denied":      {planCase{tree: []string{"/h/p/"}, dir: "/h/p", denyRead: []string{"/h"}}, `denyRead "/h/p": covers the working directory`},
		"the working directory is missing":     {planCase{tree: []string{"/h/"}, dir: "/h/p"}, `working directory "/h/p": is not a directory`},
		"/proc cannot be denied":               {planCase{tree: []string{"/w/", "/proc/"}, dir: "/w", denyRead: []string{"/proc"}}, `denyRead "/proc": /proc is made for the command and cannot be denied`},
		"patterns are not looked for in /proc": {planCase{tree: []string{"/w/", "/proc/cpuinfo"}, dir: "/w", denyRead: []string{"glob:/proc/cpu*"}}, `denyRead "/proc/cpu*": patterns are not looked for in /dev, /proc and /sys`},
		"/dev/null cannot be denied":           {planCase{tree: []string{"/w/", "/dev/null"}, dir: "/w", denyRead: []string{"/dev/null"}}, `denyRead "/dev/null": /dev/null is made for the command and cannot be denied`},
		"a link in a writable directory":       {planCase{tree: []string{"/w/l -> /o", "/o/"}, dir: "/w", allowWrite: []string{"/w", "/w/l"}}, `allowWrite "/w/l": "/w/l" is a symbolic link that leads to "/o" and lies in a directory that the command may write`},
		"a pattern over the whole directory":   {planCase{tree: []string{"/w/[a"}, dir: "/w", denyRead: []string{"glob:/w/[b"}}, `denyRead "/w/[b": "[" without "]": write "\[" for a bracket`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := plan(c.policy(), Options{Dir: c.dir}, memfs.New(c.tree...))
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestDisabledPlansNothing(t *testing.T) {
	v, _, err := plan(wire.FilePolicy{Disabled: true}, Options{Dir: "/w"}, memfs.New("/w/"))
	if err != nil || !v.Unrestricted || len(steps(v)) != 0 || v.Cwd != "/w" {
		t.Errorf("%+v, %v", v, err)
	}
}
