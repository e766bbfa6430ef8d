package supervise

import (
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Calls that natively wait for another process (a FIFO's other end, a lease's holder, a connection) are taken off the workers and
// tried again by one thread, so that any number of them stops nobody.

// maxParked bounds the parked calls; each holds one descriptor. One too many is answered with ENFILE.
const maxParked = 4096

const (
	waitOpen    = iota // fd: O_PATH, tried again
	waitReader         // fd: reading end of a FIFO, until somebody has written or opened the writing end
	waitConnect        // fd: the socket, connecting
	waitBacklog        // fd: unix socket, tried again until the listener has room
)

// A waiting call.
type waiting struct {
	call  notification
	kind  int
	fd    int
	extra int  // waitBacklog: O_PATH of the listener's socket
	flags int  // of the open
	looks int  // at a signal of the process that no thread takes, one after another
	quiet bool // polling it is no use: tried again by the clock only
	addr  []byte
	until time.Time // when the socket's own time-out ends the wait; zero: never
	next  time.Time
	pause time.Duration
}

const (
	firstPause = 300 * time.Microsecond
	lastPause  = 40 * time.Millisecond

	patientLooks = 6
)

type parked struct {
	mu    sync.Mutex
	fresh []*waiting
	count int
	wake  int       // eventfd
	begin sync.Once // starts the thread, with the first call
}

func (k *parked) open() (err error) {
	k.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return err
}

// park takes a call over. It owns the descriptors from now on.
func (w *worker) park(c *waiting) errno {
	k := &w.parked
	k.mu.Lock()
	full := k.count >= maxParked
	if !full {
		k.count++
		c.pause = firstPause
		c.next = time.Now().Add(c.pause)
		k.fresh = append(k.fresh, c)
	}
	k.mu.Unlock()
	if full {
		c.close()
		return unix.ENFILE
	}
	k.begin.Do(func() {
		go w.guard("parked calls", func() error { return w.newWorker().serveParked() })
	})
	_, _ = unix.Write(k.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	return eLater
}

func (c *waiting) close() {
	closeFd(c.fd)
	if c.kind == waitBacklog {
		closeFd(c.extra)
	}
}

func (w *worker) parkReader(fd, flags int) (int, errno) {
	c := &waiting{call: w.call, kind: waitReader, fd: fd, flags: flags}
	if readerReady(fd) {
		return fd, setFlags(fd, flags&^unix.O_NONBLOCK)
	}
	return -1, w.park(c)
}

// serveParked is the thread's loop. It ends when Serve does.
func (w *worker) serveParked() error {
	if err := w.prepare(); err != nil {
		return err
	}
	var list []*waiting
	var fds []unix.PollFd
	var b [8]byte
	for {
		fds = append(fds[:0], unix.PollFd{Fd: int32(w.parked.wake), Events: unix.POLLIN})
		now := time.Now()
		timeout := time.Duration(math.MaxInt64)
		for _, c := range list {
			p := unix.PollFd{Fd: -1}
			switch c.kind {
			case waitReader:
				p = unix.PollFd{Fd: int32(c.fd), Events: unix.POLLIN}
			case waitConnect:
				if c.quiet {
					break
				}
				p = unix.PollFd{Fd: int32(c.fd), Events: unix.POLLOUT}
			}
			fds = append(fds, p)
			timeout = min(timeout, c.next.Sub(now))
		}
		var ts *unix.Timespec
		if len(list) > 0 {
			t := unix.NsecToTimespec(max(timeout, 0).Nanoseconds())
			ts = &t
		}
		if _, err := unix.Ppoll(fds, ts, nil); err != nil && err != unix.EINTR {
			return err
		}
		select {
		case <-w.quit:
			return nil
		default:
		}
		now = time.Now()
		kept := list[:0]
		for i, c := range list {
			if fds[i+1].Revents == 0 && now.Before(c.next) || !w.tryAgain(c, fds[i+1].Revents != 0, now) {
				kept = append(kept, c)
			}
		}
		clear(list[len(kept):])
		_, _ = unix.Read(w.parked.wake, b[:]) // before the look at what came: a call that comes behind it wakes again
		w.parked.mu.Lock()
		w.parked.count -= len(list) - len(kept)
		list = append(kept, w.parked.fresh...)
		w.parked.fresh = nil
		w.parked.mu.Unlock()
	}
}

// tryAgain looks at one call; true when it was answered or its caller is gone.
func (w *worker) tryAgain(c *waiting, event bool, now time.Time) bool {
	w.call = c.call
	fd, e := -1, eLater
	switch c.kind {
	case waitOpen:
		if fd, e = w.reopen(c.fd, c.flags|unix.O_NONBLOCK); e == unix.ENXIO || e == unix.EAGAIN {
			e = eLater
		} else if e == 0 {
			setFlags(fd, c.flags&^unix.O_NONBLOCK)
		}
	case waitReader:
		if event || readerReady(c.fd) {
			if fd, e = w.dup(c.fd); e == 0 {
				setFlags(fd, c.flags&^unix.O_NONBLOCK)
			}
		}
	case waitConnect, waitBacklog:
		e = w.connectAgain(c, event, now)
	}
	if e == eLater {
		if !w.alive() {
			c.close()
			return true
		}
		own, perhaps := w.signals()
		if c.looks++; !perhaps {
			c.looks = 0
		}
		switch {
		case own && c.until.IsZero():
			e = eRestartSys
		case own, c.looks == patientLooks: // nobody else took it: its thread waits here
			e = unix.EINTR
		default:
			c.pause = min(c.pause*2, lastPause)
			c.next = now.Add(c.pause)
			c.quiet = c.quiet || event
			return false
		}
	}
	c.close()
	if e == 0 && fd >= 0 {
		w.answerFd(fd, c.flags&unix.O_CLOEXEC != 0)
	} else {
		w.answer(e)
	}
	return true
}

// readerReady says whether the FIFO whose reading end fd is has a writer, or had one: what ends an open for reading natively. tee
// copies without taking away; it tells "no writer" (0) from "a writer that has not written" (EAGAIN).
func readerReady(fd int) bool {
	var p [2]int
	if unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK) != nil {
		return true
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	n, err := unix.Tee(fd, p[1], 1, unix.SPLICE_F_NONBLOCK)
	return n > 0 || err == unix.EAGAIN
}
