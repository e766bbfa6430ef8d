package supervise

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is how many symbolic links one path may pass, as in the kernel.
const maxLinks = 40

const openHere = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC

// walk resolves every component itself, because /proc/self must mean the caller and not us. It follows the final link too.
func (w *worker) walk(base int, path string, directory bool) (int, errno) {
	cur, e := w.start(base, path)
	if e != 0 {
		return -1, e
	}
	for links := 0; ; {
		path = strings.TrimLeft(path, "/")
		if path == "" {
			break
		}
		comp, rest, slash := strings.Cut(path, "/")
		if comp == ".." && w.atRoot(cur) {
			comp = "."
		}
		next, target, e := w.step(cur, comp, slash)
		if e != 0 {
			closeFd(cur)
			return -1, e
		}
		path = rest
		if target == "" {
			closeFd(cur)
			cur = next
			continue
		}
		if links++; links > maxLinks {
			closeFd(cur)
			return -1, unix.ELOOP
		}
		if slash {
			path = target + "/" + rest
		} else {
			path = target
		}
		if target[0] == '/' {
			closeFd(cur)
			if cur, e = w.start(-1, target); e != 0 {
				return -1, e
			}
		}
	}
	if directory {
		if e := w.statFd(cur); e != 0 || !w.isKind(unix.S_IFDIR) {
			closeFd(cur)
			return -1, unix.ENOTDIR
		}
	}
	return cur, 0
}

func (w *worker) start(base int, path string) (int, errno) {
	if path[0] == '/' && w.foreign {
		return openat(w.root, dot, openHere)
	}
	if path[0] == '/' {
		return openat(-1, []byte("/\x00")[:1], openHere)
	}
	return openat(base, dot, openHere)
}

// step takes one component: a descriptor, or the text of a link that is to be followed.
func (w *worker) step(dir int, comp string, wantDir bool) (fd int, target string, e errno) {
	n := copy(w.tmp[:], comp)
	w.tmp[n] = 0
	if fd, e = openat(dir, w.tmp[:n], openHere); e != 0 {
		return -1, "", e
	}
	if e = w.statFd(fd); e != 0 || !w.isKind(unix.S_IFLNK) {
		if e == 0 && wantDir && !w.isKind(unix.S_IFDIR) {
			e = unix.ENOTDIR
		}
		if e != 0 {
			closeFd(fd)
		}
		return fd, "", e
	}
	defer closeFd(fd)
	at, target, e := w.readLink(dir, fd, comp)
	return at, target, e
}

// readLink reads the link named comp in dir, which link is a descriptor of; Links of proc are taken from the
// caller's point of view: the answer is a descriptor then.
func (w *worker) readLink(dir, link int, comp string) (int, string, errno) {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(link, &fs); err == nil && fs.Type == unix.PROC_SUPER_MAGIC {
		if fd, target, e, done := w.procLink(dir, comp); done {
			return fd, target, e
		}
	}
	// fs.protected_symlinks holds only when the kernel follows the link itself: ask it where that could matter.
	if e := w.statFd(dir); e != 0 {
		return -1, "", e
	}
	if w.st.Mode&unix.S_ISVTX != 0 && w.st.Mode&2 != 0 {
		n := copy(w.tmp[:], comp)
		w.tmp[n] = 0
		if statx(dir, w.tmp[:n], 0, &w.st) == unix.EACCES {
			return -1, "", unix.EACCES
		}
	}
	n, e := readlinkat(link, empty, w.mem[:pathMax])
	if e != 0 {
		return -1, "", e
	}
	if n == 0 {
		return -1, "", unix.ENOENT
	}
	return -1, string(w.mem[:n]), 0
}

// procLink follows a link of a proc file system as the caller would; done is false for an ordinary link there.
func (w *worker) procLink(dir int, comp string) (fd int, target string, e errno, done bool) {
	switch comp {
	case "self":
		return -1, strconv.Itoa(w.status("NStgid:")), 0, true
	case "thread-self":
		return -1, strconv.Itoa(w.status("NStgid:")) + "/task/" + strconv.Itoa(w.status("NSpid:")), 0, true
	}
	_, below, found := strings.Cut(string(w.pathOf(dir))+"/", "/proc/")
	p := strings.Split(strings.TrimSuffix(below, "/"), "/")
	if !found || p[0] == "" || p[0][0] < '0' || p[0][0] > '9' {
		return -1, "", 0, false // /proc/mounts and the like lead to self/…
	}
	// A magic link (fd/N, cwd, root, exe) is followed for the caller's own process only: our rights over others are not the caller's.
	if p[0] != strconv.Itoa(w.status("NStgid:")) {
		return -1, "", unix.EACCES, true
	}
	name := comp
	if p[len(p)-1] == "fd" {
		if n, err := strconv.ParseInt(comp, 10, 32); err == nil {
			fd, e := w.takePath(int32(n))
			return fd, "", e, true
		}
		return -1, "", unix.ENOENT, true
	}
	fd, e = w.procOpen(append([]byte(name), 0)[:len(name)], unix.O_PATH)
	return fd, "", e, true
}

// takePath gives an O_PATH descriptor of what the caller's descriptor n refers to.
func (w *worker) takePath(n int32) (int, errno) {
	fd, e := w.takeFd(n)
	if e != 0 {
		if e == unix.EBADF {
			e = unix.ENOENT
		}
		return -1, e
	}
	defer closeFd(fd)
	return openat(w.procSelf, w.number("", fd), unix.O_PATH|unix.O_CLOEXEC)
}
