package wire

// The control channel is a SOCK_SEQPACKET pair; one end is inherited by the init (through bwrap), the other stays with srt.
// One datagram is one strict JSON message of at most MaxControlMessage bytes.
//
//	init → srt   KindListeners  once, with one descriptor per Listener, in order (SCM_RIGHTS)
//	init → srt   KindStarted    once: the command was executed; before it every failure is srt's own (status 125, 126, 127)
//	init → srt   KindFault      instead of KindStarted: nothing was run
//	init → srt   KindViolation  any number
//	init → srt   KindReport     at the end: what the command left that could run later (hooks of repositories it made, …)
//	init → srt   KindExit       once, last: how the command ended
//	init → srt   KindSignaled   answer to each SignalMessage
//	srt → init   SignalMessage  srt got a signal that the command must get once (the init leaves it alone when it got the same
//	                            signal itself from the terminal, because then the command did too)
//
// When srt's end closes the init kills the sandbox. When the init's end closes without KindExit, srt reports a fault.
const MaxControlMessage = 64 << 10

// Kinds of ControlMessage.
const (
	KindListeners = "listeners"
	KindStarted   = "started"
	KindFault     = "fault"
	KindViolation = "violation"
	KindReport    = "report"
	KindExit      = "exit"
	KindSignaled  = "signaled"
)

// ControlMessage is one datagram of the init. Exactly the field that belongs to Kind is set.
type ControlMessage struct {
	Version   int        `json:"version"`
	Kind      string     `json:"kind"`
	Listeners []Listener `json:"listeners,omitempty"`
	Fault     *Fault     `json:"fault,omitempty"`
	Violation *Violation `json:"violation,omitempty"`
	Report    []string   `json:"report,omitempty"`
	Exit      *Exit      `json:"exit,omitempty"`
	Signaled  *Signaled  `json:"signaled,omitempty"`
}

// Exit is how the command ended: Signal 0 and a Code, or the signal that ended it.
type Exit struct {
	Code   int `json:"code"`
	Signal int `json:"signal"`
}

// Signaled answers a SignalMessage. Stopped says that the command's main process is now stopped (srt then stops itself).
type Signaled struct {
	Signal  int  `json:"signal"`
	Stopped bool `json:"stopped"`
}

// SignalMessage is srt's one kind of word to the init.
type SignalMessage struct {
	Version int `json:"version"`
	Signal  int `json:"signal"`
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
