//go:build !linux && !darwin

package oneshot

import "github.com/srt-dev/srt/core/wire"

// StartProxy refuses: proxyd is reached by a session on this operating system.
func StartProxy(path string) (wire.Proxy, error) {
	return nil, &wire.Fault{Code: wire.CodeUnsupported, Op: "start", Path: path, Detail: errNoChannel.Error()}
}
