//go:build linux || darwin

package launch

import (
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// loop is a poll(2) loop. Only post may be called from another goroutine.
type loop struct {
	wakeR, wakeW int
	mu           sync.Mutex
	posted       []func()
	closed       bool

	sources []source
	done    bool
}

// source is a descriptor and what to do when it is readable. A negative descriptor is not waited for.
type source struct {
	fd    int
	ready func()
}

func newLoop() (*loop, error) {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		return nil, err
	}
	for _, fd := range p {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, err
		}
	}
	return &loop{wakeR: p[0], wakeW: p[1]}, nil
}

// post runs f in the loop, soon, in order. After close it does nothing.
func (l *loop) post(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.posted = append(l.posted, f)
	if len(l.posted) == 1 {
		_, _ = unix.Write(l.wakeW, []byte{0}) // a full pipe wakes as well
	}
}

func (l *loop) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	unix.Close(l.wakeR)
	unix.Close(l.wakeW)
}

// add waits for fd; remove stops that. Both only inside the loop or before it.
func (l *loop) add(fd int, ready func()) { l.sources = append(l.sources, source{fd, ready}) }

func (l *loop) remove(fd int) {
	for i := range l.sources {
		if l.sources[i].fd == fd {
			l.sources[i].fd = -1
		}
	}
}

// run waits until done is set or the deadline that due gives (zero: none) has passed; then it reports false.
func (l *loop) run(due func() time.Time) bool {
	for !l.done {
		l.sources = slices.DeleteFunc(l.sources, func(s source) bool { return s.fd < 0 })
		fds := make([]unix.PollFd, 0, len(l.sources)+1)
		for _, s := range l.sources {
			fds = append(fds, unix.PollFd{Fd: int32(s.fd), Events: unix.POLLIN})
		}
		fds = append(fds, unix.PollFd{Fd: int32(l.wakeR), Events: unix.POLLIN})
		timeout := -1
		if d := due(); !d.IsZero() {
			timeout = max(0, int(time.Until(d).Milliseconds())+1)
		}
		n, err := unix.Poll(fds, timeout)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || n == 0:
			return false
		}
		for i, fd := range fds[:len(fds)-1] { // ready may add sources behind these, and takes one away by its descriptor
			if fd.Revents != 0 && l.sources[i].fd >= 0 && !l.done {
				l.sources[i].ready()
			}
		}
		if fds[len(fds)-1].Revents != 0 {
			l.drain()
		}
	}
	return true
}

func (l *loop) drain() {
	var b [16]byte
	l.mu.Lock()
	_, _ = unix.Read(l.wakeR, b[:])
	posted := l.posted
	l.posted = nil
	l.mu.Unlock()
	for _, f := range posted {
		if !l.done {
			f()
		}
	}
}
