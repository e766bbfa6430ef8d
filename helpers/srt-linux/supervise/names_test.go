package supervise

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

// users runs a test as root and as an ordinary user.
func users(t *testing.T, f func(t *testing.T, uid int)) {
	for name, uid := range map[string]int{"root": 0, "ordinary user": 1001} {
		t.Run(name, func(t *testing.T) { f(t, uid) })
	}
}

// workDir makes a directory that uid owns, with what tree says in it: "d/", "f", "l -> target".
func workDir(t testing.TB, uid int, tree ...string) string {
	t.Helper()
	srttest.RequireRoot(t) // to give it to others
	dir, err := os.MkdirTemp(cmp.Or(os.Getenv("SUPERVISE_DIR"), "/tmp"), "sv")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.Chmod(dir, 0o755))
	for _, e := range tree {
		path, target, isLink := strings.Cut(e, " -> ")
		full := filepath.Join(dir, path)
		check(os.MkdirAll(filepath.Dir(full), 0o755))
		switch {
		case isLink:
			check(os.Symlink(target, full))
		case strings.HasSuffix(path, "/"):
			check(os.MkdirAll(full, 0o755))
		default:
			check(os.WriteFile(full, []byte("old\n"), 0o644))
		}
	}
	check(filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(p, uid, uid))
	}))
	return dir
}

// insiders are the functions that a command can be.
var insiders = map[string]func(args []string){
	"do": do,
}

func errName(err error) string {
	var e unix.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &e):
		return unix.ErrnoName(e)
	}
	return err.Error()
}

// do performs calls, one per argument, words separated by spaces, and prints each outcome.
func do(args []string) {
	for _, a := range args {
		f := strings.Fields(a)
		f = append(f, "", "")
		var err error
		switch f[0] {
		case "creat":
			err = openClose(f[1], unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC)
		case "excl":
			err = openClose(f[1], unix.O_CREAT|unix.O_WRONLY|unix.O_EXCL)
		case "rdcreat":
			err = openClose(f[1], unix.O_CREAT|unix.O_RDONLY)
		case "read":
			err = openClose(f[1], unix.O_RDONLY)
		case "write":
			err = openClose(f[1], unix.O_WRONLY)
		case "mkdir":
			err = unix.Mkdir(f[1], 0o755)
		case "mknod":
			err = unix.Mknod(f[1], unix.S_IFREG|0o644, 0)
		case "rename":
			err = unix.Rename(f[1], f[2])
		case "exchange":
			err = unix.Renameat2(unix.AT_FDCWD, f[1], unix.AT_FDCWD, f[2], unix.RENAME_EXCHANGE)
		case "link":
			err = unix.Link(f[1], f[2])
		case "symlink":
			err = unix.Symlink(f[1], f[2])
		case "unlink":
			err = unix.Unlink(f[1])
		case "rmdir":
			err = unix.Rmdir(f[1])
		case "tmpfile":
			var fd int
			if fd, err = unix.Open(filepath.Dir(f[1]), unix.O_TMPFILE|unix.O_WRONLY, 0o644); err == nil {
				err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, f[1], unix.AT_SYMLINK_FOLLOW)
				unix.Close(fd)
			}
		case "bind", "connect":
			var fd int
			if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
				break
			}
			if f[0] == "bind" {
				if err = unix.Bind(fd, &unix.SockaddrUnix{Name: f[1]}); err == nil {
					err = unix.Listen(fd, 16) // stays open
				}
			} else {
				err = unix.Connect(fd, &unix.SockaddrUnix{Name: f[1]})
			}
		case "chdir":
			err = unix.Chdir(f[1])
		case "acct":
			err = unix.Acct("")
		default:
			err = errors.New("unknown word " + f[0])
		}
		fmt.Printf("%s: %s\n", a, errName(err))
	}
}

func openClose(path string, flags int) error {
	fd, err := unix.Open(path, flags, 0o644)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// step is one call and the answer that it must get.
type step struct{ call, want string }

func steps(s ...string) (list []step) {
	for i := 0; i < len(s); i += 2 {
		list = append(list, step{s[i], s[i+1]})
	}
	return list
}

func runSteps(t *testing.T, s setup, list []step) outcome {
	t.Helper()
	s.Inside = "do"
	for _, st := range list {
		s.Args = append(s.Args, st.call)
	}
	o := run(t, s)
	lines := strings.Split(strings.TrimSpace(o.Out), "\n")
	for i, st := range list {
		want := st.call + ": " + st.want
		if i >= len(lines) || lines[i] != want {
			t.Errorf("step %d: want %q in\n%s", i, want, o.Out)
			break
		}
	}
	return o
}

func sequence(paths ...string) (n []view.Name) {
	for _, p := range paths {
		path, tree := strings.CutSuffix(p, "/")
		n = append(n, view.Name{Kind: view.NameSequence, Path: path, Tree: tree, Git: strings.HasPrefix(p, ".git/"), Rule: "rule " + p})
	}
	return n
}

func TestNames(t *testing.T) {
	bashrc := sequence(".bashrc")
	commands := sequence(".claude/commands/")
	hooks := sequence(".git/hooks/", ".git/config")
	for name, c := range map[string]struct {
		tree  []string
		names []view.Name
		path  []string // NamePath, relative to the directory
		git   []string // NameGitDir, the same
		glob  []string // NameGlob, the same
		steps []step
	}{
		"a protected name cannot be created by any road": {tree: []string{"f", "d/"}, names: bashrc, steps: steps(
			"creat .bashrc", "EACCES", "excl .bashrc", "EACCES", "rdcreat .bashrc", "EACCES", "mkdir .bashrc", "EACCES", "mkdir .bashrc/", "EACCES", "mknod .bashrc", "EACCES",
			"rename f .bashrc", "EACCES", "rename d .bashrc", "EACCES", "link f .bashrc", "EACCES", "symlink f .bashrc", "EACCES", "tmpfile ./.bashrc", "EACCES",
			"bind .bashrc", "EACCES", "creat d/.bashrc", "EACCES", "creat d/../.bashrc", "EACCES", "creat other", "ok")},
		"an existing name of a sequence is not replaced": {tree: []string{".bashrc", "f"}, names: bashrc, steps: steps(
			"creat .bashrc", "ok", "rdcreat .bashrc", "ok", "excl .bashrc", "EEXIST", "mkdir .bashrc", "EEXIST", "rename f .bashrc", "EACCES",
			"exchange f .bashrc", "EACCES", "exchange .bashrc f", "EACCES", "bind .bashrc", "EADDRINUSE", "rename .bashrc x", "ok", "rename x .bashrc", "EACCES")},
		"an existing path under a rule is not written through O_CREAT, renamed or linked": {tree: []string{"s", "f"}, path: []string{"s"}, steps: steps(
			"creat s", "EACCES", "rdcreat s", "ok", "excl s", "EEXIST", "mkdir s", "EEXIST", "rename s x", "EACCES", "rename f s", "EACCES",
			"link s x", "EACCES", "exchange f s", "EACCES", "exchange s f", "EACCES", "bind s", "EADDRINUSE")},
		"in a git directory only what git work writes comes into being": {tree: []string{"r/HEAD", "r/config", "r/objects/", "x/", "f"}, git: []string{"r"}, steps: steps(
			"creat r/index", "ok", "creat r/MERGE_MSG", "ok", "mkdir r/refs", "ok", "mkdir r/hooks", "EACCES", "creat r/commondir", "EACCES", "creat r/config.lock", "ok", "rename r/config.lock r/config", "EACCES",
			"rename r/config r/c_X", "EACCES", "symlink /tmp r/hooks", "EACCES", "link f r/commondir", "EACCES", "link r/config f2", "EACCES", "rename x r/hooks", "EACCES", "creat r/objects/hooks", "ok",
			"bind r/commondir", "EACCES", "exchange r/config f", "EACCES", "exchange f r/config", "EACCES", "creat r/open", "ok", "creat r/open.lock", "ok")},
		"a final link is judged where it leads": {tree: []string{"l -> .bashrc", "m -> l", "d/", "d/n -> ../.bashrc"}, names: bashrc, steps: steps(
			"creat l", "EACCES", "creat m", "EACCES", "creat d/n", "EACCES", "excl l", "EEXIST")},
		"a directory that the run made may hold protected names": {names: append(slices.Clone(bashrc), commands...), steps: steps(
			"mkdir new", "ok", "creat new/.bashrc", "ok", "mkdir new/.claude", "ok", "mkdir new/.claude/commands", "ok", "creat new/.claude/commands/x", "ok",
			"rename new/.bashrc .bashrc", "EACCES", "rename new/.claude .claude", "EACCES", "rename new/.claude/commands c", "ok", "rename new/.claude .claude", "ok",
			"rename c .claude/commands", "EACCES", "rename new again", "ok", "creat again/.bashrc", "ok")},
		"a sequence counts from an existing directory when its first part is new": {names: commands, steps: steps(
			"mkdir .claude", "ok", "creat .claude/other", "ok", "mkdir .claude/commands", "EACCES", "symlink /tmp .claude/commands", "EACCES")},
		"what lies inside a protected tree is protected": {tree: []string{"d/.claude/commands/old"}, names: commands, steps: steps(
			"creat d/.claude/commands/new", "EACCES", "mkdir d/.claude/commands/sub", "EACCES", "rename d/.claude/commands/old d/x", "ok", "rename d/.claude e", "ok")},
		"no link may stand for a part of a sequence": {tree: []string{"d/commands/", "l -> d"}, names: commands, steps: steps(
			"symlink d .claude", "EACCES", "rename l .claude", "EACCES", "link l .claude", "EACCES", "rename d .claude", "EACCES", "exchange d l", "ok")},
		"a repository that the run made is its own": {names: hooks, steps: steps(
			"mkdir .git", "ok", "mkdir .git/hooks", "ok", "creat .git/hooks/x", "ok", "creat .git/config", "ok", "rename .git/config .git/c2", "ok")},
		"a repository made elsewhere can be moved in": {names: hooks, steps: steps(
			"mkdir w", "ok", "mkdir w/hooks", "ok", "creat w/config", "ok", "rename w .git", "ok", "creat .git/hooks/x", "ok")},
		"an existing repository is protected": {tree: []string{".git/HEAD", "w/hooks/"}, names: hooks, steps: steps(
			"mkdir .git/hooks", "EACCES", "creat .git/config", "EACCES", "creat .git/config.lock", "ok", "rename .git/config.lock .git/config", "EACCES", "rename w/hooks .git/hooks", "EACCES",
			"creat .git/index", "ok", "rename .git/HEAD .git/H", "ok")},
		"an absolute path holds in directories that the run made": {names: nil, path: []string{"a/b/secret"}, steps: steps(
			"mkdir a", "ok", "mkdir a/b", "ok", "creat a/b/secret", "EACCES", "creat a/secret", "ok", "rename a/secret a/b/secret", "EACCES", "mkdir x", "ok", "mkdir x/b", "ok",
			"creat x/b/secret", "ok", "rename x/b a/c", "ok", "rename a/c a/b", "EACCES", "rename a y", "ok", "rename x a", "ok", "mkdir a/b", "ok", "symlink /tmp a/b2", "ok", "rename y/b a/b", "ok")},
		"no link may stand for a directory above an absolute path": {tree: []string{"o/"}, path: []string{"a/b/secret"}, steps: steps(
			"symlink o a", "EACCES", "mkdir a", "ok", "symlink ../o a/b", "EACCES", "symlink ../o a/c", "ok", "rename a/c a/b", "EACCES")},
		"two paths that only differ in case are two": {path: []string{"Secret", "secret", "D/x", "d/y"}, steps: steps(
			"creat Secret", "EACCES", "creat secret", "EACCES", "creat SECRET", "ok", "mkdir D", "ok", "mkdir d", "ok", "creat D/x", "EACCES", "creat d/y", "EACCES",
			"creat D/y", "ok", "creat d/x", "ok")},
		"no link may stand for the directory that a pattern begins with": {tree: []string{"o/", "l -> o", "d/a -> ../o"}, glob: []string{"a/**/f"}, steps: steps(
			"symlink o a", "EACCES", "rename l a", "EACCES", "link l a", "EACCES", "exchange l o", "ok", "rename o a", "EACCES", "rename d/a a", "EACCES", "rename l a", "ok", "mkdir a/x", "ok",
			"creat a/x/f", "EACCES", "creat a/f", "EACCES", "rename d e", "ok", "exchange a e/a", "EACCES")},
		"an existing path under a rule keeps the directories above it in place": {tree: []string{"a/b/secret"}, path: []string{"a/b/secret"}, steps: steps(
			"rename a/b/secret x", "EACCES", "rename a/b x", "EACCES", "rename a x", "EACCES", "creat a/b/other", "ok")},
	} {
		t.Run(name, func(t *testing.T) {
			users(t, func(t *testing.T, uid int) {
				dir := workDir(t, uid, c.tree...)
				names := slices.Clone(c.names)
				for _, p := range c.path {
					names = append(names, view.Name{Kind: view.NamePath, Path: filepath.Join(dir, p), Rule: p})
				}
				for _, p := range c.git {
					names = append(names, view.Name{Kind: view.NameGitDir, Path: filepath.Join(dir, p), Open: []string{"open"}, Rule: p})
				}
				for _, p := range c.glob {
					names = append(names, view.Name{Kind: view.NameGlob, Path: filepath.Join(dir, p), Tree: true, Rule: p})
				}
				runSteps(t, setup{Dir: dir, Uid: uid, Names: names}, c.steps)
			})
		})
	}
}

// hostSocket is a socket that was bound outside the sandbox.
func hostSocket(t *testing.T, path string, uid int) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 64), os.Chown(path, uid, uid))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
}

func openProcDir(t *testing.T) int {
	t.Helper()
	fd, err := unix.Open("/proc", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}
