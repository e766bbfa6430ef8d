package harden

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/windows"
)

// Environment clears the environment, but for the one variable without which Windows finds no provider of sockets (error 10106). Its
// value comes from the system.
func Environment() error {
	root, err := windows.GetSystemWindowsDirectory()
	if err != nil {
		return fmt.Errorf("find the system directory: %w", err)
	}
	os.Clearenv()
	return os.Setenv("SystemRoot", root)
}

// Process has no handle to close: srt hands on the three standard streams and nothing else. Ctrl-C and Ctrl-Break are for the command
// and for srt; proxyd lives until its channel closes. They are taken and dropped, because Windows ends a program that only ignores them.
func Process() error {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
	return nil
}

// DieWithParent has nothing to do: the channel's end is what ends proxyd.
func DieWithParent() error { return nil }
