package wire

// MinToken is how long the token of an Attach must be: 128 bits in hexadecimal digits.
const MinToken = 32

// The proxyd channel is a SOCK_SEQPACKET pair that proxyd inherits as descriptor 3; one datagram is one strict JSON message of at
// most MaxProxyMessage bytes. A session that uses go-plugin sends the same ProxyCommand bytes by RPC, except OpAttach, which always
// uses the channel because a descriptor cannot cross an RPC. proxyd ends when the channel does.
//
//	srt → proxyd   OpConfigure   whole ProxyConfig; the first must come before OpAttach; later ones hold for connections to come
//	srt → proxyd   OpAttach      listeners of one command, one descriptor each (SCM_RIGHTS)
//	srt → proxyd   OpAssign      other lists for one attached command; they hold for connections to come
//	srt → proxyd   OpDetach      the command ended: close its listeners and connections
//	srt → proxyd   OpAnswer      answer to an EventAsk
//	proxyd → srt   EventReady    answer to each of these but OpAnswer (Seq repeats the command's), Fault when it failed
//	proxyd → srt   EventViolation, EventAllowed (only when ProxyConfig.Audit), EventAsk
//
// A config that does not fit one datagram is sent as an OpConfigure whose Config is empty and whose payload is an anonymous file
// descriptor (ConfigFD true) holding the ProxyConfig as strict JSON of at most MaxProxyConfig bytes.
//
// On Windows srt and proxyd talk over proxyd's standard input and output instead: each message has four bytes of length (big endian) in
// front, no descriptors ride along, and a message may have MaxProxyPiped bytes, so that every configuration fits.
const (
	MaxProxyMessage = 128 << 10
	MaxProxyConfig  = 16 << 20
	MaxProxyPiped   = MaxProxyConfig + 64<<10
)

// Operations of a ProxyCommand.
const (
	OpConfigure = "configure"
	OpAttach    = "attach"
	OpAssign    = "assign"
	OpDetach    = "detach"
	OpAnswer    = "answer"
)

// Kinds of ProxyEvent.
const (
	EventReady     = "ready"
	EventViolation = "violation"
	EventAllowed   = "allowed"
	EventAsk       = "ask"
)

// ProxyCommand is one word of srt to proxyd.
type ProxyCommand struct {
	Version  int          `json:"version"`
	Seq      uint64       `json:"seq"`
	Op       string       `json:"op"`
	Config   *ProxyConfig `json:"config,omitempty"`
	ConfigFD bool         `json:"configFd,omitempty"`
	Attach   *Attach      `json:"attach,omitempty"`
	Assign   *Assign      `json:"assign,omitempty"`
	Detach   string       `json:"detach,omitempty"` // command id
	Answer   *Answer      `json:"answer,omitempty"`
}

// Attach hands proxyd the listeners of one command. Which listener a connection came in on says whose it is.
type Attach struct {
	CommandID string     `json:"commandId"`
	Listeners []Listener `json:"listeners"`
	Lists     *NetLists  `json:"lists,omitempty"` // the command's own lists

	// Listen and Token belong together, where listeners cannot be handed over (Windows): proxyd itself listens on Listen
	// ("127.0.0.1:PORT") for the one listener of role RoleProxy, and serves only those who show Token, because any process of the
	// machine can connect there. CodeBusy says that another process has the port.
	Listen string `json:"listen,omitempty"`
	Token  string `json:"token,omitempty"`
}

// Assign replaces the lists of one command.
type Assign struct {
	CommandID string    `json:"commandId"`
	Lists     *NetLists `json:"lists,omitempty"`
}

// NetLists are one command's own lists, consulted after the session's (see ProxyConfig).
type NetLists struct {
	AllowedDomains []string `json:"allowedDomains"`
	DeniedDomains  []string `json:"deniedDomains"`
}

// Answer settles one EventAsk.
type Answer struct {
	ID    uint64 `json:"id"`
	Allow bool   `json:"allow"`
}

// ProxyEvent is one word of proxyd to srt.
type ProxyEvent struct {
	Version   int        `json:"version"`
	Kind      string     `json:"kind"`
	Seq       uint64     `json:"seq,omitempty"`
	Fault     *Fault     `json:"fault,omitempty"`
	Violation *Violation `json:"violation,omitempty"`
	Decision  *Decision  `json:"decision,omitempty"` // EventAllowed
	Ask       *Ask       `json:"ask,omitempty"`
}

// Ask is a question for the user: may CommandID connect to Host:Port?
type Ask struct {
	ID        uint64 `json:"id"`
	CommandID string `json:"commandId"`
	Host      string `json:"host"`
	Port      int    `json:"port"`
}

// ProxyConfig is the whole egress policy. The zero value denies everything. Entries are as written in the settings file and are
// parsed again by proxyd (core/hostmatch); an entry that does not parse refuses the whole configuration.
type ProxyConfig struct {
	Version                 int               `json:"version"`
	AllowedDomains          []string          `json:"allowedDomains"`
	DeniedDomains           []string          `json:"deniedDomains"`
	DeniedDomainReasons     map[string]string `json:"deniedDomainReasons"`
	StrictAllowlist         bool              `json:"strictAllowlist"`
	DeniedResolvedAddresses []string          `json:"deniedResolvedAddresses"` // addresses and CIDR blocks
	Ask                     bool              `json:"ask"`                     // somebody answers EventAsk
	AskTimeoutMs            int               `json:"askTimeoutMs"`            // 0: 30,000
	Parent                  ParentProxy       `json:"parent"`
	Mitm                    *MitmProxy        `json:"mitm,omitempty"`
	HTTPProxyPort           int               `json:"httpProxyPort"`  // the user's own proxy on the host's loopback; 0: none
	SOCKSProxyPort          int               `json:"socksProxyPort"` // the same for SOCKS
	Audit                   bool              `json:"audit"`          // send EventAllowed
	Debug                   bool              `json:"debug"`          // one log record per connection on stderr
}

// ParentProxy chains upstream. Empty strings: direct. NoProxy is a comma-separated list as curl reads it.
type ParentProxy struct {
	HTTP    string `json:"http"`
	HTTPS   string `json:"https"`
	NoProxy string `json:"noProxy"`
}

// MitmProxy sends the named domains through a unix socket of the user's.
type MitmProxy struct {
	SocketPath string   `json:"socketPath"`
	Domains    []string `json:"domains"`
}

// Verdicts of a Decision. The zero value is a denial.
const (
	VerdictDeny  = ""
	VerdictAllow = "allow"
)

// Decision is the outcome of one judgement with the reason and the rule that gave it.
type Decision struct {
	Verdict   string `json:"verdict"`
	CommandID string `json:"commandId"`
	Operation string `json:"operation"` // "network-outbound", "file-write", "file-read", "unix-socket", …
	Target    string `json:"target"`
	Rule      string `json:"rule"`    // the settings entry, as written
	Reason    string `json:"reason"`  // one line
	Process   string `json:"process"` // name of the program, when known
	TimeMs    int64  `json:"timeMs"`  // Unix milliseconds
	Count     int    `json:"count"`   // how many equal ones this stands for, ≥ 1
}
