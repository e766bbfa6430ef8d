package main

import (
	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/core/wire"
)

// homeDir asks the system: HOME may be in another program's spelling, or another program's folder.
func homeDir() (string, error) {
	home, err := windows.GetCurrentProcessToken().GetUserProfileDirectory()
	if err != nil {
		return "", &wire.Fault{Code: wire.CodePolicy, Op: "find your profile", Detail: err.Error()}
	}
	return home, nil
}
