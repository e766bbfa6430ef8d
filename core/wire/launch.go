package wire

import "strconv"

// Version is the version of every message of this package. Both sides of a boundary come from one build;
// a peer that names another version is refused with CodeVersion.
const Version = 1

// Addresses and paths that the Linux init gives every command. They are constants, because each command has a network
// namespace and a /dev of its own, so nothing can collide and no message has to carry them back.
const (
	LinuxProxyAddr = "127.0.0.1:3128"   // one listener speaks HTTP, CONNECT and SOCKS5
	LinuxTmpDir    = "/dev/srt/tmp"     // the run's own TMPDIR (0700 tmpfs)
	LinuxRelay     = "/dev/srt/connect" // `connect HOST PORT`: ssh ProxyCommand through the proxy, a read-only view of srt-linux
)

// LaunchRequest asks a helper how to run one command under one policy. srt builds it from a resolved policy;
// every path in it is absolute and lexically clean, every list may be empty, and an empty allow list allows nothing.
type LaunchRequest struct {
	Version   int         `json:"version"`
	CommandID string      `json:"commandId"` // opaque, unique within the session; attribution key
	Command   Command     `json:"command"`
	Files     FilePolicy  `json:"files"`
	Network   NetPolicy   `json:"network"`
	Process   ProcPolicy  `json:"process"`
	Host      HostContext `json:"host"`
	Explain   bool        `json:"explain"` // also report read denials (costs a notification per open on Linux)
	Audit     bool        `json:"audit"`   // also report names that the command was let create (costs two look-ups for each)
}

// Where passed descriptors travel (see Command.PassFDs).
const (
	PassOffset = 100
	MaxPassFD  = 99
)

// Command is what the user asked to run, word for word.
type Command struct {
	Argv     []string `json:"argv"`     // at least one word; argv[0] is looked up in the PATH of Env, inside the sandbox's view
	Env      []string `json:"env"`      // complete environment, KEY=VALUE; the proxy variables are already in it
	Dir      string   `json:"dir"`      // working directory
	Terminal bool     `json:"terminal"` // a controlling terminal is attached: keep the session, filter TIOCSTI instead
	// Foreground: stdin and stdout are the terminal and srt's process group has it: the command's group gets it before the command runs.
	Foreground bool `json:"foreground"`
	// PassFDs are descriptors ≥ 3 that the user asked to hand on. On the way through the wrappers number N travels as N + PassOffset,
	// so that it never meets a descriptor of the chain; the command gets it as N. At most MaxPassFD.
	PassFDs []int `json:"passFds"`
	// IgnoredSignals were ignored by srt's own caller (nohup): the command keeps them ignored.
	IgnoredSignals []int `json:"ignoredSignals"`
}

// PathEntry is one entry of a file list after resolution of ~, relative paths, trailing "/" and "/**".
type PathEntry struct {
	Path string `json:"path"` // absolute and lexically clean; a pattern as git reads them when Glob is set
	Glob bool   `json:"glob"` // Path has pattern characters; it also names the literal path when that exists
	Rule string `json:"rule"` // as written in the settings file, or why srt added it; for messages only
}

// Protected is one mandatory deny: a name, or a sequence of names such as ".git/hooks", protected in every writable directory.
type Protected struct {
	Name   string `json:"name"`   // one or more components, "/" between them, no leading or trailing "/"
	Dir    bool   `json:"dir"`    // everything below it is protected too
	Reason string `json:"reason"` // why it is on the list
}

// FilePolicy says what may be read and written. Reads: allowed unless DenyRead covers the path and no AllowRead inside it
// re-opens it; a DenyRead that lies inside that AllowRead wins again. Writes: denied unless AllowWrite covers; DenyWrite and Protected win.
type FilePolicy struct {
	Disabled   bool        `json:"disabled"` // filesystem.disabled: no file limits at all
	DenyRead   []PathEntry `json:"denyRead"`
	AllowRead  []PathEntry `json:"allowRead"`
	AllowWrite []PathEntry `json:"allowWrite"`
	DenyWrite  []PathEntry `json:"denyWrite"`
	Protected  []Protected `json:"protected"` // what is left of the table after allowGitConfig and allowProtected
	// GitRules: also protect what git would run or follow beyond the table (commondir, modules, config.worktree, hooksPath, …).
	GitRules  bool `json:"gitRules"`
	GitConfig bool `json:"gitConfig"` // allowGitConfig: .git/config and its kin may be written
	ScanDepth int  `json:"scanDepth"` // mandatoryDenySearchDepth, 1..10
}

// NetPolicy is the part of the network policy that a helper enforces. Which hosts are allowed is proxyd's business (ProxyConfig).
type NetPolicy struct {
	// ProxyAddr is where the command finds its proxy: LinuxProxyAddr, or "127.0.0.1:PORT" of this command alone on macOS.
	ProxyAddr string `json:"proxyAddr"`
	// Mirrors are allow-listed loopback addresses ("127.0.0.1:5432", "[::1]:80") and names ("localhost:3000") that the init listens on
	// for proxyd, at most MaxListeners with the proxy; a name stands for 127.0.0.1 and ::1.
	Mirrors           []string `json:"mirrors"`
	AllowLocalBinding bool     `json:"allowLocalBinding"` // macOS and Windows
	WeakerIsolation   bool     `json:"weakerIsolation"`   // enableWeakerNetworkIsolation: macOS trustd
}

// ProcPolicy lifts process limits. The zero value lifts nothing.
type ProcPolicy struct {
	AllowAllUnixSockets       bool        `json:"allowAllUnixSockets"`
	AllowUnixSockets          []PathEntry `json:"allowUnixSockets"`
	AllowNestedUserNamespaces bool        `json:"allowNestedUserNamespaces"`
	WeakerNested              bool        `json:"weakerNested"` // enableWeakerNestedSandbox
	AllowPty                  bool        `json:"allowPty"`     // macOS
	AllowAppleEvents          bool        `json:"allowAppleEvents"`
	AllowMachLookup           []string    `json:"allowMachLookup"`
}

// HostContext is what the helper may not find out by itself, because it does not trust its own environment.
type HostContext struct {
	Home      string `json:"home"`
	BwrapPath string `json:"bwrapPath"` // bwrapPath of the settings, or ""
	SessionID string `json:"sessionId"` // random; tags Seatbelt messages
	Debug     bool   `json:"debug"`

	Windows *WindowsHost `json:"windows,omitempty"` // set on Windows only
}

// Ports that commands on Windows reach their proxies on, unless installation and settings say otherwise, and what a range must keep to.
const (
	ProxyPortLow  = 60080
	ProxyPortHigh = 60089
	ProxyPortMin  = 49152 // below are ports that services are assigned
	ProxyPortSpan = 64    // most ports that a range may have: each is a hole in the fence
)

// WindowsHost is what the settings say about the installation on Windows. The helper refuses when the machine has another one.
type WindowsHost struct {
	SandboxUser   string `json:"sandboxUser"` // "": whatever was installed
	Sublayer      string `json:"sublayer"`    // GUID in small letters; "" as above
	ProxyPortLow  int    `json:"proxyPortLow"`
	ProxyPortHigh int    `json:"proxyPortHigh"`
}

// LaunchPlan is the helper's answer: what srt has to execute. Argv[0] is an absolute path.
type LaunchPlan struct {
	Version     int          `json:"version"`
	Argv        []string     `json:"argv"`
	Env         []string     `json:"env"` // environment of the wrapper; the command's own travels in a descriptor or is this one
	Dir         string       `json:"dir"`
	Descriptors []Descriptor `json:"descriptors"` // what Argv expects to inherit beside the standard streams
	NewSession  bool         `json:"newSession"`  // start in a session of its own
	Mode        string       `json:"mode"`        // how the limits are enforced, for --dry-run and doctor, e.g. "init mounts, supervised"
	Warnings    []string     `json:"warnings"`    // shown to the user; a protection that is missing is a Fault, not a warning
	Notes       []string     `json:"notes"`       // shown under --debug: entries that do nothing here, hard links, depth
}

// Descriptor kinds of a LaunchPlan.
const (
	FDData     = "data"     // an anonymous file that holds Data, position 0, read-only
	FDControl  = "control"  // srt's end stays with srt; the other end of a SOCK_SEQPACKET pair (control.go)
	FDLifetime = "lifetime" // a pipe that srt holds the other end of and never writes to: its end is srt's end (Windows)
	FDPass     = "pass"     // a descriptor of the user's (Command.PassFDs), already moved by PassOffset
)

// HandleVariable names the environment variable in which, on Windows, the value of the handle stands that travels as descriptor number.
func HandleVariable(number int) string { return "SRT_FD_" + strconv.Itoa(number) }

// Descriptor is one inherited descriptor of a plan.
type Descriptor struct {
	Number int    `json:"number"` // ≥ 3
	Kind   string `json:"kind"`
	Data   []byte `json:"data,omitempty"`
}

// DescribeRequest asks a helper what it is.
type DescribeRequest struct {
	Version int `json:"version"`
}

// Description names a helper and what it can do on this machine.
type Description struct {
	Version  int      `json:"version"`
	Name     string   `json:"name"` // "srt-linux"
	OS       string   `json:"os"`
	Arch     string   `json:"arch"`
	Build    string   `json:"build"` // commit
	Features []string `json:"features"`
}

// CheckRequest asks whether the protections hold on this machine; the answer comes from trying, not from version numbers.
type CheckRequest struct {
	Version int         `json:"version"`
	Host    HostContext `json:"host"`
}

// Check states.
const (
	CheckPass = "PASS"
	CheckWeak = "WEAK" // holds less than promised; Detail says why
	CheckFail = "FAIL" // Fix says what to do
)

// CheckItem is one protection and whether it holds.
type CheckItem struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Fix    string `json:"fix"`
}

// CheckReport is the answer to a CheckRequest.
type CheckReport struct {
	Version int         `json:"version"`
	Items   []CheckItem `json:"items"`
}
