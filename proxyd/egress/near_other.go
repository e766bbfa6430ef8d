//go:build !linux

package egress

import "net/netip"

// connectNear is there for Linux only.
func connectNear(netip.AddrPort) (int, bool) { return -1, false }
