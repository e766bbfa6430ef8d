package main

import (
	"runtime"

	"github.com/srt-dev/srt/core/environ"
	"github.com/srt-dev/srt/core/wire"
)

// env is the command's environment: the caller's, with the proxy and the private temporary directory of a sandbox on this system.
func (j *job) env() []string {
	s := environ.Spec{GOOS: runtime.GOOS, Caller: j.ctx.Env, SafeDirectories: j.policy.SafeDirectories()}
	if runtime.GOOS == "linux" {
		s.ProxyAddr, s.TmpDir, s.Relay = wire.LinuxProxyAddr, wire.LinuxTmpDir, []string{wire.LinuxRelay}
	}
	return environ.Build(s)
}
