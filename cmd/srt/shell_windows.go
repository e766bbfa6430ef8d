package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/windows"
)

// powershells take a line behind -Command. It is one word, quoted as for every program: an encoded one makes them write XML into a pipe.
var powershells = []string{"pwsh", "powershell"}

// shellWords are the words that run line in a shell: the user's own when it is one of shells or powershells, else the one of Windows.
func shellWords(users, line string) []string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(users)), ".exe")
	info, err := os.Stat(users)
	there := filepath.IsAbs(users) && err == nil && info.Mode().IsRegular()
	switch {
	case there && slices.Contains(shells, name):
		return []string{users, "-c", line}
	case there && slices.Contains(powershells, name):
		return []string{users, "-NoLogo", "-NoProfile", "-Command", line}
	}
	dir, err := windows.GetSystemDirectory()
	if err != nil {
		dir = `C:\Windows\System32`
	}
	return []string{filepath.Join(dir, "cmd.exe"), "/d", "/s", "/c", line}
}
