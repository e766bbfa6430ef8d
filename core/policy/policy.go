package policy

import (
	"runtime"
	"slices"

	"github.com/srt-dev/srt/core/settings"
	"github.com/srt-dev/srt/core/wire"
)

// Context is what a policy depends on beside the settings.
type Context struct {
	GOOS         string   // the system the command runs on; "" is this one
	Home         string   // the user's home directory, absolute
	Dir          string   // working directory of the command, absolute; relative entries start here
	SettingsPath string   // the settings file in force, absolute; "" when there is none
	SrtBinaries  []string // absolute paths of srt and of everything it executes: the command may not change them
	Report       string   // absolute path of the file that this run's refusals are written to; "" when there is none
	Env          []string // the caller's environment, KEY=VALUE
	Ask          bool     // somebody answers when a host is on no list

	// Exists says whether a path names something. It is asked only about an entry that cannot be a pattern or that other tools read in
	// another way, or whose working directory has pattern characters in its name. nil: nothing exists.
	Exists func(path string) bool
}

// Policy is a resolved policy. It does not change; what its methods give may be changed freely.
type Policy struct {
	ctx      Context
	files    wire.FilePolicy
	network  wire.NetPolicy
	process  wire.ProcPolicy
	proxy    wire.ProxyConfig
	bwrap    string
	windows  wire.WindowsHost
	safeDirs []string
	ignore   map[string][]string
	warnings []string
	notes    []string
	lifted   []string // names of allowProtected
}

// Resolve checks f whole and gives its policy. An error that concerns an entry is a *settings.Error.
func Resolve(f *settings.File, c Context) (*Policy, error) {
	if c.GOOS == "" {
		c.GOOS = runtime.GOOS
	}
	c.SrtBinaries, c.Env = slices.Clone(c.SrtBinaries), slices.Clone(c.Env)
	r := &resolver{f: f, p: &Policy{ctx: c}, paths: stylePaths(c)}
	for _, check := range checks {
		if err := check.run(r); err != nil {
			return nil, err
		}
	}
	return r.p, nil
}

// LaunchOptions belong to one command rather than to the policy.
type LaunchOptions struct {
	CommandID string // opaque, unique in the session
	SessionID string // random
	ProxyAddr string // macOS: the command's own "127.0.0.1:PORT"; "" elsewhere
	Debug     bool
	Explain   bool // report read denials too
	Audit     bool // report allowed creations too
}

// LaunchRequest asks a helper to run cmd under the policy. cmd.Dir should be the Dir that the policy was resolved for.
func (p *Policy) LaunchRequest(cmd wire.Command, o LaunchOptions) wire.LaunchRequest {
	n := p.network
	n.Mirrors = clone(n.Mirrors)
	if o.ProxyAddr != "" {
		n.ProxyAddr = o.ProxyAddr
	}
	proc := p.process
	proc.AllowUnixSockets, proc.AllowMachLookup = clone(proc.AllowUnixSockets), clone(proc.AllowMachLookup)
	host := wire.HostContext{Home: p.ctx.Home, BwrapPath: p.bwrap, SessionID: o.SessionID, Debug: o.Debug}
	if p.ctx.GOOS == "windows" {
		w := p.windows
		host.Windows = &w
	}
	return wire.LaunchRequest{
		Version:   wire.Version,
		CommandID: o.CommandID,
		Command:   cmd,
		Files:     p.Files(),
		Network:   n,
		Process:   proc,
		Host:      host,
		Explain:   o.Explain,
		Audit:     o.Audit,
	}
}

// Files gives the file part of the policy.
func (p *Policy) Files() wire.FilePolicy {
	f := p.files
	f.DenyRead, f.AllowRead = clone(f.DenyRead), clone(f.AllowRead)
	f.AllowWrite, f.DenyWrite = clone(f.AllowWrite), clone(f.DenyWrite)
	f.Protected = clone(f.Protected)
	return f
}

// ProxyConfig gives the egress policy. The caller sets Audit, Debug and AskTimeoutMs as it likes.
func (p *Policy) ProxyConfig() wire.ProxyConfig {
	c := p.proxy
	c.AllowedDomains, c.DeniedDomains = clone(c.AllowedDomains), clone(c.DeniedDomains)
	c.DeniedResolvedAddresses = clone(c.DeniedResolvedAddresses)
	reasons := make(map[string]string, len(c.DeniedDomainReasons))
	for k, v := range c.DeniedDomainReasons {
		reasons[k] = v
	}
	c.DeniedDomainReasons = reasons
	if c.Mitm != nil {
		m := *c.Mitm
		m.Domains = clone(m.Domains)
		c.Mitm = &m
	}
	return c
}

// ProxyPorts are the first and the last port that a command on Windows may reach its proxy on.
func (p *Policy) ProxyPorts() (low, high int) { return p.windows.ProxyPortLow, p.windows.ProxyPortHigh }

// LocalPorts says whether the settings let a command open and reach local ports.
func (p *Policy) LocalPorts() bool { return p.network.AllowLocalBinding }

// UsesNetwork reports whether any host may ever be reached, so that proxyd is worth starting ahead of need.
func (p *Policy) UsesNetwork() bool { return len(p.proxy.AllowedDomains) > 0 || p.proxy.Ask }

// SafeDirectories are the repositories that git is told to trust, for the command's environment.
func (p *Policy) SafeDirectories() []string { return clone(p.safeDirs) }

// IgnoreViolations are the rules of the settings for violations that are not reported.
func (p *Policy) IgnoreViolations() map[string][]string {
	m := make(map[string][]string, len(p.ignore))
	for k, v := range p.ignore {
		m[k] = clone(v)
	}
	return m
}

// Warnings are for the user's eyes on every run; Notes only when somebody debugs.
func (p *Policy) Warnings() []string { return clone(p.warnings) }

// Notes say what in the settings has no effect here, or another one than may be expected.
func (p *Policy) Notes() []string { return clone(p.notes) }

// clone copies a list and never gives nil: an empty list is an answer.
func clone[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }
