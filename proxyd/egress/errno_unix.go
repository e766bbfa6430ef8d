//go:build unix

package egress

import "syscall"

// The errors of connect(2) that a client is told apart.
const (
	errConnRefused     = syscall.ECONNREFUSED
	errNetUnreachable  = syscall.ENETUNREACH
	errHostUnreachable = syscall.EHOSTUNREACH
)
