package violation

import (
	"strings"

	"github.com/srt-dev/srt/core/wire"
)

// Operations of a violation.
const (
	Network    = "network-outbound"
	FileWrite  = "file-write"
	FileRead   = "file-read"
	UnixSocket = "unix-socket"
	Syscall    = "syscall"
)

// Line puts a violation into one line:
//
//	deny network-outbound host:port (reason)
//	deny file-write /path
//	deny file-read /path
//	deny unix-socket /path
//	deny syscall name (reason)
func Line(v wire.Violation) string {
	v = clean(v)
	line := strings.TrimRight("deny "+v.Operation+" "+v.Target, " ")
	if v.Reason != "" && (v.Operation == Network || v.Operation == Syscall) {
		line += " (" + v.Reason + ")"
	}
	return line
}

// clean sanitises every text of a violation.
func clean(v wire.Violation) wire.Violation {
	if v.Operation == Network {
		v.Target, _, _ = strings.Cut(v.Target, "?") // a host and a port never hold one: somebody reported a URL
	}
	v.Operation = bounded(v.Operation, 40)
	v.Target = bounded(v.Target, MaxText)
	v.Reason = bounded(v.Reason, MaxReason)
	v.Rule = bounded(v.Rule, MaxReason)
	v.Process = bounded(v.Process, 100)
	v.CommandID = bounded(v.CommandID, keyLength)
	v.Count = max(1, v.Count)
	return v
}
