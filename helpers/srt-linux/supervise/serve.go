package supervise

import (
	"fmt"
	"runtime"
	"time"

	"github.com/srt-dev/srt/core/entry"
	"github.com/srt-dev/srt/core/wire"
	"golang.org/x/sys/unix"
)

// One worker leads: it waits for calls and handles them. Only when a call takes long (a disk) another worker takes the lead, so that
// an ordinary call costs no hand-over between threads and no two threads are woken for one call. A sentinel watches the leader
// while there are calls.

const (
	// rawWait is how long the leader waits for the next call without the Go scheduler knowing. Calls come in bursts, and a thread that
	// waits in a system call for 20 µs loses its processor slot and has to get one back. It bounds how long a collection can be held up.
	rawWait = time.Millisecond
	// patience is how long a call may hold the lead.
	patience = 2 * time.Millisecond
	// idleTicks without a call send the sentinel to sleep.
	idleTicks = 20
	// keepWarm workers keep descriptors of their callers while they do not lead.
	keepWarm = 4
)

// Serve answers calls that come to listener, the command's filter's, until no task uses the filter any more; it returns an error when it cannot go on. After either the caller must
// end whatever is left of the command's tree: its calls would fail with ENOSYS.
func (s *Supervisor) Serve(listener int) error {
	s.listener = listener
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(s.listener), ioctlSetFlags, syncWakeUp)
	first := s.newWorker()
	s.leader.Store(first)
	s.workers.Store(1)
	go s.guard("worker", first.lead)
	go s.watch()
	err := <-s.failed
	close(s.quit)
	_, _ = unix.Write(s.parked.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	s.reports.done.Wait()
	s.audits.done.Wait()
	return err
}

func (s *Supervisor) newWorker() *worker {
	w := new(worker) // a literal would write every page of it
	w.Supervisor, w.promoted = s, make(chan struct{}, 1)
	return w
}

// guard turns the end of one of our threads, however it comes, into the end of Serve.
func (s *Supervisor) guard(what string, f func() error) {
	defer func() {
		if r := recover(); r != nil {
			s.fail(&wire.Fault{Code: wire.CodeInternal, Op: "supervise the command", Path: what, Detail: fmt.Sprint(r), Hint: "please report this"})
		}
	}()
	if err := f(); err != nil {
		s.fail(fmt.Errorf("supervise the command (%s): %w", what, err))
	}
}

func (s *Supervisor) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// lead is a worker's life: it starts as the leader and comes back to it when it is asked to.
func (w *worker) lead() error {
	if err := w.prepare(); err != nil {
		return err
	}
	for {
		got, over, err := w.next()
		if over || err != nil {
			w.fail(err)
			return nil
		}
		if got {
			w.handle()
			w.busy.Add(1)
		}
		if w.leader.Load() != w {
			if w.workers.Load() > keepWarm {
				w.closeTasks()
			}
			w.followers <- w
			select {
			case <-w.promoted:
			case <-w.quit:
				return nil
			}
		}
	}
}

// next receives one call; got is false when another worker has taken the lead meanwhile. over says that there will be none.
func (w *worker) next() (got, over bool, err error) {
	for {
		events, e := pollShort(w.listener, rawWait)
		if e == 0 && events == 0 {
			events, e = pollLong(w.listener)
		}
		switch {
		case e == unix.EINTR:
			continue
		case e != 0:
			return false, true, fmt.Errorf("wait for calls: %w", e)
		case events&unix.POLLIN == 0:
			return false, true, nil // POLLHUP: no task uses the filter any more
		}
		got, e = w.receive()
		switch {
		case got:
			if w.watching.Load() == 0 && w.watching.CompareAndSwap(0, 1) {
				select {
				case w.active <- struct{}{}:
				default: // the sentinel has a call to wake for already, and must not be waited for
				}
			}
			return true, false, nil
		case e == 0:
			return false, false, nil
		case e != unix.EINTR && e != unix.ENOENT: // ENOENT: the caller died first
			return false, true, fmt.Errorf("receive a call: %w", e)
		}
	}
}

// receive takes the call that the listener is known to have. Two workers that waited for one call would leave the second waiting in here
// for the next one, keeping a slot that the Go runtime cannot take away: a collection would then stop every thread for good.
func (w *worker) receive() (got bool, e errno) {
	w.handover.Lock()
	defer w.handover.Unlock()
	if w.leader.Load() != w {
		return false, 0
	}
	if e = receive(w.listener, &w.call); e != 0 {
		return false, e
	}
	w.busy.Add(1)
	return true, 0
}

// watch is the sentinel. It sleeps in the kernel, keeping its slot: a timer of the Go runtime would wake three threads each time.
func (s *Supervisor) watch() {
	last, same := uint64(0), 0
	for {
		select {
		case <-s.active:
			runtime.LockOSThread() // no thread of its own and no more slots before the first call
			entry.Timers(entry.Exact)
			if runtime.GOMAXPROCS(0) < entry.Slots {
				runtime.GOMAXPROCS(entry.Slots)
			}
		case <-s.quit:
			return
		}
		for {
			pause(patience)
			now := s.leader.Load().busy.Load()
			switch {
			case now != last:
				last, same = now, 0
				continue
			case now&1 == 1: // still the same call
				s.promote(now)
				same = 0
				continue
			}
			if same++; same < idleTicks {
				continue
			}
			s.watching.Store(0)
			if s.leader.Load().busy.Load() == last {
				break // whoever receives a call from now on sees the 0
			}
			s.watching.Store(1)
		}
		same = 0
		runtime.UnlockOSThread()
	}
}

// promote gives the lead to another worker, when there may be one more and the leader is still busy as it was seen.
func (s *Supervisor) promote(busy uint64) {
	s.handover.Lock()
	defer s.handover.Unlock()
	if s.leader.Load().busy.Load() != busy {
		return
	}
	select {
	case w := <-s.followers:
		s.leader.Store(w)
		w.promoted <- struct{}{}
		return
	default:
	}
	if s.workers.Load() >= maxWorkers {
		return
	}
	s.workers.Add(1)
	w := s.newWorker()
	s.leader.Store(w)
	go s.guard("worker", w.lead)
}
