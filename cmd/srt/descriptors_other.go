//go:build !linux && !darwin

package main

// Handles are not inherited on Windows unless the starter says so for each.
func sealDescriptors() error { return nil }

func isOpen(int) bool { return false }

func isTerminal(int) bool { return false }
