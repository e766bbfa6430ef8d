package wire

// The control channel is a SOCK_SEQPACKET pair; one end is inherited by the init (through bwrap), the other stays with srt.
// One datagram is one strict JSON message of at most MaxControlMessage bytes. Only the init speaks on it:
//
//	KindListeners  once, with one descriptor per Listener, in order (SCM_RIGHTS)
//	KindStarted    once, with one descriptor: a pidfd of the command's main process (SCM_RIGHTS). The command was executed and leads
//	               a process group of its own; before it every failure is srt's own (status 125, 126, 127)
//	KindFault      instead of KindStarted: nothing was run. After it: a protection ended, and the sandbox with it
//	KindViolation  any number
//	KindAllowed    any number, only with LaunchRequest.Audit
//	KindStopped    the command's main process was stopped by a signal (SIGTSTP, SIGTTIN, SIGTTOU, SIGSTOP)
//	KindReport     any number: what the command left that could run later (hooks of repositories it made, …), what did not hold
//	KindExit       once, last: how the command ended
//
// When srt's end closes the init kills the sandbox. When the init's end closes without KindExit, srt reports a fault.
//
// Signals and the terminal are srt's, on the host. The command never shares a process group with anything outside, because
// kill(0, SIGKILL) ignores namespaces. srt reads the command's host pid from /proc/self/fdinfo/PIDFD ("Pid:") and
//   - forwards SIGINT, SIGQUIT, SIGTSTP, SIGCONT and SIGWINCH to the command's process group, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 to
//     its main process (pidfd_send_signal). As the groups differ, a signal from the terminal reaches either srt or the command, so
//     each arrives once;
//   - gives the terminal to the command's group (tcsetpgrp, SIGTTOU ignored) when srt's own group is in the foreground: at once when
//     stdin and stdout are that terminal, else (a pipeline) on the first KindStopped with SIGTTIN or SIGTTOU, followed by SIGCONT;
//   - on KindStopped otherwise stops itself (SIGSTOP), so that its shell sees a stopped job; on SIGCONT gives the terminal again when
//     its own group is in the foreground, and passes SIGCONT on;
//   - takes the terminal back to its own group at the end.
const MaxControlMessage = 64 << 10

// MaxListeners bounds the listeners of a command, its proxy's included: one message carries no more descriptors (SCM_MAX_FD).
const MaxListeners = 253

// Kinds of ControlMessage.
const (
	KindListeners = "listeners"
	KindStarted   = "started"
	KindFault     = "fault"
	KindViolation = "violation"
	KindAllowed   = "allowed"
	KindReport    = "report"
	KindExit      = "exit"
	KindStopped   = "stopped"
)

// ControlMessage is one datagram of the init. Exactly the field that belongs to Kind is set.
type ControlMessage struct {
	Version   int        `json:"version"`
	Kind      string     `json:"kind"`
	Listeners []Listener `json:"listeners,omitempty"`
	Fault     *Fault     `json:"fault,omitempty"`
	Violation *Violation `json:"violation,omitempty"`
	Allowed   *Decision  `json:"allowed,omitempty"`
	Report    []string   `json:"report,omitempty"`
	Exit      *Exit      `json:"exit,omitempty"`
	Stopped   *Stopped   `json:"stopped,omitempty"`
}

// Exit is how the command ended: Signal 0 and a Code, or the signal that ended it.
type Exit struct {
	Code   int `json:"code"`
	Signal int `json:"signal"`
}

// Stopped says which signal stopped the command's main process.
type Stopped struct {
	Signal int `json:"signal"`
}

// Listener roles.
const (
	RoleProxy  = "proxy"  // HTTP, CONNECT and SOCKS5 on one port
	RoleMirror = "mirror" // every connection goes to Target, after the same decision as CONNECT Target
)

// Listener describes one listening socket that came out of a sandbox.
type Listener struct {
	Role   string `json:"role"`
	Target string `json:"target,omitempty"` // RoleMirror: canonical host:port
}
