package pidfd

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a process by its descriptor. It is not for several goroutines at once.
type Process struct {
	fd  int
	pid int
}

// Take makes a Process of the descriptor, which is its own from now on; after an error it is closed.
func Take(fd int) (*Process, error) {
	pid, err := pidOf(fd)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &Process{fd: fd, pid: pid}, nil
}

func pidOf(fd int) (int, error) {
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(info)) {
		if value, ok := strings.CutPrefix(line, "Pid:"); ok {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, fmt.Errorf("descriptor %d is no pidfd", fd)
}

// Pid is its number as our own /proc counts.
func (p *Process) Pid() int { return p.pid }

// Signal sends sig to the process.
func (p *Process) Signal(sig unix.Signal) error { return unix.PidfdSendSignal(p.fd, sig, nil, 0) }

// signalProcessGroup is newer (Linux 6.9) than the constants of x/sys.
const signalProcessGroup = 1 << 2

// SignalGroup sends sig to the process group that the process leads.
func (p *Process) SignalGroup(sig unix.Signal) error {
	err := unix.PidfdSendSignal(p.fd, sig, nil, signalProcessGroup)
	if errors.Is(err, unix.EINVAL) && p.pid > 1 {
		if err = p.Signal(0); err == nil {
			err = unix.Kill(-p.pid, sig) // an older kernel; the look before keeps out a number that has become another's
		}
	}
	return err
}

// Gone waits until the process has ended, at most so long, and says whether it has.
func (p *Process) Gone(limit time.Duration) bool {
	end := time.Now().Add(limit)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, max(0, int(time.Until(end).Milliseconds())))
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}

// Close frees the descriptor; nothing may be called afterwards.
func (p *Process) Close() { unix.Close(p.fd) }
