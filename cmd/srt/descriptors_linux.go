package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// sealDescriptors marks everything that srt inherited beside the standard streams close-on-exec, so that nothing gets into the
// sandbox that was not asked for.
func sealDescriptors() error {
	err := unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	return sealEach(fmt.Errorf("mark descriptors close-on-exec: %w", err)) // before Linux 5.11
}
