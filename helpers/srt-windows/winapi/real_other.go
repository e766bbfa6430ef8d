//go:build !windows

package winapi

import (
	"errors"
	"fmt"
)

// Real is not to be had on this system.
type Real struct {
	System
	Host
}

// New fails: there is no Windows to talk to.
func New() (*Real, error) {
	return nil, fmt.Errorf("talk to Windows on this system: %w", errors.ErrUnsupported)
}
