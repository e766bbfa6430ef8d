//go:build amd64

// The race uses the legacy calls of this architecture.

package supervise

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var raceFlag = flag.Duration("race.time", 4*time.Second, "how long the race test runs")

func init() { insiders["race"] = race }

// TestRace lets 34 threads change path strings, descriptors, directories and links under each other's calls, to make protected names
// appear and to reach a host socket, while two threads watch. The control without supervision must succeed at once.
func TestRace(t *testing.T) {
	for name, c := range map[string]struct {
		plain bool
		time  time.Duration
	}{"supervised": {false, *raceFlag}, "control": {true, time.Second}} {
		t.Run(name, func(t *testing.T) {
			dir := workDir(t, 0, ".git/hooks/", ".claude/commands/", "v/", "dir/", "d1/", "lsrc", "d2 -> .git/hooks", "s1 -> host.sock", "old/keep")
			hostSocket(t, dir+"/host.sock", 0)
			o := run(t, setup{Dir: dir, Inside: "race", Args: []string{c.time.String()}, Plain: c.plain,
				Names: sequence(".bashrc", ".git/hooks/pre-commit", ".claude/commands/evil")})
			t.Log(strings.TrimSpace(o.Out))
			appeared := strings.Contains(o.Out, "APPEARED")
			if appeared != c.plain {
				t.Errorf("protected names appeared: %v", appeared)
			}
			if reached := strings.Contains(o.Out, "REACHED"); reached != c.plain {
				t.Errorf("host socket reached: %v", reached)
			}
			if !strings.Contains(o.Out, "harmless") {
				t.Error("the race did not end")
			}
		})
	}
}

// A flipper is a path that other threads change while calls read it.
type flipper [64]byte

func (f *flipper) set(s string) {
	copy(f[:], s)
	f[len(s)] = 0
}

func (f *flipper) ptr() uintptr { return uintptr(unsafe.Pointer(f)) }

type unixAddr struct {
	family uint16
	path   [108]byte
}

func sys(nr uintptr, a ...uintptr) (uintptr, bool) {
	a = append(a, 0, 0, 0, 0, 0, 0)
	r, _, e := unix.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	return r, e == 0
}

func race(args []string) {
	length, err := time.ParseDuration(args[0])
	check("duration", err)
	var p1, p2 flipper
	p1.set("aaaaaaa")
	p2.set("zz")
	sock := unixAddr{family: unix.AF_UNIX}
	copy(sock.path[:], "sockaaa")
	target := unixAddr{family: unix.AF_UNIX}
	copy(target.path[:], "own.sock")
	own, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	check("own socket", unix.Bind(own, &unix.SockaddrUnix{Name: "own.sock"}))
	check("own socket", unix.Listen(own, 4096))
	go func() {
		for {
			if fd, _, err := unix.Accept(own); err == nil {
				unix.Close(fd)
			}
		}
	}()
	good, _ := unix.Open("dir", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	safe, _ := unix.Open(".git/hooks", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	swap, _ := unix.Dup(good)
	const cwd = ^uintptr(99)
	var stop atomic.Bool
	var calls, made, reached atomic.Int64
	connect := func() bool {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0) // the host does not accept
		if err != nil {
			return false
		}
		defer unix.Close(fd)
		if _, ok := sys(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&target)), unsafe.Sizeof(target)); !ok {
			return false
		}
		sa, err := unix.Getpeername(fd)
		if u, ok := sa.(*unix.SockaddrUnix); err == nil && ok && !strings.Contains(u.Name, "own") && strings.Contains(u.Name, "host") {
			reached.Add(1)
		}
		return true
	}
	open := func(dir uintptr, path uintptr, flags uintptr) bool {
		fd, ok := sys(unix.SYS_OPENAT, dir, path, unix.O_CREAT|unix.O_WRONLY|flags, 0o644)
		if ok {
			unix.Close(int(fd))
		}
		return ok
	}
	strategies := []func(i int, tmp string) bool{
		func(i int, _ string) bool { p1.set(".bashrc"); p1.set("aaaaaaa"); return false },
		func(i int, _ string) bool {
			p2.set(".git/hooks/pre-commit")
			copy(sock.path[:], ".bashrc\x00")
			p2.set("zz")
			copy(sock.path[:], "sockaaa\x00")
			return false
		},
		func(i int, _ string) bool { return open(cwd, p1.ptr(), 0) },
		func(i int, _ string) bool {
			_, ok := sys(unix.SYS_MKDIR, p1.ptr(), 0o755)
			_ = unix.Rmdir("aaaaaaa")
			return ok
		},
		func(i int, tmp string) bool {
			_ = os.WriteFile(tmp, nil, 0o600)
			_, ok := sys(unix.SYS_RENAME, uintptr(pathPointer(tmp)), p1.ptr())
			_ = unix.Unlink("aaaaaaa")
			return ok
		},
		func(i int, _ string) bool {
			_, ok := sys(unix.SYS_SYMLINK, uintptr(pathPointer("x")), p1.ptr())
			_, ok2 := sys(unix.SYS_LINK, uintptr(pathPointer("lsrc")), p2.ptr())
			_ = unix.Unlink("zz")
			_ = unix.Unlink("aaaaaaa")
			return ok || ok2
		},
		func(i int, _ string) bool {
			from := safe
			if i&1 == 1 {
				from = good
			}
			_ = unix.Dup2(from, swap)
			return false
		},
		func(i int, _ string) bool {
			return open(uintptr(swap), uintptr(pathPointer([]string{"pre-commit", ".bashrc2"}[i&1])), 0)
		},
		func(i int, _ string) bool {
			return unix.Renameat2(unix.AT_FDCWD, "d1", unix.AT_FDCWD, "d2", unix.RENAME_EXCHANGE) == nil
		},
		func(i int, _ string) bool {
			ok := open(cwd, uintptr(pathPointer("d1/pre-commit")), uintptr(i&1)*unix.O_EXCL)
			_ = unix.Unlink("d1/pre-commit")
			return ok
		},
		func(i int, _ string) bool { // make parts of a sequence elsewhere and move them in, while the next one fills them
			_, _ = unix.Mkdir("w", 0o755), unix.Mkdir("w/commands", 0o755)
			_ = unix.Rename("w", "v/.claude")
			_ = unix.Rename("w/commands", "v/.claude/commands")
			_ = unix.Rename("w/commands", "v/commands")
			_ = unix.Rename("v", "u")
			_ = unix.Rename("u", "v")
			_ = unix.Rename("v/.claude", "w")
			_, _ = unix.Unlink("v/commands/evil"), unix.Rmdir("v/commands")
			return false
		},
		func(i int, _ string) bool {
			ok := open(cwd, uintptr(pathPointer("w/commands/evil")), 0)
			if i%16 == 0 {
				_, _ = unix.Unlink("w/commands/evil"), unix.Rmdir("w/commands")
			}
			return ok
		},
		func(i int, _ string) bool {
			ok := unix.Symlink([]string{".bashrc", "harmless"}[i&1], "sl") == nil
			_ = unix.Unlink("sl")
			return ok
		},
		func(i int, _ string) bool { return open(cwd, uintptr(pathPointer("sl")), 0) },
		func(i int, _ string) bool {
			fd, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			_, ok := sys(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&sock)), unsafe.Sizeof(sock))
			unix.Close(fd)
			_ = unix.Unlink("sockaaa")
			return ok
		},
		func(i int, _ string) bool {
			fd, err := unix.Open("dir", unix.O_TMPFILE|unix.O_WRONLY, 0o644)
			if err != nil {
				return false
			}
			_, ok := sys(unix.SYS_LINKAT, cwd, uintptr(pathPointer(fmt.Sprintf("/proc/self/fd/%d", fd))), cwd, p1.ptr(), unix.AT_SYMLINK_FOLLOW)
			unix.Close(fd)
			_ = unix.Unlink("aaaaaaa")
			_, ok2 := sys(unix.SYS_MKNOD, p2.ptr(), unix.S_IFREG|0o644, 0)
			return ok || ok2
		},
		func(i int, _ string) bool { // an old directory takes the name of one that was just made
			ok := unix.Mkdir("fresh", 0o755) == nil
			_ = unix.Rmdir("fresh")
			_ = unix.Rename("old", "fresh")
			_ = open(cwd, uintptr(pathPointer("fresh/.bashrc")), 0)
			_ = unix.Rename("fresh", "old")
			return ok
		},
		func(i int, _ string) bool { // a host socket takes the name of one that is being bound
			copy(target.path[:], "host.sock\x00")
			runtime.Gosched()
			copy(target.path[:], "own.sock\x00")
			return false
		},
		func(i int, _ string) bool { return connect() },
		func(i int, tmp string) bool {
			_ = unix.Link("host.sock", "hs")
			fd, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			_ = unix.Bind(fd, &unix.SockaddrUnix{Name: "hs"})
			unix.Close(fd)
			_ = unix.Unlink("hs")
			return false
		},
	}
	var wg sync.WaitGroup
	for k := range 2 * len(strategies) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; !stop.Load(); i++ {
				calls.Add(1)
				if strategies[k%len(strategies)](i, "tmp"+strconv.Itoa(k)+"."+strconv.Itoa(i%4)) {
					made.Add(1)
				}
			}
		}()
	}
	// fresh/.bashrc may exist while fresh is a new directory; it must not be there once the directory is old's.
	watched := []string{".bashrc", ".git/hooks/pre-commit", "v/.git/hooks/pre-commit", "v/.claude/commands/evil", "u/.claude/commands/evil", "old/.bashrc", ".claude/commands/evil"}
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !stop.Load() {
				for _, p := range watched {
					var st unix.Stat_t
					if unix.Lstat(p, &st) == nil && !madeInside(p) {
						fmt.Printf("APPEARED %s mode %o\n", p, st.Mode)
						_ = unix.Unlink(p)
					}
				}
			}
		}()
	}
	time.Sleep(length)
	stop.Store(true)
	wg.Wait()
	if n := reached.Load(); n > 0 {
		fmt.Printf("REACHED the host socket %d times\n", n)
	}
	fmt.Printf("calls %d, succeeded on harmless names %d\n", calls.Load(), made.Load())
}

// madeInside says whether the directory that a watched path counts from is one that the run may have put there: old holds a file from
// before, so that a directory of that name without it is new.
func madeInside(p string) bool {
	if !strings.HasPrefix(p, "old/") {
		return false
	}
	var st unix.Stat_t
	return unix.Lstat("old/keep", &st) != nil
}
