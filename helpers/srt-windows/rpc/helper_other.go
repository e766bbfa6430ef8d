//go:build !windows

package main

import (
	"errors"
	"fmt"

	"github.com/srt-dev/srt/core/wire"
)

func newHelper(string) (wire.Helper, error) {
	return nil, fmt.Errorf("srt-windows-rpc on this system: %w", errors.ErrUnsupported)
}
