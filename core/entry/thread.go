package entry

import (
	"fmt"
	"strconv"
	"strings"
)

// Thread is what the command finds as srt's caller left it, although the processes before it start with something else: srt hands it to
// the init as one argument of the command line.
type Thread struct {
	Mask  uint64 // blocked signals, in the kernel's form
	Slack int    // timer slack in nanoseconds (PR_SET_TIMERSLACK); 0 under a real-time policy, where the kernel takes no other
}

// Slack is the timer slack of the processes before the command, in nanoseconds. The monitor thread of the Go runtime polls every 20 µs in the
// beginning; that was a tenth of the switches and of the processor time of a start.
const Slack = 5_000_000

// String is what ParseThread reads.
func (t Thread) String() string {
	return strconv.FormatUint(t.Mask, 16) + "/" + strconv.Itoa(t.Slack)
}

// ParseThread reads the argument that srt gave.
func ParseThread(s string) (Thread, error) {
	mask, slack, _ := strings.Cut(s, "/")
	var t Thread
	var err error
	if t.Mask, err = strconv.ParseUint(mask, 16, 64); err != nil {
		return Thread{}, err
	}
	if t.Slack, err = strconv.Atoi(slack); err != nil {
		return Thread{}, err
	}
	if t.Slack < 0 {
		return Thread{}, fmt.Errorf("timer slack %d", t.Slack)
	}
	return t, nil
}
