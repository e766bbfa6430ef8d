package engine

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows"
)

// exclusive is SO_EXCLUSIVEADDRUSE, which the header of Winsock defines as ~SO_REUSEADDR.
const exclusive = ^windows.SO_REUSEADDR

// alone keeps every other socket off the port: without it Windows lets one that asks for SO_REUSEADDR take the connections over.
func alone(fd uintptr) error {
	if err := windows.SetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, exclusive, 1); err != nil {
		return fmt.Errorf("have the port alone: %w", err)
	}
	return nil
}

// inUse also takes "access denied": it is what Windows says when the other socket has its port alone, or the system reserves it.
func inUse(err error) bool {
	return errors.Is(err, windows.WSAEADDRINUSE) || errors.Is(err, windows.WSAEACCES)
}
