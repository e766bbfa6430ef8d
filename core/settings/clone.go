package settings

import (
	"maps"
	"slices"
)

// Clone gives a File that shares nothing with f.
func (f *File) Clone() *File {
	c := *f
	n := &c.Network
	for _, list := range []*[]string{&n.AllowedDomains, &n.DeniedDomains, &n.DeniedResolvedAddresses, &n.AllowUnixSockets, &n.AllowMachLookup,
		&c.Filesystem.AllowProtected, &c.Git.SafeDirectories, &c.unused.list} {
		*list = slices.Clone(*list)
	}
	for _, list := range []*[]PathEntry{&c.Filesystem.DenyRead, &c.Filesystem.AllowRead, &c.Filesystem.AllowWrite, &c.Filesystem.DenyWrite} {
		*list = slices.Clone(*list)
	}
	n.DeniedDomainReasons = maps.Clone(n.DeniedDomainReasons)
	if n.MitmProxy != nil {
		n.MitmProxy = &MitmProxy{n.MitmProxy.SocketPath, slices.Clone(n.MitmProxy.Domains)}
	}
	if n.ParentProxy != nil {
		p := *n.ParentProxy
		n.ParentProxy = &p
	}
	c.Windows.ProxyPortRange = slices.Clone(c.Windows.ProxyPortRange)
	c.IgnoreViolations = maps.Clone(c.IgnoreViolations)
	for k, v := range c.IgnoreViolations {
		c.IgnoreViolations[k] = slices.Clone(v)
	}
	c.text, c.present = slices.Clone(c.text), slices.Clone(c.present)
	return &c
}
