//go:build !linux && !darwin

package oneshot

// anonymousFile fails: descriptors cannot be handed over here.
func anonymousFile([]byte) (int, error) { return -1, errNoChannel }
