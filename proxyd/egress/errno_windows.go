package egress

import "golang.org/x/sys/windows"

// The errors of connect that a client is told apart. Package syscall has other, invented numbers for them on Windows.
const (
	errConnRefused     = windows.WSAECONNREFUSED
	errNetUnreachable  = windows.WSAENETUNREACH
	errHostUnreachable = windows.WSAEHOSTUNREACH
)
