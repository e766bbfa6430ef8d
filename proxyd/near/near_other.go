//go:build !linux

package near

import (
	"net"

	"github.com/srt-dev/srt/proxyd/client"
)

// Serve is there for Linux only: the caller accepts by itself.
func Serve(*client.Command, *net.TCPListener, Way) bool { return false }
