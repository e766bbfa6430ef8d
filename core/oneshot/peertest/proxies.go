package peertest

import (
	"bytes"
	"testing"

	"github.com/srt-dev/srt/core/wire"
)

// proxies: what a fake proxyd says to every command, one message an entry.
var proxies = map[string]struct {
	says [][]byte
	then Then
	want wire.Fault
}{
	"crashes":                 {nil, Die, wire.Fault{Code: wire.CodePeerGone, Detail: "the peer closed the channel"}},
	"hangs":                   {nil, Hang, wire.Fault{Code: wire.CodePeerGone, Detail: "the peer did not answer in time"}},
	"answers rubbish":         {[][]byte{[]byte("panic: runtime error")}, End, wire.Fault{Code: wire.CodeMalformed, Detail: "'p' where '{' belongs, at byte 0"}},
	"answers another version": {[][]byte{[]byte(`{"version":2,"kind":"ready","seq":1}`)}, End, wire.Fault{Code: wire.CodeVersion, Detail: "the peer does not speak version 1", Hint: "install srt and its helpers from one build"}},
	"sends too much":          {[][]byte{bytes.Repeat([]byte{' '}, wire.MaxProxyMessage+1)}, End, wire.Fault{Code: wire.CodeTooLarge, Detail: "over 131072 bytes"}},
	"invents events":          {[][]byte{[]byte(`{"version":1,"kind":"hello"}`)}, End, wire.Fault{Code: wire.CodeMalformed, Detail: "unknown event hello"}},
}

// Proxy is what the fake proxyd of that name says to each command, and does then.
func Proxy(name string) (says [][]byte, then Then, ok bool) {
	c, ok := proxies[name]
	return c.says, c.then, ok
}

// RunProxies configures every fake proxyd and judges the faults. start gives the proxyd of that name, and how faults have to call it.
func RunProxies(t *testing.T, start func(t *testing.T, name string) (p wire.Proxy, path string)) {
	for name, c := range proxies {
		t.Run(name, func(t *testing.T) {
			p, path := start(t, name)
			judge(t, p.Configure(t.Context(), Config()), c.want, path)
			if _, open := <-p.Events(); open {
				t.Error("an event came out of a broken conversation")
			}
			judge(t, p.Configure(t.Context(), Config()), c.want, path)
		})
	}
}

// Config is a configuration that allows the domains.
func Config(allowed ...string) wire.ProxyConfig {
	return wire.ProxyConfig{Version: wire.Version, AllowedDomains: allowed, DeniedDomains: []string{}, DeniedDomainReasons: map[string]string{},
		DeniedResolvedAddresses: []string{}}
}
