package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/windows"
)

// shellWords are the words that run line in a shell: the user's own when it is one of shells, else the one of Windows.
func shellWords(users, line string) []string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(users)), ".exe")
	if info, err := os.Stat(users); filepath.IsAbs(users) && slices.Contains(shells, name) && err == nil && info.Mode().IsRegular() {
		return []string{users, "-c", line}
	}
	dir, err := windows.GetSystemDirectory()
	if err != nil {
		dir = `C:\Windows\System32`
	}
	return []string{filepath.Join(dir, "cmd.exe"), "/d", "/s", "/c", line}
}
