package settings

import "strings"

// Use says what srt does with a key.
type Use int

// Uses of a key.
const (
	Used   Use = iota
	Unused     // accepted, because other sandboxes' files have it; srt needs nothing of the kind
	Later      // asks for a protection that this version does not have: refused unless its value asks for nothing
	Never      // the same, whatever the value
)

// Key is one row of the table of settings: what it is called, where it works and what it does.
type Key struct {
	Path string // "network.allowedDomains"
	OS   string // the GOOS values where it has an effect, separated by spaces; "" is everywhere
	Use  Use
	Doc  string // what it does; for Later and Never, what it asks for

	// field gives the place in f that takes the value, and with its type the form of the value:
	// *bool, *string, *[]string, *[]PathEntry, *map[string]string, *map[string][]string, *number, *choice, *portPair, section.
	field func(f *File) any
}

type number struct {
	to       *int
	min, max int
}

type choice struct {
	to     *string
	values string // separated by spaces
	later  string // a value that this version refuses
}

type portPair struct{ to *[]int }

// section is an object with keys of its own.
type section struct{}

func sub(*File) any { return section{} }

// keys is every key there is. Reading, suggestions and the reference of the settings come from it.
var keys = [...]Key{
	{"$schema", "", Unused, "names a JSON schema, for editors", func(f *File) any { return &f.unused.text }},

	{"network", "", Used, "which hosts the command may reach; nothing is reachable by default", sub},
	{"network.allowedDomains", "", Used, "hosts that may be reached: host, *.host, address, each with an optional :port", func(f *File) any { return &f.Network.AllowedDomains }},
	{"network.deniedDomains", "", Used, "hosts that may not be reached; wins over allowedDomains; also * and *:port", func(f *File) any { return &f.Network.DeniedDomains }},
	{"network.deniedDomainReasons", "", Used, "entry of deniedDomains → reason that the command is told", func(f *File) any { return &f.Network.DeniedDomainReasons }},
	{"network.strictAllowlist", "", Used, "never ask: what is not allowed is denied", func(f *File) any { return &f.Network.StrictAllowlist }},
	{"network.deniedResolvedAddresses", "", Used, "addresses and CIDR blocks that no allowed name may resolve to, beside the built-in ones", func(f *File) any { return &f.Network.DeniedResolvedAddresses }},
	{"network.allowUnixSockets", "linux darwin", Used, "unix sockets of the host that may be used", func(f *File) any { return &f.Network.AllowUnixSockets }},
	{"network.allowAllUnixSockets", "linux darwin", Used, "every unix socket of the host may be used", func(f *File) any { return &f.Network.AllowAllUnixSockets }},
	{"network.allowLocalBinding", "darwin windows", Used, "local ports may be opened; Linux commands have a loopback of their own", func(f *File) any { return &f.Network.AllowLocalBinding }},
	{"network.allowMachLookup", "darwin", Used, "Mach services that may be looked up; one * at the end is a wildcard", func(f *File) any { return &f.Network.AllowMachLookup }},
	{"network.httpProxyPort", "", Used, "port of your own HTTP proxy on this host; what the lists allow goes through it instead of being dialled", func(f *File) any { return &number{&f.Network.HTTPProxyPort, 1, 65535} }},
	{"network.socksProxyPort", "", Used, "port of your own SOCKS5 proxy on this host; the same for SOCKS, and for all when it stands alone", func(f *File) any { return &number{&f.Network.SOCKSProxyPort, 1, 65535} }},
	{"network.mitmProxy", "", Used, "sends some domains through a unix socket", func(f *File) any { f.Network.MitmProxy = new(MitmProxy); return section{} }},
	{"network.mitmProxy.socketPath", "", Used, "the unix socket", func(f *File) any { return &f.Network.MitmProxy.SocketPath }},
	{"network.mitmProxy.domains", "", Used, "the domains", func(f *File) any { return &f.Network.MitmProxy.Domains }},
	{"network.parentProxy", "", Used, "proxy that srt itself goes through; without it the caller's proxy variables count", func(f *File) any { f.Network.ParentProxy = new(ParentProxy); return section{} }},
	{"network.parentProxy.http", "", Used, "URL of the proxy for http", func(f *File) any { return &f.Network.ParentProxy.HTTP }},
	{"network.parentProxy.https", "", Used, "URL of the proxy for everything else; http when it is left out", func(f *File) any { return &f.Network.ParentProxy.HTTPS }},
	{"network.parentProxy.noProxy", "", Used, "comma-separated exceptions", func(f *File) any { return &f.Network.ParentProxy.NoProxy }},
	{"network.tlsTerminate", "", Never, "TLS termination", nil},
	{"network.filterRequest", "", Never, "rules for single requests", nil},
	{"network.stripResponseHeaders", "", Later, "response header filtering", nil},
	{"network.refuseOpaqueTunnels", "", Later, "refusal of tunnels that cannot be looked into", nil},
	{"network.requireHostMatch", "", Later, "comparison of Host header and destination", nil},
	{"network.allowPlaintextHeaderSet", "", Unused, "lets rules for single requests set headers over plain HTTP; there are no such rules", func(f *File) any { return &f.unused.truth }},
	{"network.ambiguousRequestTarget", "", Unused, "how rules for single requests read an ambiguous path; there are no such rules", func(f *File) any {
		return &choice{to: &f.unused.choice, values: "refuse asSpelled normalize"}
	}},

	{"filesystem", "", Used, "what the command may read and write; everything is readable, nothing writable by default", sub},
	{"filesystem.denyRead", "", Used, "paths and patterns that cannot be read", func(f *File) any { return &f.Filesystem.DenyRead }},
	{"filesystem.allowRead", "", Used, "paths inside a denied region that can be read; wins over denyRead", func(f *File) any { return &f.Filesystem.AllowRead }},
	{"filesystem.allowWrite", "", Used, "paths that can be written", func(f *File) any { return &f.Filesystem.AllowWrite }},
	{"filesystem.denyWrite", "", Used, "paths inside an allowed region that cannot be written; wins over allowWrite", func(f *File) any { return &f.Filesystem.DenyWrite }},
	{"filesystem.allowGitConfig", "", Used, "the config file of repositories may be written", func(f *File) any { return &f.Filesystem.AllowGitConfig }},
	{"filesystem.allowProtected", "", Used, "names out of the list of mandatory denies that may be written", func(f *File) any { return &f.Filesystem.AllowProtected }},
	{"filesystem.disabled", "", Used, "no file limits at all", func(f *File) any { return &f.Filesystem.Disabled }},

	{"ignoreViolations", "", Used, "part of a command, or * → parts of violation lines that are not reported", func(f *File) any { return &f.IgnoreViolations }},
	{"mandatoryDenySearchDepth", "linux", Used, "how many levels down protected names are looked for (3)", func(f *File) any { return &number{&f.MandatoryDenySearchDepth, 1, 10} }},
	{"enableWeakerNestedSandbox", "linux", Used, "in a container where system calls are supervised already, or that allows no fresh /proc (Docker and Podman as they come), run without the supervisor: no unix sockets, and missing protected names are only reported afterwards", func(f *File) any { return &f.EnableWeakerNestedSandbox }},
	{"allowNestedUserNamespaces", "linux", Used, "the command may make user namespaces; gives up write denies against a hostile command", func(f *File) any { return &f.AllowNestedUserNamespaces }},
	{"enableWeakerNetworkIsolation", "darwin", Used, "the trustd service may be used, which Go programs need to check certificates", func(f *File) any { return &f.EnableWeakerNetworkIsolation }},
	{"allowAppleEvents", "darwin", Used, "Apple Events may be sent; gives up isolation of code", func(f *File) any { return &f.AllowAppleEvents }},
	{"allowPty", "darwin", Used, "pseudo-terminals may be opened", func(f *File) any { return &f.AllowPty }},
	{"bwrapPath", "linux", Used, "absolute path of a bubblewrap that only root can write", func(f *File) any { return &f.BwrapPath }},

	{"git", "", Used, "what git is told in its environment", sub},
	{"git.safeDirectories", "", Used, "repositories that git trusts although another user owns them", func(f *File) any { return &f.Git.SafeDirectories }},

	{"windows", "windows", Used, "what srt-windows install was told", sub},
	{"windows.backend", "windows", Used, "srt-win, the only backend", func(f *File) any { return &choice{to: &f.Windows.Backend, values: "srt-win mxc", later: "mxc"} }},
	{"windows.sandboxUser", "windows", Used, "name of the sandbox account", func(f *File) any { return &f.Windows.SandboxUser }},
	{"windows.sublayerGuid", "windows", Used, "sublayer of the network filters", func(f *File) any { return &f.Windows.SublayerGUID }},
	{"windows.wfpSublayerGuid", "windows", Used, "old name of sublayerGuid", func(f *File) any { return &f.Windows.WFPSublayerGUID }},
	{"windows.proxyPortRange", "windows", Used, "first and last port for the proxies", func(f *File) any { return &portPair{&f.Windows.ProxyPortRange} }},
	{"windows.srtWin", "windows", Unused, "where a helper binary lies; srt uses its own alone", sub},
	{"windows.srtWin.path", "windows", Unused, "where a helper binary lies; srt uses its own alone", func(f *File) any { return &f.unused.text }},

	{"credentials", "", Unused, "masking of credentials, which this version does not have", sub},
	{"credentials.files", "", Later, "masking of credential files", nil},
	{"credentials.envVars", "", Later, "masking of environment variables", nil},
	{"credentials.awsPairs", "", Later, "masking of AWS credentials", nil},
	{"credentials.sigv4", "", Later, "signing of AWS requests", nil},
	{"credentials.allowPlaintextInject", "", Later, "injection of credentials over plain HTTP", nil},

	{"seccomp", "", Unused, "where a filter loader lies; srt has its own", sub},
	{"seccomp.applyPath", "", Unused, "path of a filter loader", func(f *File) any { return &f.unused.text }},
	{"seccomp.argv0", "", Unused, "name of a filter loader", func(f *File) any { return &f.unused.text }},
	{"ripgrep", "", Unused, "how to run ripgrep; srt looks for files itself", sub},
	{"ripgrep.command", "", Unused, "path of ripgrep", func(f *File) any { return &f.unused.text }},
	{"ripgrep.args", "", Unused, "arguments of ripgrep", func(f *File) any { return &f.unused.list }},
	{"ripgrep.argv0", "", Unused, "name of ripgrep", func(f *File) any { return &f.unused.text }},
	{"socatPath", "", Unused, "path of socat; srt relays itself", func(f *File) any { return &f.unused.text }},
	{"javaAgentJarPath", "", Unused, "path of a Java agent; srt sets Java's own options", func(f *File) any { return &f.unused.text }},
}

// Keys gives the table of settings in documentation order.
func Keys() []Key { return append([]Key(nil), keys[:]...) }

// Form is how the value is written, for documentation: "list of texts", "true or false", …
func (k Key) Form() string {
	if k.field == nil {
		return "refused by this version"
	}
	f := &File{Network: Network{MitmProxy: new(MitmProxy), ParentProxy: new(ParentProxy)}}
	return form(k.field(f)).want
}

func (k *Key) worksOn(goos string) bool {
	if k.OS == "" {
		return true
	}
	for os := range strings.SplitSeq(k.OS, " ") {
		if os == goos {
			return true
		}
	}
	return false
}

// row finds a key by its whole path; -1 when there is none.
func row(path string) int {
	for i := range keys {
		if keys[i].Path == path {
			return i
		}
	}
	return -1
}
