package main

import "golang.org/x/sys/unix"

// random fills b. crypto/rand would give the same bytes, and cost more to link than the rest of srt's start.
func random(b []byte) error {
	_, err := unix.Getrandom(b, 0)
	return err
}
