package supervise

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
)

func TestGlobs(t *testing.T) {
	for name, c := range map[string]struct {
		tree  []string
		globs []string // below the directory
		steps []step
	}{
		"a match cannot be created at any depth": {tree: []string{"d/e/", "f"}, globs: []string{"**/*.pem"}, steps: steps(
			"creat a.pem", "EACCES", "creat d/e/a.pem", "EACCES", "creat a.pem2", "ok", "rename f d/a.pem", "EACCES", "link f x.pem", "EACCES", "symlink f x.pem", "EACCES",
			"mkdir n", "ok", "creat n/a.pem", "EACCES")},
		"a directory cannot be moved to where what it holds matches": {tree: []string{"conf/", "x/deep/a.pem", "y/a.txt"}, globs: []string{"conf/**/*.pem"}, steps: steps(
			"rename x conf/x", "EACCES", "rename y conf/y", "ok", "rename x/deep/a.pem conf/a.pem", "EACCES", "exchange x conf/y", "EACCES", "rename x z", "ok")},
		"a move inside the pattern's reach brings nothing new": {tree: []string{"x/b.key", "y/"}, globs: []string{"**/*.pem"}, steps: steps("rename x y/x", "ok", "rename y z", "ok")},
		"no link may stand for a directory of the fixed part": {tree: []string{"o/"}, globs: []string{"conf/sub/*.pem"}, steps: steps(
			"symlink o conf", "EACCES", "mkdir conf", "ok", "symlink ../o conf/sub", "EACCES", "symlink o other", "ok")},
		"everything below a directory": {tree: []string{"s/"}, globs: []string{"s/**"}, steps: steps("creat s/a", "EACCES", "mkdir s/d", "EACCES", "creat t", "ok")},
	} {
		t.Run(name, func(t *testing.T) {
			dir := workDir(t, 0, c.tree...)
			var names []view.Name
			for _, g := range c.globs {
				names = append(names, view.Name{Kind: view.NameGlob, Path: dir + "/" + g, Rule: g})
			}
			runSteps(t, setup{Dir: dir, Names: names}, c.steps)
		})
	}
}

func TestMounts(t *testing.T) {
	dir := workDir(t, 0, "a/b/kept", "a/c", "ro/f", "x/")
	abs := func(p string) string { return filepath.Join(dir, p) }
	o := runSteps(t, setup{Dir: dir, ReadOnly: []string{abs("a/b/kept"), abs("ro")}}, steps(
		"rename a z", "EBUSY", "rename a/b z", "EBUSY", "exchange x a", "EBUSY", "rename a/b/kept z", "EBUSY", "rename a/c z", "ok", "creat ro/new", "EROFS", "creat ro/f", "EROFS", "rdcreat ro/f", "ok",
		"mkdir ro/d", "EROFS", "rename z ro/z", "EXDEV", "link ro/f l", "EXDEV", "rename x y", "ok"))
	var got []string
	for _, v := range o.Violations {
		got = append(got, strings.Join([]string{v.Operation, strings.TrimPrefix(v.Target, dir), v.Rule}, " "))
	}
	slices.Sort(got)
	got = slices.Compact(got)
	want := []string{"file-write /a read-only", "file-write /a/b read-only", "file-write /ro/d read-only", "file-write /ro/f read-only", "file-write /ro/new read-only"}
	if !slices.Equal(got, want) {
		t.Errorf("violations\n got %q\nwant %q", got, want)
	}
}

func TestPrivateDirectories(t *testing.T) {
	dir := workDir(t, 1001, "tmp/d/", "w/")
	runSteps(t, setup{Dir: dir, Uid: 1001, Names: sequence(".bashrc", ".claude/commands/"), Private: []string{dir + "/tmp"}}, steps(
		"creat tmp/.bashrc", "ok", "creat tmp/d/.bashrc", "ok", "mkdir tmp/.claude", "ok", "mkdir tmp/.claude/commands", "ok", "rename tmp/.bashrc w/.bashrc", "EACCES", "rename tmp/.claude w/.claude", "EACCES"))
}

func TestCreateOnce(t *testing.T) {
	dir := workDir(t, 1001, "p/")
	abs := func(p string) string { return filepath.Join(dir, p) }
	runSteps(t, setup{Dir: dir, Uid: 1001, ReadOnly: []string{abs("p")}, CreateOnce: []string{abs("p/new"), abs("p/dir")}}, steps(
		"creat p/other", "EROFS", "creat p/new", "ok", "creat p/new", "EROFS", "mkdir p/dir", "ok", "mkdir p/dir", "EEXIST", "creat p/dir/f", "EROFS", "mkdir p/d2", "EROFS", "symlink x p/l", "EROFS"))
}

func TestUnixSockets(t *testing.T) {
	for name, c := range map[string]struct {
		allow []string // "path" or "glob:path", below the directory
		steps []step
	}{
		"own sockets can be reached, those of the host not": {steps: steps("bind s", "ok", "connect s", "ok", "connect host.sock", "EPERM", "connect d/host.sock", "EPERM", "connect nothing", "ENOENT", "connect plain", "ECONNREFUSED")},
		"a file":                             {allow: []string{"host.sock"}, steps: steps("connect host.sock", "ok", "connect d/host.sock", "EPERM", "connect l", "ok")},
		"a directory":                        {allow: []string{"d"}, steps: steps("connect d/host.sock", "ok", "connect host.sock", "EPERM")},
		"a pattern":                          {allow: []string{"glob:d/*.sock"}, steps: steps("connect d/host.sock", "ok", "connect host.sock", "EPERM")},
		"an entry that is a link":            {allow: []string{"ro/l"}, steps: steps("connect host.sock", "ok", "connect ro/l", "ok", "connect d/host.sock", "EPERM")},
		"a link to a host socket":            {steps: steps("symlink host.sock k", "ok", "connect k", "EPERM", "bind k", "EADDRINUSE")},
		"a host socket moved over an own":    {steps: steps("bind s", "ok", "rename host.sock s", "ok", "connect s", "EPERM")},
		"a host socket linked beside an own": {steps: steps("bind s", "ok", "unlink s", "ok", "link host.sock s", "ok", "connect s", "EPERM")},
		"no other socket under an allowed name": {allow: []string{"host.sock"}, steps: steps("rename host.sock old", "ok", "link d/host.sock host.sock", "EACCES", "rename d/host.sock host.sock", "EACCES",
			"bind host.sock", "ok", "connect host.sock", "ok")},
		"no directory with one under an allowed name": {allow: []string{"run/host.sock", "glob:*/x/host.sock"}, steps: steps("mkdir e", "ok", "rename host.sock e/host.sock", "ok", "rename e run", "EACCES",
			"mkdir a", "ok", "rename e a/x", "EACCES", "rename e free", "ok", "mkdir a/x", "ok", "rename a run", "ok")},
		"no directory with one into an allowed one": {allow: []string{"d"}, steps: steps("mkdir e", "ok", "rename host.sock e/s", "ok", "rename e d/e", "EACCES", "mkdir d/in", "ok", "rename d/host.sock d/in/s", "EACCES",
			"rename d/in d/out", "ok", "mkdir own", "ok", "bind own/s", "ok", "rename own d/own", "ok", "connect d/own/s", "ok")},
		"an own socket that moved":                 {steps: steps("bind s", "ok", "rename s d/t", "ok", "connect d/t", "ok", "link d/t u", "ok", "connect u", "ok")},
		"abstract names are the network namespace": {steps: steps("bind @abstract", "ok", "connect @abstract", "ok", "connect @other", "ECONNREFUSED")},
	} {
		t.Run(name, func(t *testing.T) {
			users(t, func(t *testing.T, uid int) {
				dir := workDir(t, uid, "d/", "plain", "l -> host.sock", "ro/l -> ../host.sock")
				for _, p := range []string{"host.sock", "d/host.sock"} {
					hostSocket(t, filepath.Join(dir, p), uid)
				}
				var allow []wire.PathEntry
				for _, p := range c.allow {
					p, glob := strings.CutPrefix(p, "glob:")
					allow = append(allow, wire.PathEntry{Path: filepath.Join(dir, p), Glob: glob})
				}
				o := runSteps(t, setup{Dir: dir, Uid: uid, Sockets: allow, ReadOnly: []string{filepath.Join(dir, "ro")}}, c.steps)
				refused := 0
				for _, s := range c.steps {
					if strings.HasPrefix(s.call, "connect") && s.want == "EPERM" {
						refused++
					}
				}
				seen := 0
				for _, v := range o.Violations {
					if v.Operation == "unix-socket" && strings.HasPrefix(v.Target, dir) {
						seen += v.Count
					}
				}
				if seen < refused {
					t.Errorf("%d violations for %d refused connects: %+v", seen, refused, o.Violations)
				}
			})
		})
	}
}

func TestExplain(t *testing.T) {
	dir := workDir(t, 1001, "ro/f", "hid/secret", "open")
	if err := os.Chmod(dir+"/hid/secret", 0); err != nil {
		t.Fatal(err)
	}
	o := runSteps(t, setup{Dir: dir, Uid: 1001, Explain: true, ReadOnly: []string{dir + "/ro"}, Hide: []string{dir + "/hid"}, Names: sequence(".bashrc")}, steps(
		"write ro/f", "EROFS", "read hid/secret", "EACCES", "read open", "ok", "write open", "ok", "read nothing", "ENOENT", "creat .bashrc", "EACCES", "creat new", "ok", "read ro/f", "ok"))
	var got []string
	for _, v := range o.Violations {
		got = append(got, v.Operation+" "+strings.TrimPrefix(v.Target, dir)+" "+v.Rule)
	}
	slices.Sort(got)
	if want := []string{"file-read /hid/secret hidden", "file-write /.bashrc rule .bashrc", "file-write /ro/f read-only"}; !slices.Equal(got, want) {
		t.Errorf("violations\n got %q\nwant %q", got, want)
	}
}

func TestTerminal(t *testing.T) {
	users(t, func(t *testing.T, uid int) {
		o := run(t, setup{Dir: workDir(t, uid), Uid: uid, Terminal: true, Argv: []string{"bash", "-c", `
			exec >out 2>&1
			echo own > /dev/tty
			setsid -w bash -c 'echo stranger > /dev/tty'
			script -qec 'echo inner > /dev/tty' /dev/null | tr -d '\r' > inner
			echo "inner: $(cat inner)" > /dev/tty
			echo "stranger: $(grep -c "No such device or address" out)" > /dev/tty`}})
		if got, want := strings.Join(strings.Fields(o.Out), " "), "own inner: inner stranger: 1"; got != want {
			t.Errorf("on the terminal: %q, want %q", got, want)
		}
	})
}

func TestRefusedCallIsSeen(t *testing.T) {
	dir := workDir(t, 0)
	o := runSteps(t, setup{Dir: dir}, steps("acct x", "EPERM"))
	if len(o.Violations) != 1 || o.Violations[0].Operation != "syscall" || o.Violations[0].Process != "test" {
		t.Errorf("violations %+v", o.Violations)
	}
}

func TestViolationsAreCounted(t *testing.T) {
	dir := workDir(t, 0)
	var list []step
	for range 50 {
		list = append(list, step{"creat .bashrc", "EACCES"})
	}
	o := runSteps(t, setup{Dir: dir, Names: sequence(".bashrc")}, list)
	want := wire.Violation{Operation: "file-write", Target: dir + "/.bashrc", Reason: "protected by rule .bashrc", Rule: "rule .bashrc", Process: "test", Count: 1}
	total := 0
	for _, v := range o.Violations {
		total += v.Count
		v.Count = 1
		if v != want {
			t.Errorf("got %+v, want %+v", v, want)
		}
	}
	if total != 50 || len(o.Violations) > 3 {
		t.Errorf("%d refusals in %d violations, want 50 in a few", total, len(o.Violations))
	}
}

// Everything that comes into being is told under an audit, nothing without; what was refused is told in neither case as allowed.
func TestAuditTellsWhatWasMade(t *testing.T) {
	list := steps("creat f", "ok", "creat f", "ok", "mkdir d", "ok", "symlink d s", "ok", "link f l", "ok", "rename l d/l", "ok", "rename g d/g", "ok", "mknod n", "ok",
		"bind sock", "ok", "creat .bashrc", "EACCES", "mkdir ro/d", "EROFS", "creat once", "ok", "read f", "ok")
	for _, audit := range []bool{false, true} {
		dir := workDir(t, 0, "ro/f", "g")
		o := runSteps(t, setup{Dir: dir, Audit: audit, Names: sequence(".bashrc"), ReadOnly: []string{dir + "/ro"}}, list)
		got := map[string]int{}
		for _, d := range o.Allowed {
			got[strings.TrimPrefix(d.Target, dir)] += d.Count
			d.Target, d.Count = "", 0
			want := wire.Decision{Verdict: wire.VerdictAllow, Operation: "file-write", Reason: "the file policy allows it", Process: "test"}
			if d != want {
				t.Errorf("got %+v, want %+v", d, want)
			}
		}
		want := map[string]int{}
		if audit {
			want = map[string]int{"/f": 2, "/d": 1, "/s": 1, "/l": 1, "/d/l": 1, "/d/g": 1, "/n": 1, "/sock": 1, "/once": 1}
		}
		if !maps.Equal(got, want) {
			t.Errorf("audit %v: told %v, want %v", audit, got, want)
		}
	}
}

// A flood of creations stays small, and pushes no refusal out.
func TestAuditIsBounded(t *testing.T) {
	dir := workDir(t, 0)
	var list []step
	for i := range 3 * reportKinds {
		list = append(list, step{"creat f" + strconv.Itoa(i), "ok"})
	}
	o := runSteps(t, setup{Dir: dir, Audit: true, Names: sequence(".bashrc")}, append(list, steps("creat .bashrc", "EACCES")...))
	total := 0
	for _, d := range o.Allowed {
		total += d.Count
	}
	if total != len(list) || len(o.Allowed) > 2*reportKinds+10 {
		t.Errorf("%d creations in %d events, want %d in fewer", total, len(o.Allowed), len(list))
	}
	if len(o.Violations) != 1 || o.Violations[0].Target != dir+"/.bashrc" {
		t.Errorf("violations %+v", o.Violations)
	}
}

func TestConfigErrors(t *testing.T) {
	for name, c := range map[string]struct {
		names   []view.Name
		sockets []wire.PathEntry
		want    string
	}{
		"a sequence must not be absolute":   {[]view.Name{{Kind: view.NameSequence, Path: "/a"}}, nil, `protect "/a": a sequence does not have this form`},
		"a path must be absolute":           {[]view.Name{{Kind: view.NamePath, Path: "a"}}, nil, `protect "a": a path does not have this form`},
		"a path must be clean":              {[]view.Name{{Kind: view.NamePath, Path: "/a/../b"}}, nil, `protect "/a/../b": not a clean path`},
		"an unknown kind is refused":        {[]view.Name{{Kind: "x", Path: "/a"}}, nil, `protect "/a": unknown kind "x"`},
		"a bad pattern is refused":          {[]view.Name{{Kind: view.NameGlob, Path: "/a/[b"}}, nil, `protect "/a/[b": `},
		"an allowed socket must be a path":  {nil, []wire.PathEntry{{Path: "s"}}, `start the supervisor: allow the unix socket "s": not an absolute path`},
		"a bad pattern of sockets is wrong": {nil, []wire.PathEntry{{Path: "/a/[b", Glob: true}}, `start the supervisor: allow the unix sockets "/a/[b": `},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Compile(c.names)
			if err == nil {
				_, err = New(Config{Proc: openProcDir(t), Rules: r, AllowSockets: c.sockets})
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestALinkToAnAllowedSocketMustStay(t *testing.T) {
	dir := workDir(t, os.Getuid(), "d/", "l -> host.sock", "k -> d")
	for entry, link := range map[string]string{"l": "l", "k/x": "k", "d/../l": "l"} {
		_, err := New(Config{Proc: openProcDir(t), AllowSockets: []wire.PathEntry{{Path: dir + "/" + entry}}})
		want := fmt.Sprintf("%q is a symbolic link and lies in a directory that the command may write", dir+"/"+link)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", entry, err, want)
		}
	}
}

// mkdir -p of a directory that is there, protected or not, asks for nothing that was refused.
func TestMkdirOfWhatExistsIsNoViolation(t *testing.T) {
	users(t, func(t *testing.T, uid int) {
		dir := workDir(t, uid, ".git/HEAD", ".git/hooks/", "f", "dangling -> nowhere", "up -> .git")
		s := setup{Dir: dir, Uid: uid, Names: sequence(".git/hooks/", ".bashrc")}
		o := runSteps(t, s, steps("mkdir .git/hooks", "EEXIST", "mkdir .git/hooks/", "EEXIST", "mkdir "+dir+"/.git/hooks", "EEXIST", "mkdir up/hooks", "EEXIST", "mkdir up/", "EEXIST", "mkdir f", "EEXIST",
			"mkdir dangling", "EEXIST", "mkdir .", "EEXIST", "mkdir ..", "EEXIST", "mkdir f/x", "ENOTDIR", "mkdir nowhere/x", "ENOENT", "mkdir /proc/self", "EEXIST", "mkdir new", "ok", "mkdir new", "EEXIST"))
		if len(o.Violations) != 0 {
			t.Errorf("violations %+v", o.Violations)
		}
	})
}
