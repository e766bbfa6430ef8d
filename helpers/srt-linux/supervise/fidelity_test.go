//go:build amd64

// The legacy calls of this architecture are among the random ones.

package supervise

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	seedFlag  = flag.Uint64("fidelity.seed", 0, "seed of the random calls; 0: a new one")
	roundFlag = flag.Int("fidelity.rounds", 2, "rounds of random calls per user")
)

func init() { insiders["random"] = randomCalls }

// TestFidelity runs the same random calls with and without supervision and compares results, errors and the tree that is left.
func TestFidelity(t *testing.T) {
	users(t, func(t *testing.T, uid int) {
		for round := range *roundFlag {
			seed := *seedFlag
			if seed == 0 {
				seed = uint64(time.Now().UnixNano())
			}
			seed += uint64(round)
			args := []string{strconv.FormatUint(seed, 10), "500"}
			plain := run(t, setup{Dir: workDir(t, uid, "1/2/3/4/") + "/1/2/3/4", Uid: uid, Inside: "random", Args: args, Plain: true})
			supervised := run(t, setup{Dir: workDir(t, uid, "1/2/3/4/") + "/1/2/3/4", Uid: uid, Inside: "random", Args: args, Names: sequence(".bashrc", ".claude/commands/", ".git/hooks/")})
			a, b := strings.Split(plain.Out, "\n"), strings.Split(supervised.Out, "\n")
			if plain.Status != 0 || len(a) < 500 {
				t.Fatalf("seed %d: the plain run failed:\n%s", seed, plain.Out)
			}
			for i := range max(len(a), len(b)) {
				if i >= len(a) || i >= len(b) || a[i] != b[i] {
					t.Errorf("seed %d: plain and supervised differ:\n  %s\n  %s", seed, at(a, i), at(b, i))
					break
				}
			}
		}
	})
}

func at(l []string, i int) string {
	if i < len(l) {
		return l[i]
	}
	return "(nothing)"
}

type randomCaller struct {
	*rand.Rand
	dir, file int
}

func pick[T any](r *randomCaller, of ...T) T { return of[r.IntN(len(of))] }

func (r *randomCaller) name() string {
	return pick(r, "a", "b", "c", "d", "e", "lnk", "dir", strings.Repeat("x", 255), strings.Repeat("y", 256), ".", "..", "sticky", "ro", "setgid", "fifo")
}

func (r *randomCaller) path() string {
	switch k := r.Float64(); {
	case k < .02:
		return ""
	case k < .03:
		return "/"
	case k < .04:
		return strings.Repeat("z/", 2100) + "q"
	}
	var parts []string
	for range pick(r, 1, 1, 1, 2, 2, 3) {
		parts = append(parts, r.name())
	}
	p := strings.Join(parts, "/")
	if r.Float64() < .12 {
		p += strings.Repeat("/", 1+r.IntN(2))
	}
	here, _ := os.Getwd()
	switch k := r.Float64(); {
	case k < .08:
		return here + "/" + p
	case k < .11:
		return "/proc/self/cwd/" + p
	case k < .12:
		return "/proc/thread-self/root" + here + "/" + p
	case k < .13:
		return fmt.Sprintf("/dev/fd/%d/%s", r.dir, p)
	}
	return p
}

func (r *randomCaller) dirfd() int {
	return pick(r, unix.AT_FDCWD, unix.AT_FDCWD, r.dir, r.dir, r.file, 99, -1)
}

func (r *randomCaller) mode() uint32 {
	return pick[uint32](r, 0o644, 0o777, 0o600, 0o4755, 0o1777, 0, 0o666, 0o2775)
}

func (r *randomCaller) flags() int {
	f := unix.O_CREAT | pick(r, unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR)
	for range pick(r, 0, 1, 1, 2) {
		f |= pick(r, unix.O_EXCL, unix.O_TRUNC, unix.O_APPEND, unix.O_NOFOLLOW, unix.O_DIRECTORY, unix.O_CLOEXEC, unix.O_NONBLOCK, unix.O_SYNC, 0, 0, 0)
	}
	if r.Float64() < .05 {
		f |= unix.O_TMPFILE
	}
	if r.Float64() < .05 {
		f |= unix.O_PATH
	}
	if r.Float64() < .9 { // a FIFO must not stop the test
		return f | unix.O_NONBLOCK
	}
	return f&^unix.O_ACCMODE | unix.O_RDWR
}

// randomCalls performs a number of calls and prints every result, then the tree.
func randomCalls(args []string) {
	seed, _ := strconv.ParseUint(args[0], 10, 64)
	n, _ := strconv.Atoi(args[1])
	r := &randomCaller{Rand: rand.New(rand.NewPCG(seed, 1))}
	unix.Umask(0o022)
	runtime.LockOSThread()
	signal.Notify(make(chan os.Signal, 1), unix.SIGUSR1)
	clearRestart(unix.SIGUSR1)
	time.Sleep(time.Millisecond) // makes the runtime open its descriptors now
	check("setup", setupTree())
	r.dir, _ = unix.Open("dir", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	r.file, _ = unix.Open("plainfile", unix.O_RDWR|unix.O_CREAT, 0o600)
	here, _ := os.Getwd()
	hide := strings.NewReplacer(here, "HERE", strings.Repeat("x", 255), "X255", strings.Repeat("y", 256), "Y256", strings.Repeat("z/", 2100), "LONG/")
	for i := range n {
		if r.Float64() < .05 {
			unix.Umask(pick(r, 0o022, 0o077, 0, 0o002, 0o027, 0o777))
		}
		fmt.Println(i, hide.Replace(r.call()))
	}
	unix.Umask(0o022)
	_ = filepath.WalkDir(".", func(p string, d os.DirEntry, err error) error {
		var st unix.Stat_t
		if err != nil || unix.Lstat(p, &st) != nil {
			fmt.Println("T", hide.Replace(p), errName(err))
			return nil
		}
		size, target := st.Size, ""
		if d.IsDir() {
			size = 0
		}
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			target, _ = os.Readlink(p)
		}
		fmt.Printf("T %s %o %d %d %d %d %s\n", hide.Replace(p), st.Mode, st.Uid, st.Gid, st.Nlink, size, hide.Replace(target))
		return nil
	})
}

func setupTree() error {
	for name, mode := range map[string]os.FileMode{"sticky": 0o777 | os.ModeSticky, "ro": 0o555, "setgid": 0o775 | os.ModeSetgid, "dir": 0o755} {
		if err := os.Mkdir(name, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(name, mode); err != nil {
			return err
		}
	}
	if err := unix.Mkfifo("fifo", 0o644); err != nil {
		return err
	}
	return os.Symlink("dir/new", "lnk")
}

func (r *randomCaller) call() string {
	targets := []string{"a", "dir", "nope/deep", "../../../", "lnk", "dir/a", "/proc/self/cwd/viaproc", "sticky/t", "", "loop", "dir/"}
	switch op := pick(r, "open", "openat", "openat", "creat", "mkdir", "mkdirat", "mknod", "mknodat", "rename", "renameat", "renameat2",
		"link", "linkat", "symlink", "symlinkat", "unlink", "rmdir", "bind", "linktmp", "chdir", "null"); op {
	case "open", "openat", "creat":
		d, p, f, m := unix.AT_FDCWD, r.path(), r.flags(), r.mode()
		var fd uintptr
		var e unix.Errno
		defer interrupt(unix.Gettid(), 150*time.Millisecond)()
		switch op {
		case "open":
			fd, _, e = unix.Syscall(unix.SYS_OPEN, uintptr(pathPointer(p)), uintptr(f), uintptr(m))
		case "creat":
			fd, _, e = unix.Syscall(unix.SYS_CREAT, uintptr(pathPointer(strings.ReplaceAll(p, "fifo", "a"))), uintptr(m), 0)
		default:
			d = r.dirfd()
			fd, _, e = unix.Syscall6(unix.SYS_OPENAT, uintptr(d), uintptr(pathPointer(p)), uintptr(f), uintptr(m), 0, 0)
		}
		res := fmt.Sprintf("%s %d %s %o %o: ", op, d, p, f, m)
		if e != 0 {
			return res + errName(e)
		}
		fl, _ := unix.FcntlInt(fd, unix.F_GETFL, 0)
		cl, _ := unix.FcntlInt(fd, unix.F_GETFD, 0)
		_, we := unix.Write(int(fd), []byte("data"))
		unix.Close(int(fd))
		return res + fmt.Sprintf("fd %d fl %o cl %d write %s", fd, fl, cl, errName(we))
	case "mkdir":
		p, m := r.path(), r.mode()
		return fmt.Sprintf("mkdir %s %o: %s", p, m, errName(unix.Mkdir(p, m)))
	case "mkdirat":
		d, p, m := r.dirfd(), r.path(), r.mode()
		return fmt.Sprintf("mkdirat %d %s %o: %s", d, p, m, errName(unix.Mkdirat(d, p, m)))
	case "mknod", "mknodat":
		d, p := unix.AT_FDCWD, r.path()
		m := r.mode() | pick[uint32](r, unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK, 0, unix.S_IFCHR, unix.S_IFDIR, unix.S_IFLNK)
		if op == "mknod" {
			return fmt.Sprintf("mknod %s %o: %s", p, m, errName(unix.Mknod(p, m, 0)))
		}
		d = r.dirfd()
		return fmt.Sprintf("mknodat %d %s %o: %s", d, p, m, errName(unix.Mknodat(d, p, m, 0)))
	case "rename":
		p, q := r.path(), r.path()
		_, _, e := unix.Syscall(unix.SYS_RENAME, uintptr(pathPointer(p)), uintptr(pathPointer(q)), 0)
		return fmt.Sprintf("rename %s %s: %s", p, q, errName(orNil(e)))
	case "renameat", "renameat2":
		d, p, d2, q, f := r.dirfd(), r.path(), r.dirfd(), r.path(), uint(0)
		if op == "renameat2" {
			f = pick[uint](r, 0, 1, 2, 3, 8)
		}
		return fmt.Sprintf("renameat2 %d %s %d %s %d: %s", d, p, d2, q, f, errName(unix.Renameat2(d, p, d2, q, f)))
	case "link":
		p, q := r.path(), r.path()
		return fmt.Sprintf("link %s %s: %s", p, q, errName(unix.Link(p, q)))
	case "linkat":
		d, p, d2, q, f := r.dirfd(), r.path(), r.dirfd(), r.path(), pick(r, 0, 0, 0x400, 0x1000, 1)
		return fmt.Sprintf("linkat %d %s %d %s %x: %s", d, p, d2, q, f, errName(unix.Linkat(d, p, d2, q, f)))
	case "symlink":
		p, q := pick(r, targets...), r.path()
		return fmt.Sprintf("symlink %s %s: %s", p, q, errName(unix.Symlink(p, q)))
	case "symlinkat":
		p, d, q := pick(r, targets...), r.dirfd(), r.path()
		return fmt.Sprintf("symlinkat %s %d %s: %s", p, d, q, errName(unix.Symlinkat(p, d, q)))
	case "unlink":
		p := r.path()
		return fmt.Sprintf("unlink %s: %s", p, errName(unix.Unlink(p)))
	case "rmdir":
		p := r.path()
		return fmt.Sprintf("rmdir %s: %s", p, errName(unix.Rmdir(p)))
	case "bind":
		p := r.path()
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err.Error()
		}
		defer unix.Close(fd)
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: p})
		name := ""
		if sa, e := unix.Getsockname(fd); e == nil && err == nil && p != "" && !strings.HasPrefix(p, "/proc") && !strings.HasPrefix(p, "/dev") {
			name = sa.(*unix.SockaddrUnix).Name
		}
		return fmt.Sprintf("bind %s: %s %s", p, errName(err), name)
	case "linktmp":
		fd, err := unix.Open("dir", unix.O_TMPFILE|unix.O_RDWR, 0o640)
		if err != nil {
			return "linktmp: " + errName(err)
		}
		defer unix.Close(fd)
		d, p := r.dirfd(), r.path()
		err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), d, p, unix.AT_SYMLINK_FOLLOW)
		return fmt.Sprintf("linktmp %d %s: %s", d, p, errName(err))
	case "chdir":
		p, q := pick(r, "dir", "sticky", "."), r.name()
		here, _ := unix.Open(".", unix.O_PATH, 0)
		defer unix.Close(here)
		if err := unix.Chdir(p); err != nil {
			return "chdir: " + errName(err)
		}
		err := unix.Mkdir(q, 0o755)
		_ = unix.Fchdir(here)
		return fmt.Sprintf("chdir %s mkdir %s: %s", p, q, errName(err))
	default:
		_, _, e := unix.Syscall6(pick[uintptr](r, unix.SYS_OPEN, unix.SYS_MKDIR, unix.SYS_RENAME, unix.SYS_BIND), 8, unix.O_CREAT, 8, 0, 0, 0)
		return "null: " + errName(orNil(e))
	}
}

// interrupt signals the thread until the answer is called: an open can be of a FIFO.
func interrupt(tid int, after time.Duration) func() {
	done := make(chan bool)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(after):
				_ = unix.Tgkill(unix.Getpid(), tid, unix.SIGUSR1)
			}
		}
	}()
	return func() { close(done) }
}

func orNil(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}
