//go:build !linux

package srttest

import (
	"errors"
	"fmt"
)

func tryUserNamespace() error {
	return fmt.Errorf("user namespaces exist on Linux only: %w", errors.ErrUnsupported)
}
