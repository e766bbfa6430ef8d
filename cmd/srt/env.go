package main

import (
	"os"
	"runtime"

	"github.com/srt-dev/srt/core/environ"
	"github.com/srt-dev/srt/core/launch"
	"github.com/srt-dev/srt/core/wire"
)

// env is the command's environment: the caller's, with the proxy and the private temporary directory of its place.
func (j *job) env(p *launch.Place) []string {
	return environ.Build(environ.Spec{GOOS: runtime.GOOS, Caller: j.ctx.Env, ProxyAddr: p.ProxyAddr, Token: p.Token, Loopback: j.policy.LocalPorts(), TmpDir: p.TmpDir, Relay: j.relay(),
		Root: os.Geteuid() == 0, SafeDirectories: j.policy.SafeDirectories()})
}

// relay is the program that connects standard streams to a host through the proxy.
func (j *job) relay() []string {
	switch runtime.GOOS {
	case "linux":
		return []string{wire.LinuxRelay}
	case "windows":
		return nil // neither of the two ssh programs there splits a ProxyCommand as the other does
	}
	return []string{j.helper, "connect"}
}
