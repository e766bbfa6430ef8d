package supervise

import "golang.org/x/sys/unix"

// explain reports an open without O_CREAT that mounts will refuse. It looks only: the call continues and is judged by the kernel.
func (w *worker) explain(dirfd int32, addr uint64, flags int) {
	if flags&unix.O_PATH != 0 || w.readPath(addr, &w.a) != 0 {
		return
	}
	base, e := w.base(dirfd, &w.a)
	if e != 0 {
		return
	}
	defer closeFd(base)
	if !w.alive() {
		return
	}
	at, e := w.walk(base, string(w.a.buf[:w.a.n]), false)
	if e != 0 {
		if e == unix.EACCES {
			path := string(w.a.buf[:w.a.n])
			if rule := w.ruleOf(path); rule != "" {
				w.violation("file-read", path, rule)
			}
		}
		return
	}
	defer closeFd(at)
	operation, mode := "file-read", uint32(unix.R_OK)
	if acc := flags & unix.O_ACCMODE; acc != unix.O_RDONLY {
		operation, mode = "file-write", unix.W_OK
	}
	if w.statFd(at) != 0 || !w.isKind(unix.S_IFREG) && !w.isKind(unix.S_IFDIR) {
		return
	}
	err := unix.Faccessat2(at, "", mode, unix.AT_EMPTY_PATH|unix.AT_EACCESS)
	if err == unix.EROFS || err == unix.EACCES {
		path := string(w.pathOf(at))
		if rule := w.ruleOf(path); rule != "" || err == unix.EROFS {
			w.violation(operation, path, rule)
		}
	}
}
