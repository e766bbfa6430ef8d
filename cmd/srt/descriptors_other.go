//go:build !linux && !darwin

package main

import "os"

// Handles are not inherited on Windows unless the starter says so for each.
func sealDescriptors() error { return nil }

func isOpen(int) bool { return false }

func isReadable(int) bool { return false }

func isTerminal(int) bool { return false }

// writeAll reports whether all of text was written.
func writeAll(fd int, text string) bool {
	f := os.Stderr
	if fd == 1 {
		f = os.Stdout
	}
	_, err := f.WriteString(text)
	return err == nil
}
