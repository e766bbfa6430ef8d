//go:build !linux && !darwin

package harden

import (
	"errors"
	"fmt"
)

// Process fails: there is no channel to live on here.
func Process() error { return fmt.Errorf("run proxyd by itself: %w", errors.ErrUnsupported) }

// DieWithParent fails as Process does.
func DieWithParent() error { return fmt.Errorf("run proxyd by itself: %w", errors.ErrUnsupported) }
