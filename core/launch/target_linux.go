package launch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// pidfdTarget is a main process that srt did not start itself. The pidfd keeps its number from meaning another process.
type pidfdTarget struct {
	pidfd int
	pid   int // as srt's own /proc counts
}

// newTarget takes ownership of pidfd when there is no error.
func newTarget(pidfd int) (target, error) {
	fd, err := unix.Open("/proc/self/fdinfo/"+strconv.Itoa(pidfd), unix.O_RDONLY|unix.O_CLOEXEC, 0) // not os.ReadFile, which starts a poller
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var info [512]byte
	n, err := unix.Read(fd, info[:])
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(info[:n])) {
		if value, ok := strings.CutPrefix(line, "Pid:"); ok {
			pid, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil {
				return nil, err
			}
			return &pidfdTarget{pidfd: pidfd, pid: pid}, nil
		}
	}
	return nil, fmt.Errorf("descriptor %d is no pidfd", pidfd)
}

// pidfdSignalProcessGroup is newer (Linux 6.9) than the constants of x/sys.
const pidfdSignalProcessGroup = 1 << 2

func (t *pidfdTarget) leader() int { return t.pid }

func (t *pidfdTarget) signalMain(sig unix.Signal) { _ = unix.PidfdSendSignal(t.pidfd, sig, nil, 0) }

func (t *pidfdTarget) signalGroup(sig unix.Signal) {
	err := unix.PidfdSendSignal(t.pidfd, sig, nil, pidfdSignalProcessGroup)
	if errors.Is(err, unix.EINVAL) && t.pid > 1 && unix.PidfdSendSignal(t.pidfd, 0, nil, 0) == nil {
		_ = unix.Kill(-t.pid, sig) // an older kernel; the look before keeps out a number that has become another's
	}
}

func (t *pidfdTarget) close() { unix.Close(t.pidfd) }
