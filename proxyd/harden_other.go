//go:build !linux && !darwin

package main

import (
	"errors"
	"fmt"
)

// harden fails: there is no channel to live on here.
func harden() error {
	return fmt.Errorf("run proxyd by itself: %w", errors.ErrUnsupported)
}
