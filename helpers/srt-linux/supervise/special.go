package supervise

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Two places mean something else to us than to the caller: /dev/tty is the terminal of whoever opens it, and files of /proc are judged
// by whose process they belong to, where our rights are not the caller's. A shell opens both with O_CREAT ("echo x > /dev/tty").

func (w *worker) special(fd int, dir, name []byte) bool {
	if w.foreign {
		return w.isProc(fd)
	}
	return string(dir) == "/dev" && string(name) == "tty" || w.mounts.onProc(dir)
}

func (w *worker) openSpecial(dir []byte, p place, flags int) (int, errno) {
	if !w.foreign && string(dir) == "/dev" {
		return w.openTerminal(p, flags)
	}
	if flags&unix.O_EXCL == 0 { // nothing can be created there
		flags &^= unix.O_CREAT
	}
	if !w.mayOpenProc(string(dir), string(bare(p.name))) {
		return -1, unix.EACCES
	}
	fd, e := w.openName(p.dir, p.name, flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	return w.finishOpen(p, fd, e, flags)
}

func (w *worker) isProc(fd int) bool {
	var fs unix.Statfs_t
	return unix.Fstatfs(fd, &fs) != nil || fs.Type == unix.PROC_SUPER_MAGIC
}

// openProc are the files of another process that may be opened for the caller: the kernel asks nothing at their opening, so that we
// have no more rights there than the caller.
var openProc = []string{"oom_score_adj", "oom_adj", "coredump_filter", "comm", "autogroup", "timerslack_ns", "uid_map", "gid_map", "setgroups", "projid_map"}

// mayOpenProc says whether a file on a proc file system may be opened in the caller's name.
func (w *worker) mayOpenProc(dir, name string) bool {
	if w.foreign {
		return slices.Contains(openProc, name)
	}
	for _, at := range w.mounts.procs() {
		rest, ok := strings.CutPrefix(dir, at)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		pid, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		if pid == "" || pid[0] < '0' || pid[0] > '9' {
			return true // not about a process
		}
		own := at == "/proc" && pid == strconv.Itoa(w.status("NStgid:"))
		return own || slices.Contains(openProc, name)
	}
	return false
}

// openTerminal opens the caller's controlling terminal.
func (w *worker) openTerminal(p place, flags int) (int, errno) {
	if !w.alive() {
		return -1, unix.EINTR
	}
	session, tty, err := terminalOf(w.cfg.Proc, strconv.Itoa(int(w.call.Pid)))
	if err != nil || tty == 0 {
		return -1, unix.ENXIO
	}
	if own, _, err := terminalOf(w.cfg.Proc, "self"); err == nil && session == own { // a terminal belongs to one session
		fd, e := w.openName(p.dir, p.name, flags&^unix.O_CREAT|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		return w.finishOpen(p, fd, e, flags)
	}
	major, minor := tty>>8&0xfff, tty&0xff|tty>>12&0xfff00
	if major < 136 || major > 143 {
		return -1, unix.ENXIO
	}
	name := fmt.Appendf(nil, "pts/%d\x00", minor+(major-136)*256)
	fd, e := openat(p.dir, name[:len(name)-1], flags&^(unix.O_CREAT|unix.O_EXCL)|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK)
	return w.finishOpen(p, fd, e, flags)
}

// terminalOf gives the session and the device number of the controlling terminal of a process.
func terminalOf(proc int, pid string) (session string, tty int, err error) {
	fd, err := unix.Openat(proc, pid+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", 0, err
	}
	f := os.NewFile(uintptr(fd), "stat")
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return "", 0, err
	}
	text := string(b)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // state ppid pgrp session tty_nr
	if len(fields) < 5 {
		return "", 0, fmt.Errorf("read the stat of process %s: too short", pid)
	}
	tty, err = strconv.Atoi(fields[4])
	return fields[3], tty, err
}

// reopen opens again what an O_PATH descriptor of ours refers to.
func (w *worker) reopen(at, flags int) (int, errno) {
	return openat(w.procSelf, w.number("", at), flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW)|unix.O_NOCTTY|unix.O_CLOEXEC)
}

func (w *worker) dup(fd int) (int, errno) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, unix.ENFILE
	}
	return n, 0
}
