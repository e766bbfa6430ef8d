package plan

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-darwin/sbpltest"
)

// host is a machine in memory. Files whose content is "x" can be executed; directories named tmp-… are fresh.
type host struct{ *memfs.FS }

func (h host) Real(p string) (string, int) { return p, len(p) }

func (h host) Fresh(dir string) error {
	if !strings.Contains(dir, "/tmp-") || h.Lstat(dir) != pathrule.Dir {
		return errors.New("is not empty")
	}
	return nil
}

func (h host) Executable(p string) error {
	real, kind := pathrule.Resolve(h, p)
	switch {
	case kind == pathrule.Missing:
		return fs.ErrNotExist
	case kind == pathrule.Dir:
		return errors.New("is a directory")
	case string(h.ReadFile(real)) != "x":
		return fs.ErrPermission
	}
	return nil
}

func machine(more ...string) host {
	return host{memfs.New(append([]string{"/bin/sh = x", "/usr/bin/git = x", "/tmp -> private/tmp", "/private/tmp/tmp-1/", "/private/tmp/agent.sock",
		"/Users/u/p/tool = x", "/Users/u/p/data", "/Users/u/p/dir/", "/Users/u/hidden/secret = x", "/Users/u/bin/srt-darwin = x"}, more...)...)}
}

func request(change func(*wire.LaunchRequest)) wire.LaunchRequest {
	r := wire.LaunchRequest{Version: wire.Version, CommandID: "1",
		Command: wire.Command{Argv: []string{"git", "status"}, Env: []string{"PATH=/usr/bin:/bin", "TMPDIR=/private/tmp/tmp-1"}, Dir: "/Users/u/p"},
		Files:   wire.FilePolicy{AllowWrite: []wire.PathEntry{{Path: "/Users/u/p", Rule: "."}}, ScanDepth: 3},
		Network: wire.NetPolicy{ProxyAddr: "127.0.0.1:49152"},
		Host:    wire.HostContext{Home: "/Users/u", SessionID: "0123456789ab"}}
	if change != nil {
		change(&r)
	}
	return r
}

func TestBuild(t *testing.T) {
	p, err := Build(request(func(r *wire.LaunchRequest) {
		r.Command.PassFDs = []int{5}
		r.Command.Env = append(r.Command.Env, "DYLD_INSERT_LIBRARIES=/x")
		r.Files.DenyWrite = []wire.PathEntry{{Path: "/Users/u/p/**/*.pem", Glob: true, Rule: "**/*.pem"}}
	}), machine(), "/Users/u/bin/srt-darwin")
	if err != nil {
		t.Fatal(err)
	}
	if p.Version != wire.Version || !slices.Equal(p.Argv[:2], []string{"/usr/bin/sandbox-exec", "-p"}) || !slices.Equal(p.Argv[3:], []string{"--", "git", "status"}) {
		t.Errorf("argv %q", p.Argv)
	}
	if p.Dir != "/Users/u/p" || !p.NewSession || !slices.Contains(p.Env, "TMPDIR=/private/tmp/tmp-1") {
		t.Errorf("dir %q, new session %v, env %q", p.Dir, p.NewSession, p.Env)
	}
	if len(p.Descriptors) != 1 || p.Descriptors[0].Number != 5 || p.Descriptors[0].Kind != wire.FDPass {
		t.Errorf("descriptors %+v", p.Descriptors)
	}
	want := []string{`denyWrite "**/*.pem": a directory that is moved here as a whole may bring a match along`,
		"DYLD_INSERT_LIBRARIES does not reach the command: macOS takes it away from the system's own programs, and sandbox-exec is one"}
	for _, w := range want {
		if !slices.Contains(p.Notes, w) {
			t.Errorf("no note %q in %q", w, p.Notes)
		}
	}
	j, err := sbpltest.Load(p.Argv[2], sbpltest.MacOS14)
	if err != nil {
		t.Fatal(err)
	}
	if v := j.Decide(sbpltest.OperationFirst, sbpltest.Query{Op: "file-read-data", Path: "/etc/hosts", Vnode: sbpltest.Regular}); !v.Allow {
		t.Errorf("reading: %+v", v)
	}
	if v := j.Decide(sbpltest.OperationFirst, sbpltest.Query{Op: "lsopen"}); v.Allow || v.Message != "srt.0123456789ab.MQ" {
		t.Errorf("the tag: %+v", v)
	}
}

func TestSocketsAndLinks(t *testing.T) {
	p, err := Build(request(func(r *wire.LaunchRequest) {
		r.Process.AllowUnixSockets = []wire.PathEntry{{Path: "/tmp/agent.sock"}, {Path: "/tmp/app-*.sock", Glob: true}}
		r.Files.DenyRead = []wire.PathEntry{{Path: "/System/Volumes/Data/Users/u/hidden"}, {Path: "/tmp/agent.sock"}}
		r.Command.Terminal = true
	}), machine(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`(remote unix-socket (subpath "/private/tmp/agent.sock"))`, `(remote unix-socket (regex "^/private/tmp/app-[^/]*\\.sock$"))`,
		`(subpath "/Users/u/hidden")`, `(subpath "/private/tmp/agent.sock")`} {
		if !strings.Contains(p.Argv[2], want) {
			t.Errorf("no %s in\n%s", want, p.Argv[2])
		}
	}
	if p.NewSession {
		t.Error("a session of its own in spite of the terminal")
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change    func(*wire.LaunchRequest)
		code, err string
	}{
		"no such program": {func(r *wire.LaunchRequest) { r.Command.Argv = []string{"gitt"} },
			wire.CodeNotFound, `run "gitt": command not found`},
		"no such path": {func(r *wire.LaunchRequest) { r.Command.Argv = []string{"./gitt"} },
			wire.CodeNotFound, `run "./gitt": command not found`},
		"not executable": {func(r *wire.LaunchRequest) { r.Command.Argv = []string{"./data"} },
			wire.CodeNotExec, `run "/Users/u/p/data": permission denied`},
		"a directory": {func(r *wire.LaunchRequest) { r.Command.Argv = []string{"./dir"} },
			wire.CodeNotExec, `run "/Users/u/p/dir": is a directory`},
		"a hidden program": {func(r *wire.LaunchRequest) {
			r.Command.Argv = []string{"/Users/u/hidden/secret"}
			r.Files.DenyRead = []wire.PathEntry{{Path: "/Users/u/hidden"}}
		}, wire.CodeNotExec, `run "/Users/u/hidden/secret": denyRead hides it`},
		"not executable and nowhere else": {func(r *wire.LaunchRequest) {
			r.Command.Argv = []string{"data"}
			r.Command.Env[0] = "PATH=/usr/bin:/Users/u/p"
		}, wire.CodeNotExec, `run "/Users/u/p/data": permission denied`},
		"the user's own temporary directory": {func(r *wire.LaunchRequest) { r.Command.Env[1] = "TMPDIR=/private/tmp" },
			wire.CodeMalformed, `temporary directory "/private/tmp": was not made for this run: is not empty (a bug, please report)`},
		"a relative temporary directory": {func(r *wire.LaunchRequest) { r.Command.Env[1] = "TMPDIR=tmp" },
			wire.CodeMalformed, `temporary directory "tmp": is not an absolute path (a bug, please report)`},
		"no session": {func(r *wire.LaunchRequest) { r.Host.SessionID = "" },
			wire.CodeMalformed, `plan: "" is not a session id: 8 to 64 letters and digits (a bug, please report)`},
		"no command": {func(r *wire.LaunchRequest) { r.Command.Argv = nil },
			wire.CodeMalformed, "plan: there is no command, or its directory is not absolute"},
		"too many arguments": {func(r *wire.LaunchRequest) { r.Command.Argv = append(r.Command.Argv, strings.Repeat("x", 1<<20)) },
			wire.CodePolicy, `plan "git": profile, arguments and environment have `},
		"a link to allow writing through": {func(r *wire.LaunchRequest) {
			r.Files.AllowWrite = append(r.Files.AllowWrite, wire.PathEntry{Path: "/Users/u/p/link", Rule: "link"})
		}, wire.CodePolicy, `allowWrite "link": "/Users/u/p/link" is a symbolic link that leads to "/Users/u/out"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Build(request(c.change), machine("/Users/u/p/link -> ../out", "/Users/u/out/"), "")
			var f *wire.Fault
			if !errors.As(err, &f) || f.Code != c.code || !strings.HasPrefix(f.Error(), c.err) {
				t.Errorf("got  %v\nwant %s: %s", err, c.code, c.err)
			}
		})
	}
}

func TestProgramOnPath(t *testing.T) {
	for name, c := range map[string]struct {
		argv0, path string
	}{
		"by name":                    {"git", "/usr/bin"},
		"without a PATH":             {"sh", ""},
		"in the working directory":   {"tool", "/usr/bin:"},
		"behind one that cannot run": {"tool", "/Users/u/none:/Users/u/p"},
		"by path":                    {"./tool", "/usr/bin"},
	} {
		if _, err := Build(request(func(r *wire.LaunchRequest) {
			r.Command.Argv = []string{c.argv0}
			r.Command.Env[0] = "PATH=" + c.path
		}), machine(), ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnlimitedFiles(t *testing.T) {
	p, err := Build(request(func(r *wire.LaunchRequest) { r.Files = wire.FilePolicy{Disabled: true} }), machine(), "")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.Argv[2], "(allow file-read* file-write*)") || strings.Contains(p.Argv[2], "/Users/u") {
		t.Errorf("profile\n%s", p.Argv[2])
	}
}
