package initd

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The nested PID namespace: a fork of the init that never executes, so that no second Go start is paid for. It shuts itself in,
// passes the filter's listener out, starts the command and reaps. The conversation over a SOCK_SEQPACKET pair, one note each:
//
//	nested → init   noteProc             its /proc is mounted and it waits
//	init → nested   one byte             /proc is covered: go on
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

// An idMap is one file of /proc/self that gives the nested user namespace the caller's own id.
type idMap struct {
	path *byte
	text []byte
}

// A nest holds everything that the forked child needs, made before the fork: behind it there is one thread, a copy of our memory
// and no Go scheduler, so only raw system calls are made.
type nest struct {
	prog      unix.SockFprog // with a listener
	weaker    unix.SockFprog // what to load when no listener can be had; Len 0: give up
	sock      [2]int
	exec      [2]int
	pass      [][2]uintptr // from, to
	path      *byte
	argv      []*byte
	envv      []*byte
	keep      uintptr // the one capability that the command keeps (see keepFor); noCapability for none
	terminal  bool    // give the terminal on descriptor 0 to the command's group
	setNofile bool
	nofile    unix.Rlimit
	ignored   [lastSignal + 1]bool
	oldMask   uint64

	proc, slash *byte
	maps        [3]idMap
	capHeader   unix.CapUserHeader
	capData     [2]unix.CapUserData
	capMore     [2]unix.CapUserData
	note        [2]int32
	iov         unix.Iovec
	msg         unix.Msghdr
	cmsg        [unix.SizeofCmsghdr + 8]byte
	status      int32
	pid         int32
	action      sigaction
	goByte      byte
}

func newNest(path string, c *Config, filter, weaker []unix.SockFilter) (*nest, error) {
	n := &nest{keep: keepFor(c), prog: unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}}
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
	for i, m := range [...][2]string{
		{"/proc/self/setgroups", "deny"}, // before an ordinary user may map a group
		{"/proc/self/uid_map", fmt.Sprintf("%d 0 1", c.Uid)},
		{"/proc/self/gid_map", fmt.Sprintf("%d 0 1", c.Gid)},
	} {
		n.maps[i].path, _ = unix.BytePtrFromString(m[0])
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

// fork starts the nested namespace. The calling thread must be locked.
func (n *nest) fork() error {
	all := ^uint64(0)
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&n.oldMask)), 8, 0, 0)
	_, e := n.rawFork()
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&n.oldMask)), 0, 8, 0, 0)
	runtime.KeepAlive(n)
	if e != 0 {
		return fmt.Errorf("clone: %w", e)
	}
	unix.Close(n.sock[1])
	unix.Close(n.exec[1])
	return nil
}

// Everything from here to the exec is nosplit with all signals blocked: a preemption request that is pending at the moment of the fork
// would otherwise send the child into a scheduler that has no threads (seen: 1 start in 300 hung on a futex).
//
//go:noinline
//go:norace
//go:nosplit
func (n *nest) rawFork() (uintptr, unix.Errno) {
	pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD)|unix.CLONE_NEWPID, 0, 0, 0, 0, 0)
	if pid == 0 && e == 0 {
		n.nested()
	}
	return pid, e
}

//go:norace
//go:nosplit
func exitNow(code uintptr) {
	for {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, code, 0, 0)
	}
}

//go:norace
//go:nosplit
func (n *nest) say(kind, value int32) {
	n.note[0], n.note[1] = kind, value
	unix.RawSyscall(unix.SYS_SENDMSG, uintptr(n.sock[1]), uintptr(unsafe.Pointer(&n.msg)), unix.MSG_NOSIGNAL)
}

// sayWith sends descriptor fd along.
//
//go:norace
//go:nosplit
func (n *nest) sayWith(kind, fd int32) {
	*(*int32)(unsafe.Pointer(&n.cmsg[unix.SizeofCmsghdr])) = fd
	n.msg.Control, n.msg.Controllen = &n.cmsg[0], uint64(len(n.cmsg))
	n.say(kind, 0)
	n.msg.Control, n.msg.Controllen = nil, 0
}

//go:norace
//go:nosplit
func (n *nest) fail(step int32, e unix.Errno) {
	n.say(noteFailed, step|int32(e)<<8)
	exitNow(125)
}

//go:norace
//go:nosplit
func (n *nest) nested() {
	if _, _, e := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0); e != 0 {
		n.fail(stepDeath, e)
	}
	if _, _, e := unix.RawSyscall6(unix.SYS_MOUNT, uintptr(unsafe.Pointer(n.proc)), uintptr(unsafe.Pointer(n.slash)), uintptr(unsafe.Pointer(n.proc)),
		unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, 0, 0); e != 0 {
		n.fail(stepProc, e)
	}
	n.say(noteProc, 0)
	if r, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(n.sock[1]), uintptr(unsafe.Pointer(&n.goByte)), 1); e != 0 || r != 1 {
		n.fail(stepRelease, e)
	}
	n.enterUserNamespace()
	n.dropBounds()
	if n.keep != noCapability {
		n.raiseAmbient()
	}
	n.dropRest()
	n.filter()
	for s := uintptr(1); s <= lastSignal; s++ { // fails for SIGKILL and SIGSTOP
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&n.action)), 0, 8, 0, 0)
	}
	pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD)|unix.CLONE_PIDFD, 0, uintptr(unsafe.Pointer(&n.pid)), 0, 0, 0)
	if e != 0 {
		n.fail(stepStart, e)
	}
	if pid == 0 {
		n.command()
	}
	n.sayWith(noteCommand, n.pid)
	n.reap(pid)
}

//go:norace
//go:nosplit
func (n *nest) enterUserNamespace() {
	if _, _, e := unix.RawSyscall(unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0); e != 0 {
		n.fail(stepUser, e)
	}
	const here = ^uintptr(99) // AT_FDCWD
	for i := range n.maps {
		m := &n.maps[i]
		fd, _, e := unix.RawSyscall6(unix.SYS_OPENAT, here, uintptr(unsafe.Pointer(m.path)), unix.O_WRONLY|unix.O_CLOEXEC, 0, 0, 0)
		if e != 0 {
			n.fail(stepMaps, e)
		}
		if _, _, e = unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&m.text[0])), uintptr(len(m.text))); e != 0 {
			n.fail(stepMaps, e)
		}
		unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	}
}

// dropBounds and dropRest leave the command no capability and no way to one: not by uid 0, not by a file.
//
//go:norace
//go:nosplit
func (n *nest) dropBounds() {
	for c := uintptr(0); c < 64; c++ {
		if c == n.keep {
			continue
		}
		if _, _, e := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0, 0); e == unix.EINVAL {
			break // past the kernel's last capability
		} else if e != 0 {
			n.fail(stepBounds, e)
		}
	}
}

//go:norace
//go:nosplit
func (n *nest) dropRest() {
	const secureBits = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<6 | 1<<7 // NOROOT, NO_SETUID_FIXUP, NO_CAP_AMBIENT_RAISE, each locked
	if _, _, e := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_SECUREBITS, secureBits, 0, 0, 0, 0); e != 0 {
		n.fail(stepSecure, e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&n.capHeader)), uintptr(unsafe.Pointer(&n.capData[0])), 0); e != 0 {
		n.fail(stepCaps, e)
	}
	if _, _, e := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); e != 0 {
		n.fail(stepPrivs, e)
	}
}

// raiseAmbient hands the kept capability on through exec; the secure bits forbid it afterwards.
//
//go:norace
//go:nosplit
func (n *nest) raiseAmbient() {
	const setpcap = 1 << unix.CAP_SETPCAP // to set the secure bits next; the last capset takes it away
	n.capMore = n.capData
	n.capMore[0].Effective |= setpcap
	n.capMore[0].Permitted |= setpcap
	if _, _, e := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&n.capHeader)), uintptr(unsafe.Pointer(&n.capMore[0])), 0); e != 0 {
		n.fail(stepCaps, e)
	}
	if _, _, e := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, n.keep, 0, 0, 0); e != 0 {
		n.fail(stepCaps, e)
	}
}

//go:norace
//go:nosplit
func (n *nest) filter() {
	fd, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, filterNewListener|filterWaitKillable, uintptr(unsafe.Pointer(&n.prog)))
	if e == 0 {
		n.sayWith(noteListener, int32(fd))
		unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
		return
	}
	if n.weaker.Len == 0 {
		n.fail(stepFilter, e)
	}
	if _, _, e = unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&n.weaker))); e != 0 {
		n.fail(stepFilter, e)
	}
	n.say(noteListener, 0)
}

// command is the process that becomes the user's program.
//
//go:norace
//go:nosplit
func (n *nest) command() {
	unix.RawSyscall(unix.SYS_SETPGID, 0, 0, 0)
	if n.terminal { // SIGTTOU is blocked, so a background process may do it
		pid, _, _ := unix.RawSyscall(unix.SYS_GETPID, 0, 0, 0)
		n.pid = int32(pid)
		unix.RawSyscall(unix.SYS_IOCTL, 0, unix.TIOCSPGRP, uintptr(unsafe.Pointer(&n.pid)))
	}
	n.action.handler = 1 // SIG_IGN
	for s := uintptr(1); s <= lastSignal; s++ {
		if n.ignored[s] {
			unix.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&n.action)), 0, 8, 0, 0)
		}
	}
	for i := range n.pass {
		if _, _, e := unix.RawSyscall(unix.SYS_DUP3, n.pass[i][0], n.pass[i][1], 0); e != 0 {
			n.sayExec(e)
		}
	}
	if n.setNofile {
		unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&n.nofile)), 0, 0, 0)
	}
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&n.oldMask)), 0, 8, 0, 0)
	_, _, e := unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(n.path)), uintptr(unsafe.Pointer(&n.argv[0])), uintptr(unsafe.Pointer(&n.envv[0])))
	n.sayExec(e)
}

// sayExec tells why the command was not executed. Success needs no word: the pipe closes on exec.
//
//go:norace
//go:nosplit
func (n *nest) sayExec(e unix.Errno) {
	n.status = int32(e)
	unix.RawSyscall(unix.SYS_WRITE, uintptr(n.exec[1]), uintptr(unsafe.Pointer(&n.status)), 4)
	exitNow(126)
}

//go:norace
//go:nosplit
func (n *nest) reap(command uintptr) {
	unix.RawSyscall(unix.SYS_CLOSE_RANGE, 0, uintptr(n.sock[1])-1, 0)
	unix.RawSyscall(unix.SYS_CLOSE_RANGE, uintptr(n.sock[1])+1, 0xffffffff, 0)
	for {
		pid, _, e := unix.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&n.status)), unix.WUNTRACED, 0, 0, 0)
		if e != 0 && e != unix.EINTR {
			n.fail(stepWait, e)
		}
		if e != 0 || pid != command {
			continue
		}
		if n.status&0xff == 0x7f {
			n.say(noteStopped, n.status>>8&0xff)
			continue
		}
		n.say(noteEnded, n.status)
		exitNow(0)
	}
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
