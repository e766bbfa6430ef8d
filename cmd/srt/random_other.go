//go:build !linux

package main

import "crypto/rand"

func random(b []byte) error {
	_, err := rand.Read(b)
	return err
}
