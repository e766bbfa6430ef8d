package settings

// File is a settings file as written: nothing is resolved, an absent list is nil, an absent number is 0, an absent text is "".
// Embedders may also build one in code. core/policy turns it into a policy.
type File struct {
	Network    Network
	Filesystem Filesystem
	Git        Git
	Windows    Windows

	// IgnoreViolations maps a command pattern (part of a command's text, or "*") to parts of violation lines that are not reported.
	IgnoreViolations map[string][]string

	MandatoryDenySearchDepth     int // 1..10; 0: the default
	EnableWeakerNestedSandbox    bool
	AllowNestedUserNamespaces    bool
	EnableWeakerNetworkIsolation bool
	AllowAppleEvents             bool
	AllowPty                     bool
	BwrapPath                    string

	source  string // the path it was read from, for messages; "" when it was not read from a file
	text    []byte // what was read; errors found later look their position up in it
	present []int  // rows of the key table that the file names
	unused  unused
}

// Network is the section "network".
type Network struct {
	AllowedDomains          []string
	DeniedDomains           []string
	DeniedDomainReasons     map[string]string
	StrictAllowlist         bool
	DeniedResolvedAddresses []string
	AllowUnixSockets        []string
	AllowAllUnixSockets     bool
	AllowLocalBinding       bool
	AllowMachLookup         []string
	HTTPProxyPort           int          // 0: none
	SOCKSProxyPort          int          // 0: none
	MitmProxy               *MitmProxy   // nil: none
	ParentProxy             *ParentProxy // nil: what the caller's proxy variables say; empty: direct
}

// MitmProxy sends the named domains through a unix socket of the user's.
type MitmProxy struct {
	SocketPath string
	Domains    []string
}

// ParentProxy chains upstream.
type ParentProxy struct {
	HTTP, HTTPS, NoProxy string
}

// Filesystem is the section "filesystem".
type Filesystem struct {
	DenyRead       []PathEntry
	AllowRead      []PathEntry
	AllowWrite     []PathEntry
	DenyWrite      []PathEntry
	AllowGitConfig bool
	AllowProtected []string // names out of the table of mandatory denies that the user lifts
	Disabled       bool
}

// PathEntry is one entry of a file list.
type PathEntry struct {
	Path    string
	Literal bool // never a pattern
}

// Git is the section "git".
type Git struct {
	SafeDirectories []string
}

// Windows is the section "windows".
type Windows struct {
	Backend         string
	SandboxUser     string
	SublayerGUID    string
	WFPSublayerGUID string
	ProxyPortRange  []int // nil, or the first and the last port
}

// unused takes what the file may say and srt has no use for.
type unused struct {
	text   string
	list   []string
	truth  bool
	choice string
}

// Source is the path that the file was read from, or "" for the defaults and for a File built in code.
func (f *File) Source() string { return f.source }

// Inert names the keys that the file sets and that have no effect on the named operating system (a GOOS value), in file order.
func (f *File) Inert(goos string) []string {
	var names []string
	for _, i := range f.present {
		if k := &keys[i]; k.Use == Unused || !k.worksOn(goos) {
			names = append(names, k.Path)
		}
	}
	return names
}
