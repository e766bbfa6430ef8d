//go:build !windows

package journal

import (
	"errors"
	"fmt"
	"os"
)

func lockFile(*os.File) error {
	return fmt.Errorf("lock a journal of Windows access entries: %w", errors.ErrUnsupported)
}
