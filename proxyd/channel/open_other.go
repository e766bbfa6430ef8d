//go:build !unix

package channel

import (
	"errors"
	"fmt"
)

// open fails: descriptors cannot be passed here. A session on Windows speaks the same messages by RPC.
func open(uintptr) (transport, error) {
	return nil, fmt.Errorf("a channel over an inherited socket: %w", errors.ErrUnsupported)
}
