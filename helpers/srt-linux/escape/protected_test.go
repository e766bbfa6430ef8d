package escape

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Each stage's Work is a repository with protected names that exist (.git/config, .git/hooks, .bashrc, conf) and that do not
// (.zshrc, .vscode, .claude, missing, later/secret, anything.key). None may change or come into being; all else may.
func init() {
	classes["protected names"] = class{
		settings: func(string) string {
			return `{"filesystem":{"allowWrite":["."],"denyWrite":["*/conf","*/missing","*/later/secret","**/*.key"` + missingPaths() + `]}}`
		},
		prepare: func(t *testing.T, s stage) {
			for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n", ".git/hooks/sample": "#", ".git/objects/x": "",
				".git/refs/x": "", ".bashrc": "#", "conf": "conf", "later/free": "", "tool/commands/evil": "planted", "spare/config": "planted", "mine": "planted"} {
				write(t, filepath.Join(s.Work, name), text)
			}
		},
		state: func(s stage) string {
			var names []string
			for _, n := range protectedNames {
				names = append(names, s.Work+"/"+n)
			}
			return fingerprint(names...)
		},
		attacks: append(protectedAttacks, roads()...),
	}
}

var protectedNames = []string{".git/config", ".git/hooks", ".git/commondir", ".git/config.worktree", ".git/info/attributes", ".bashrc", ".zshrc", ".vscode",
	".claude/commands", ".claude/settings.json", "conf", "missing", "later/secret", "a.key", "spare/b.key", "tool/commands/c.key"}

// missingPaths names the missing path of each stage literally: a pattern and a path are protected by different rules.
func missingPaths() string {
	var b strings.Builder
	for _, a := range append(protectedAttacks, roads()...) {
		fmt.Fprintf(&b, `,%q,%q`, filepath.Base(stageOf("", a.name, host{}).Work)+"/missing", filepath.Base(stageOf("", a.name, host{}).Work)+"/later/secret")
	}
	return b.String()
}

// A road makes a name come into being in the current directory, which holds a file "mine".
var makeRoads = map[string]func(name string) error{
	"create":  create,
	"mkdir":   func(n string) error { return unix.Mkdir(n, 0o755) },
	"mkfifo":  func(n string) error { return unix.Mkfifo(n, 0o644) },
	"symlink": func(n string) error { return unix.Symlink("mine", n) },
	"link":    func(n string) error { return unix.Link("mine", n) },
	"rename":  func(n string) error { return unix.Rename("mine", n) },
	"bind": func(n string) error {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Bind(fd, &unix.SockaddrUnix{Name: n})
	},
	"name a nameless file": func(n string) error {
		return withOpen(".", unix.O_TMPFILE|unix.O_WRONLY, func(fd int) error {
			return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, n, unix.AT_SYMLINK_FOLLOW)
		})
	},
	"openat2": func(n string) error {
		fd, err := unix.Openat2(unix.AT_FDCWD, n, &unix.OpenHow{Flags: unix.O_WRONLY | unix.O_CREAT, Mode: 0o644})
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	},
	"upper half of the flags": func(n string) error { // the kernel's flags are 32 bits, registers are not
		fd, err := call(unix.SYS_OPENAT, unix.AT_FDCWD, n, uint64(1<<40|unix.O_CREAT|unix.O_WRONLY), 0o644)
		if err == nil {
			err = unix.Close(int(fd))
		}
		return err
	},
	"upper half of the directory": func(n string) error {
		_, err := call(unix.SYS_MKDIRAT, uint64(1<<40|0xffffff9c), n, 0o755)
		return err
	},
}

// A spelling of a name in the directory dir, which is also the working directory.
var spellings = map[string]func(dir, name string) string{
	"":                           func(_, n string) string { return n },
	" by its whole path":         func(d, n string) string { return d + "/" + n },
	" with dots and slashes":     func(_, n string) string { return ".//./tool/..//" + n },
	" by /proc/self/cwd":         func(_, n string) string { return "/proc/thread-self/cwd/" + n },
	" by the root of a process":  func(d, n string) string { return "/proc/self/root" + d + "/" + n },
	" through a link to here":    func(_, n string) string { _ = os.Symlink(".", "here"); return "here/" + n },
	" through a descriptor":      func(_, n string) string { return fmt.Sprintf("/dev/fd/%d/%s", openHere(), n) },
	" through the parent's root": func(d, n string) string { return parent("root") + d + "/" + n },
}

func openHere() int {
	fd, err := unix.Open(".", unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		panic(err)
	}
	return fd
}

// roads are every road to a missing mandatory name and one missing denyWrite path, and every spelling of one road.
func roads() []attack {
	var list []attack
	add := func(road, spelling, target string) {
		name := strings.ReplaceAll(road+" "+target+spelling, "/", " in ")
		list = append(list, attack{name, anybody, func(s stage) (string, error) {
			if err := unix.Chdir(s.Work); err != nil {
				return "", err
			}
			return "", makeRoads[road](spellings[spelling](s.Work, target))
		}})
	}
	for road := range makeRoads {
		for _, target := range []string{".zshrc", "missing", "a.key", "later/secret"} {
			add(road, "", target)
		}
	}
	for spelling := range spellings {
		if spelling != "" {
			add("create", spelling, ".zshrc")
			add("symlink", spelling, "later/secret")
		}
	}
	return list
}

// moved is an attack of several steps in Work; each is a rename unless it says otherwise.
func moved(steps ...string) func(stage) (string, error) {
	return func(s stage) (string, error) {
		if err := unix.Chdir(s.Work); err != nil {
			return "", err
		}
		for _, step := range steps {
			w := strings.Fields(step)
			var err error
			switch w[0] {
			case "mkdir":
				err = unix.Mkdir(w[1], 0o755)
			case "rmdir":
				err = unix.Rmdir(w[1])
			case "rm":
				err = os.RemoveAll(w[1])
			case "write":
				err = os.WriteFile(w[1], []byte("planted"), 0o644)
			case "link":
				err = unix.Link(w[1], w[2])
			case "symlink":
				err = unix.Symlink(w[1], w[2])
			case "swap":
				err = unix.Renameat2(unix.AT_FDCWD, w[1], unix.AT_FDCWD, w[2], unix.RENAME_EXCHANGE)
			case "mv":
				err = unix.Rename(w[1], w[2])
			default:
				panic(step)
			}
			if err != nil {
				return "", fmt.Errorf("%s: %w", step, err)
			}
		}
		return "", nil
	}
}

var protectedAttacks = []attack{
	{"append to the configuration", anybody, moved("write .git/config")},
	{"replace the configuration", anybody, moved("mv mine .git/config")},
	{"replace the configuration as git does", anybody, moved("write .git/config.lock", "mv .git/config.lock .git/config")},
	{"swap the configuration", anybody, moved("swap spare/config .git/config")},
	{"a second name of the configuration", anybody, moved("link .git/config name", "write name")},
	{"add a hook", anybody, moved("write .git/hooks/pre-commit")},
	{"replace the hooks", anybody, moved("mv .git/hooks old", "mkdir .git/hooks", "write .git/hooks/pre-commit")},
	{"swap the hooks", anybody, moved("swap spare .git/hooks")},
	{"another directory for the repository", anybody, moved("mv .git old", "mkdir .git", "mkdir .git/hooks", "write .git/hooks/pre-commit")},
	{"swap the repository", anybody, moved("mkdir new", "mkdir new/hooks", "write new/config", "swap new .git")},
	{"a common directory", anybody, moved("write .git/commondir")},
	{"the configuration of a worktree", anybody, moved("write .git/config.worktree")},
	{"attributes", anybody, moved("mkdir .git/info", "write .git/info/attributes")},
	{"move the directory above away and make it anew", anybody, func(s stage) (string, error) {
		if err := os.Rename(s.Work, s.Work+"-old"); err != nil {
			return "", err
		}
		return "", os.CopyFS(s.Work, os.DirFS(s.Work+"-old/spare"))
	}},
	{"remove an existing name", anybody, moved("rm .bashrc")},
	{"write an existing name", anybody, moved("write .bashrc")},
	{"replace an existing name", anybody, moved("mv mine .bashrc")},
	{"remove a denied file", anybody, moved("rm conf")},
	{"write a denied file", anybody, moved("write conf")},
	{"replace a denied file", anybody, moved("mv mine conf")},
	{"move a denied file away", anybody, moved("mv conf other")},
	{"a second name of a denied file", anybody, moved("link conf name", "write name")},
	{"chmod a denied file", anybody, do(func(s stage) error { return unix.Chmod(s.Work+"/conf", 0o777) })},
	{"times of a denied file", anybody, do(func(s stage) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, s.Work+"/conf", []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0)
	})},
	{"an attribute of a denied file", anybody, do(func(s stage) error { return unix.Setxattr(s.Work+"/conf", "user.attacked", []byte("1"), 0) })},
	{"truncate a denied file", anybody, do(func(s stage) error { return unix.Truncate(s.Work+"/conf", 0) })},
	{"reopen a denied file", anybody, do(func(s stage) error { return withOpen(s.Work+"/conf", unix.O_RDONLY, reopen) })},
	{"append to a denied file with O_CREAT", anybody, do(func(s stage) error {
		return withOpen(s.Work+"/conf", unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, func(fd int) error { _, err := unix.Write(fd, []byte("x")); return err })
	})},
	{"a directory that brings commands", anybody, moved("mv tool .claude")},
	{"a directory that is given commands", anybody, moved("mkdir .claude", "mv tool/commands .claude/commands")},
	{"a link that brings commands", anybody, moved("symlink tool .claude")},
	{"a directory that is swapped in", anybody, moved("mkdir .claude", "swap tool .claude")},
	{"a settings file in a new directory", anybody, moved("mkdir .claude", "write .claude/settings.json")},
	{"a directory of an editor", anybody, moved("mkdir .vscode", "write .vscode/tasks.json")},
	{"a link for a directory of an editor", anybody, moved("symlink tool .vscode")},
	{"move the parent of a missing path away and make it anew", anybody, moved("mv later old", "mkdir later", "write later/secret")},
	{"remove the parent of a missing path and make it anew", anybody, moved("rm later", "mkdir later", "write later/secret")},
	{"a link for the parent of a missing path", anybody, moved("mkdir other", "write other/secret", "mv later old", "symlink other later")},
	{"bring a missing path along", anybody, moved("mkdir other", "write other/secret", "rm later", "mv other later")},
	{"swap the parent of a missing path", anybody, moved("mkdir other", "write other/secret", "swap other later")},
	{"a directory that brings a match", anybody, moved("mkdir new", "write new/b.kez", "mv new/b.kez new/b.key", "rm spare", "mv new spare")},
	{"a deep match", anybody, moved("write tool/commands/c.key")},
	{"a match through a descriptor of a moved directory", anybody, do(func(s stage) error {
		return withOpen(s.Work+"/spare", unix.O_PATH, func(fd int) error {
			if err := unix.Rename(s.Work+"/spare", s.Work+"/other"); err != nil {
				return err
			}
			f, err := unix.Openat(fd, "b.key", unix.O_CREAT|unix.O_WRONLY, 0o644)
			if err != nil {
				return err
			}
			unix.Close(f)
			return unix.Rename(s.Work+"/other", s.Work+"/spare")
		})
	})},
	{"a match under a very long path", anybody, do(func(s stage) error { // longer than a path can be, and moved up
		if err := unix.Chdir(s.Work); err != nil {
			return err
		}
		part := strings.Repeat("d", 200)
		for range 25 {
			if err := unix.Mkdir(part, 0o755); err != nil {
				return err
			}
			if err := unix.Chdir(part); err != nil {
				return err
			}
		}
		if err := create("b.key"); err != nil {
			return err
		}
		return unix.Rename("b.key", s.Work+"/a.key")
	})},
}
