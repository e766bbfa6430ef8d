package supervise

import "golang.org/x/sys/unix"

// When says in which variants of the filter a line of Notified holds.
type When int

const (
	Always       When = iota // whenever there is a supervisor
	SocketsByRef             // unless allowAllUnixSockets lets every connect pass
	Plain                    // without Explain, which watches every open anyway
	Explained                // with Explain only
)

// Call is one system call that the filter must send to the supervisor: when Mask is 0 every one, else those with
// args[Arg]&Mask == Value in the low 32 bits.
type Call struct {
	Name        string
	Nr          int
	Arg         int
	Mask, Value uint32
	When        When
	Why         string
}

// Notified is the contract with the filter. What arrives and is not on the list is refused with EPERM and reported as a violation:
// the filter sends such calls so that the refusal is seen.
var Notified = append([]Call{
	{Name: "openat", Nr: unix.SYS_OPENAT, Arg: 2, Mask: unix.O_CREAT | unix.O_PATH, Value: unix.O_CREAT, When: Plain, Why: "may create a name; O_PATH makes the kernel ignore O_CREAT, O_TMPFILE alone makes no name"},
	{Name: "openat", Nr: unix.SYS_OPENAT, When: Explained, Why: "read denials are reported; without O_CREAT the call continues, mounts judge it"},
	{Name: "mkdirat", Nr: unix.SYS_MKDIRAT, Why: "creates a name"},
	{Name: "mknodat", Nr: unix.SYS_MKNODAT, Why: "creates a name"},
	{Name: "renameat", Nr: unix.SYS_RENAMEAT, Why: "creates a name and takes one away"},
	{Name: "renameat2", Nr: unix.SYS_RENAMEAT2, Why: "creates a name and takes one away, or swaps two"},
	{Name: "linkat", Nr: unix.SYS_LINKAT, Why: "creates a name, also for an O_TMPFILE"},
	{Name: "symlinkat", Nr: unix.SYS_SYMLINKAT, Why: "creates a name that leads elsewhere"},
	{Name: "bind", Nr: unix.SYS_BIND, Why: "a unix socket is a name, and later connects may reach it"},
	{Name: "connect", Nr: unix.SYS_CONNECT, When: SocketsByRef, Why: "a unix socket is opened by path"},
}, legacy...)
