//go:build !windows

package elevate

import (
	"errors"
	"fmt"
)

// Run fails: there is nothing to ask here.
func Run(self, _ string) (status int, err error) {
	return 0, fmt.Errorf("elevate %q on this system: %w", self, errors.ErrUnsupported)
}
