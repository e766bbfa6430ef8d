package initd

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Everything from here to the exec is nosplit with all signals blocked: a preemption request that is pending at the moment of the fork
// would otherwise send the child into a scheduler that has no threads (seen: 1 start in 300 hung on a futex).
//
//go:noinline
//go:norace
//go:nosplit
func (n *nest) rawFork() (uintptr, unix.Errno) {
	flags := uintptr(unix.SIGCHLD) | unix.CLONE_NEWPID
	if n.direct {
		flags = uintptr(unix.SIGCHLD)
	}
	pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, flags, 0, 0, 0, 0, 0)
	if pid == 0 && e == 0 {
		if n.direct {
			n.alone()
		}
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
	if n.ownProc {
		n.mountProc()
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
	pid, e := n.start()
	if e != 0 {
		n.fail(stepStart, e)
	}
	n.sayWith(noteCommand, n.pidfd)
	n.reap(pid)
}

// vfork is clone(2) with these flags for a child on the same stack.
//
//go:noescape
func vfork(flags uintptr, pidfd *int32) (pid, errno uintptr)

// start starts the command. The child borrows our memory until it executes, as in vfork(2), which saves a copy of it: it never leaves
// this function and we do nothing in it behind the call, so that neither finds the stack changed.
//
//go:noinline
//go:norace
//go:nosplit
func (n *nest) start() (uintptr, unix.Errno) {
	pid, e := vfork(uintptr(unix.SIGCHLD)|unix.CLONE_PIDFD|unix.CLONE_VM|unix.CLONE_VFORK, &n.pidfd)
	if pid != 0 {
		return pid, unix.Errno(e)
	}
	n.command()
	return 0, 0
}

// mountProc mounts the nested namespace's /proc. The init covers what is not for the command.
//
//go:norace
//go:nosplit
func (n *nest) mountProc() {
	if _, _, e := unix.RawSyscall6(unix.SYS_MOUNT, uintptr(unsafe.Pointer(n.proc)), uintptr(unsafe.Pointer(n.slash)), uintptr(unsafe.Pointer(n.proc)),
		unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, 0, 0); e != 0 {
		n.fail(stepProc, e)
	}
}

// alone is nested without namespaces of its own: what bubblewrap made is all there is.
//
//go:norace
//go:nosplit
func (n *nest) alone() {
	if _, _, e := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0); e != 0 {
		n.fail(stepDeath, e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&n.capHeader)), uintptr(unsafe.Pointer(&n.capData[0])), 0); e != 0 {
		n.fail(stepCaps, e)
	}
	if _, _, e := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); e != 0 {
		n.fail(stepPrivs, e)
	}
	n.restrictPipes()
	n.filter()
	for s := uintptr(1); s <= lastSignal; s++ {
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&n.action)), 0, 8, 0, 0)
	}
	pid, _, _ := unix.RawSyscall(unix.SYS_GETPID, 0, 0, 0)
	fd, _, e := unix.RawSyscall(unix.SYS_PIDFD_OPEN, pid, 0, 0)
	if e != 0 {
		n.fail(stepStart, e)
	}
	n.sayWith(noteCommand, int32(fd))
	n.command()
}

//go:norace
//go:nosplit
func (n *nest) enterUserNamespace() {
	if _, _, e := unix.RawSyscall(unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0); e != 0 {
		n.fail(stepUser, e)
	}
	for i := range n.maps {
		m := &n.maps[i]
		fd, _, e := unix.RawSyscall6(unix.SYS_OPENAT, n.mapsIn, uintptr(unsafe.Pointer(m.path)), unix.O_WRONLY|unix.O_CLOEXEC, 0, 0, 0)
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
	n.restrictPipes()
}

//go:norace
//go:nosplit
func (n *nest) restrictPipes() {
	if n.ruleset < 0 {
		return
	}
	if _, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(n.ruleset), 0, 0); e != 0 {
		n.fail(stepPipes, e)
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
	if n.prog.Len != 0 {
		fd, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, filterNewListener|filterWaitKillable, uintptr(unsafe.Pointer(&n.prog)))
		if e == 0 {
			n.sayWith(noteListener, int32(fd))
			unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
			return
		}
		if n.weaker.Len == 0 {
			n.fail(stepFilter, e)
		}
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&n.weaker))); e != 0 {
		n.fail(stepFilter, e)
	}
	n.say(noteListener, 0)
}

// command is the process that becomes the user's program. It never returns.
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
	if n.thread != nil {
		unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, uintptr(n.thread.Slack), 0, 0, 0, 0)
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
