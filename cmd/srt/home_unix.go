//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/srt-dev/srt/core/wire"
)

// homeDir is HOME, or, where nobody set that (env -i, a service of the system), what /etc/passwd says.
func homeDir() (string, error) {
	home := os.Getenv("HOME")
	if home == "" {
		passwd, _ := os.ReadFile("/etc/passwd") // no file, no home
		home = homeOf(string(passwd), os.Getuid())
	}
	if home == "" {
		return "", &wire.Fault{Code: wire.CodePolicy, Op: "find the home directory", Detail: "HOME is not set, and /etc/passwd does not know this user", Hint: "export HOME"}
	}
	if !filepath.IsAbs(home) {
		return "", &wire.Fault{Code: wire.CodePolicy, Op: "find the home directory", Path: home, Detail: "HOME is not absolute"}
	}
	return filepath.Clean(home), nil
}

// homeOf gives the home directory of a user in a file of the form of passwd(5), "" when it has none.
func homeOf(passwd string, uid int) string {
	for line := range strings.Lines(passwd) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), ":"); len(f) == 7 && f[2] == strconv.Itoa(uid) {
			return f[5]
		}
	}
	return ""
}
