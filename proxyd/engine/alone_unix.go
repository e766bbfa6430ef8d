//go:build unix

package engine

import (
	"errors"
	"syscall"
)

// alone has nothing to do: no second socket can listen on the port.
func alone(uintptr) error { return nil }

func inUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
