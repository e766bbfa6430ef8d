package initd

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/entry"
)

// The nested PID namespace: a fork of the init that never executes, so that no second Go start is paid for. It shuts itself in,
// passes the filter's listener out, starts the command and reaps. The conversation over a SOCK_SEQPACKET pair, one note each:
//
//	nested → init   noteProc             its /proc, if it has one of its own, is mounted and it waits
//	init → nested   one byte             the last mounts are made and verified: go on
//	nested → init   noteListener + fd    the filter is on (no fd when it has no listener)
//	nested → init   noteCommand + fd     a pidfd of the command's main process
//	nested → init   noteStopped signal
//	nested → init   noteEnded status     as wait4 gives it; then the nested namespace ends, and all that is in it
//	nested → init   noteFailed step      errno in the second half
const (
	noteProc     = 1
	noteListener = 2
	noteCommand  = 3
	noteStopped  = 4
	noteEnded    = 5
	noteFailed   = 6
)

// Steps of the nested init, for noteFailed.
var nestSteps = [...]string{
	stepDeath:   "set the parent-death signal",
	stepProc:    "mount /proc",
	stepRelease: "wait for the init",
	stepUser:    "enter the user namespace",
	stepMaps:    "write the id maps",
	stepBounds:  "drop the bounding set",
	stepSecure:  "lock the secure bits",
	stepCaps:    "drop the capabilities",
	stepPrivs:   "set no-new-privs",
	stepPipes:   "restrict opens for writing",
	stepFilter:  "load the system call filter",
	stepStart:   "start the command",
	stepWait:    "wait for the command",
}

const (
	stepDeath = iota
	stepProc
	stepRelease
	stepUser
	stepMaps
	stepBounds
	stepSecure
	stepCaps
	stepPrivs
	stepPipes
	stepFilter
	stepStart
	stepWait
)

// seccomp(2) flags.
const (
	filterNewListener  = 1 << 3
	filterWaitKillable = 1 << 5
)

// lastSignal is the highest signal number of Linux.
const lastSignal = 64

type sigaction struct {
	handler, flags, restorer, mask uint64
}

// An idMap is one file of a process's directory in /proc that gives the nested user namespace the caller's own id.
type idMap struct {
	path *byte
	text []byte
}

// A nest holds everything that the forked child needs, made before the fork: behind it there is one thread, a copy of our memory
// and no Go scheduler, so only raw system calls are made.
type nest struct {
	prog      unix.SockFprog // with a listener; Len 0: none is wanted
	weaker    unix.SockFprog // what to load when no listener can be had; Len 0: give up
	sock      [2]int
	exec      [2]int
	pass      [][2]uintptr // from, to
	path      *byte
	argv      []*byte
	envv      []*byte
	direct    bool    // no nested namespaces: the fork becomes the command (see package bwrap, ArgvMounts)
	ownProc   bool    // mount a /proc for the nested namespace
	ruleset   int     // of Landlock, see pipes_linux_unsafe.go; -1 for none
	keep      uintptr // the one capability that the command keeps (see keepFor); noCapability for none
	terminal  bool    // give the terminal on descriptor 0 to the command's group
	setNofile bool
	nofile    unix.Rlimit
	ignored   [lastSignal + 1]bool
	thread    *entry.Thread // what the command starts with; nil: what the init has
	oldMask   uint64

	proc, slash *byte
	maps        [3]idMap
	mapsIn      uintptr // the directory of relative maps
	capHeader   unix.CapUserHeader
	capData     [2]unix.CapUserData
	capMore     [2]unix.CapUserData
	note        [2]int32
	iov         unix.Iovec
	msg         unix.Msghdr
	cmsg        [unix.SizeofCmsghdr + 8]byte
	status      int32
	pid, pidfd  int32
	action      sigaction
	goByte      byte
}

// newNest prepares the fork. proc is the /proc from before the mounts were made: the one that is there now is read-only unless it is the
// nested namespace's own.
func newNest(path string, c *Config, proc int, filter, weaker []unix.SockFilter) (*nest, error) {
	n := &nest{direct: c.ByBwrap, ownProc: !c.SharedProc, keep: keepFor(c), ruleset: -1}
	if restrictsPipes(c) {
		n.ruleset = newRuleset()
	}
	if len(filter) > 0 {
		n.prog = unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	}
	if len(weaker) > 0 {
		n.weaker = unix.SockFprog{Len: uint16(len(weaker)), Filter: &weaker[0]}
	}
	var err error
	if n.path, err = unix.BytePtrFromString(path); err != nil {
		return nil, err
	}
	if n.argv, err = syscall.SlicePtrFromStrings(c.Command.Argv); err != nil {
		return nil, err
	}
	if n.envv, err = syscall.SlicePtrFromStrings(c.Command.Env); err != nil {
		return nil, err
	}
	n.proc, _ = unix.BytePtrFromString("proc")
	n.slash, _ = unix.BytePtrFromString("/proc")
	n.mapsIn = uintptr(proc)
	dir := "/proc/"
	if c.SharedProc {
		dir = ""
	}
	for i, m := range [...][2]string{
		{"self/setgroups", "deny"}, // before an ordinary user may map a group
		{"self/uid_map", fmt.Sprintf("%d 0 1", c.Uid)},
		{"self/gid_map", fmt.Sprintf("%d 0 1", c.Gid)},
	} {
		n.maps[i].path, _ = unix.BytePtrFromString(dir + m[0])
		n.maps[i].text = []byte(m[1])
	}
	if n.sock, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, err
	}
	var p [2]int
	if err = unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	n.exec = p
	for _, fd := range []*int{&n.sock[1], &n.exec[1]} { // out of the way of passed descriptors
		high, err := unix.FcntlInt(uintptr(*fd), unix.F_DUPFD_CLOEXEC, highFD)
		if err != nil {
			return nil, err
		}
		unix.Close(*fd)
		*fd = high
	}
	n.iov = unix.Iovec{Base: (*byte)(unsafe.Pointer(&n.note[0])), Len: 8}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&n.cmsg[0]))
	h.Level, h.Type = unix.SOL_SOCKET, unix.SCM_RIGHTS
	h.SetLen(unix.CmsgLen(4))
	n.msg = unix.Msghdr{Iov: &n.iov, Iovlen: 1}
	n.capHeader.Version = unix.LINUX_CAPABILITY_VERSION_3
	if n.keep != noCapability {
		bit := uint32(1) << n.keep
		n.capData[0] = unix.CapUserData{Effective: bit, Permitted: bit, Inheritable: bit}
	}
	return n, nil
}

const noCapability = ^uintptr(0)

// keepFor: a root caller who allows nested user namespaces can map uid 0 into one only with CAP_SETFCAP (user_namespaces(7), Linux 5.12).
// It holds in the command's own user namespace and on nosuid mounts.
func keepFor(c *Config) uintptr {
	if c.Uid == 0 && c.Process.AllowNestedUserNamespaces {
		return unix.CAP_SETFCAP
	}
	return noCapability
}

// highFD is above every passed descriptor and above where passed descriptors travel.
const highFD = 300

// fork starts the nested namespace, or the command itself when there is none, and returns its process. The calling thread must be locked.
func (n *nest) fork() (int, error) {
	all := ^uint64(0)
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&n.oldMask)), 8, 0, 0)
	ours := n.oldMask
	if n.thread != nil {
		n.oldMask = n.thread.Mask
	}
	pid, e := n.rawFork()
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&ours)), 0, 8, 0, 0)
	runtime.KeepAlive(n)
	if e != 0 {
		return 0, fmt.Errorf("clone: %w", e)
	}
	unix.Close(n.sock[1])
	unix.Close(n.exec[1])
	return int(pid), nil
}

// A note is one word of the nested init.
type note struct {
	kind, value int32
	fd          int // noteListener, noteCommand; -1 for none
}

// A stepError says which step of the nested init failed.
type stepError struct {
	step  int
	errno unix.Errno
}

func (e *stepError) Error() string { return nestSteps[e.step] + ": " + e.errno.Error() }

// hear waits for the next note; an error means that the nested namespace is gone.
func (n *nest) hear() (note, error) {
	var b [8]byte
	oob := make([]byte, unix.CmsgSpace(4))
	for {
		got, oobn, _, _, err := unix.Recvmsg(n.sock[0], b[:], oob, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || got != len(b) {
			return note{}, fmt.Errorf("the nested namespace ended without a word: %v", err)
		}
		w := note{int32(binary.NativeEndian.Uint32(b[:])), int32(binary.NativeEndian.Uint32(b[4:])), -1}
		if msgs, err := unix.ParseSocketControlMessage(oob[:oobn]); err == nil && len(msgs) == 1 {
			if fds, err := unix.ParseUnixRights(&msgs[0]); err == nil && len(fds) == 1 {
				w.fd = fds[0]
			}
		}
		if w.kind == noteFailed {
			return w, &stepError{step: int(w.value & 0xff), errno: unix.Errno(w.value >> 8)}
		}
		return w, nil
	}
}

// release lets the nested init go on behind noteProc.
func (n *nest) release() error {
	_, err := unix.Write(n.sock[0], []byte{1})
	return err
}

// executed waits for the outcome of the command's exec.
func (n *nest) executed() unix.Errno {
	var b [4]byte
	for {
		got, err := unix.Read(n.exec[0], b[:])
		if err == unix.EINTR {
			continue
		}
		unix.Close(n.exec[0])
		if got == len(b) {
			return unix.Errno(binary.NativeEndian.Uint32(b[:]))
		}
		return 0
	}
}
