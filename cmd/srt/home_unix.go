//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"

	"github.com/srt-dev/srt/core/wire"
)

func homeDir() (string, error) {
	home := os.Getenv("HOME")
	if home == "" {
		return "", &wire.Fault{Code: wire.CodePolicy, Op: "find the home directory", Detail: "HOME is not set", Hint: "export HOME"}
	}
	if !filepath.IsAbs(home) {
		return "", &wire.Fault{Code: wire.CodePolicy, Op: "find the home directory", Path: home, Detail: "HOME is not absolute"}
	}
	return filepath.Clean(home), nil
}
