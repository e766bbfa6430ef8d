package wire

import "fmt"

// Codes of a Fault. A caller acts on the code; the text is for people.
const (
	CodeVersion     = "version"     // the peer speaks another version
	CodeMalformed   = "malformed"   // the message is not what the contract says
	CodeTooLarge    = "too-large"   // the message is over its bound
	CodePeerGone    = "peer-gone"   // the other process ended, hung or crashed
	CodePolicy      = "policy"      // the policy asks for what cannot be applied
	CodeUnsupported = "unsupported" // this machine lacks what the policy needs
	CodeNotFound    = "not-found"   // the command was not found: exit status 127
	CodeNotExec     = "not-exec"    // the command cannot be executed: exit status 126
	CodeBusy        = "busy"        // somebody else has it: try another
	CodeInternal    = "internal"    // "cannot happen": please report
)

// Fault is an error that crosses a process boundary: what failed, on which thing, why, and the way out.
type Fault struct {
	Code   string `json:"code"`
	Op     string `json:"op"`             // what was being done: "mount", "start bwrap"
	Path   string `json:"path,omitempty"` // the thing: a path, a host, a settings key
	Detail string `json:"detail"`         // the cause
	Hint   string `json:"hint,omitempty"` // the next thing to type or to change
}

// Error implements error: "op "path": detail".
func (f *Fault) Error() string {
	if f.Path == "" {
		return fmt.Sprintf("%s: %s", f.Op, f.Detail)
	}
	return fmt.Sprintf("%s %q: %s", f.Op, f.Path, f.Detail)
}

// Violation is one refusal that happened while a command ran. Texts that a command chose (Target, Process) are not sanitised here:
// the store does that once, for everybody.
type Violation struct {
	CommandID string `json:"commandId"`
	Operation string `json:"operation"` // "network-outbound", "file-write", "file-read", "unix-socket", "syscall"
	Target    string `json:"target"`    // host:port or path
	Reason    string `json:"reason"`
	Rule      string `json:"rule"`    // the settings entry that refused it, as written; "" when none did (not on an allow list)
	Process   string `json:"process"` // name of the program, when known
	TimeMs    int64  `json:"timeMs"`  // Unix milliseconds
	Count     int    `json:"count"`   // how many equal ones this stands for, ≥ 1
}
