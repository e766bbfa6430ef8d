package session

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// target is the main process of a command. The pidfd keeps its number from meaning another process.
type target struct {
	file *os.File
	pid  int
}

// openTarget takes pidfd over, also when it fails.
func openTarget(pidfd int) (*target, error) {
	f := os.NewFile(uintptr(pidfd), "pidfd")
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(pidfd))
	if err != nil {
		f.Close()
		return nil, err
	}
	for line := range strings.Lines(string(info)) {
		if value, ok := strings.CutPrefix(line, "Pid:"); ok {
			if pid, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
				return &target{f, pid}, nil
			}
		}
	}
	f.Close()
	return nil, fmt.Errorf("descriptor %d is no pidfd", pidfd)
}

// pidfdSignalProcessGroup is newer (Linux 6.9) than the constants of x/sys.
const pidfdSignalProcessGroup = 1 << 2

// signal sends sig to the main process, or to the process group that it leads.
func (t *target) signal(sig unix.Signal, group bool) error {
	fd := int(t.file.Fd())
	if !group {
		return unix.PidfdSendSignal(fd, sig, nil, 0)
	}
	err := unix.PidfdSendSignal(fd, sig, nil, pidfdSignalProcessGroup)
	if errors.Is(err, unix.EINVAL) && t.pid > 1 {
		if err = unix.PidfdSendSignal(fd, 0, nil, 0); err == nil {
			err = unix.Kill(-t.pid, sig) // an older kernel; the look before keeps out a number that has become another's
		}
	}
	return err
}

// gone waits until the process has ended, at most so long.
func (t *target) gone(limit time.Duration) bool {
	end := time.Now().Add(limit)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(t.file.Fd()), Events: unix.POLLIN}}, max(0, int(time.Until(end).Milliseconds())))
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}

func (t *target) close() { t.file.Close() }
