//go:build unix

package harden

import "os"

// Environment clears the environment.
func Environment() error {
	os.Clearenv()
	return nil
}
