package main

import "errors"

// sealDescriptors marks everything that srt inherited beside the standard streams close-on-exec, so that nothing gets into the
// sandbox that was not asked for.
func sealDescriptors() error {
	return sealEach(errors.New("mark descriptors close-on-exec: /dev/fd cannot be read"))
}
