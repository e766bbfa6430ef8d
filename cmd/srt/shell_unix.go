//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"slices"
)

// shellWords are the words that run line in a shell.
func shellWords(users, line string) []string { return []string{shell(users), "-c", line} }

// shell is the user's own when it is one of shells, else the first that is there.
func shell(users string) string {
	if filepath.IsAbs(users) && slices.Contains(shells, filepath.Base(users)) && executable(users) {
		return users
	}
	if executable("/bin/bash") {
		return "/bin/bash"
	}
	return "/bin/sh"
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
