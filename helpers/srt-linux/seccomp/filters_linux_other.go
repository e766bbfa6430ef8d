//go:build linux && !amd64 && !arm64

package seccomp

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/srt-dev/srt/helpers/srt-linux/seccomp/rules"
)

var native = rules.Arch{}

func embedded(string) ([]byte, error) {
	return nil, fmt.Errorf("no system-call filter exists for %s: %w", runtime.GOARCH, errors.ErrUnsupported)
}
