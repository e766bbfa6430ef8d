//go:build !windows

package main

import (
	"errors"
	"fmt"

	"github.com/srt-dev/srt/helpers/srt-windows/journal"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

var errOther = fmt.Errorf("srt-windows on this system: %w", errors.ErrUnsupported)

func runInside(*winapi.Real, words) (status int, inside bool) { return 0, false }

func userStore(*winapi.Real) (journal.Store, error) { return nil, errOther }

func machineCheck(*winapi.Real, journal.Store) ([]checkItem, error) { return nil, errOther }
