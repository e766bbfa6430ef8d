//go:build !windows

package helper

import (
	"errors"
	"fmt"

	"github.com/srt-dev/srt/core/wire"
	"github.com/srt-dev/srt/helpers/srt-windows/journal"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

var errOther = fmt.Errorf("srt-windows on this system: %w", errors.ErrUnsupported)

// UserStore fails.
func UserStore(*winapi.Real) (journal.Store, error) { return nil, errOther }

// Prove fails.
func Prove(*winapi.Real, journal.Store) ([]wire.CheckItem, error) { return nil, errOther }
