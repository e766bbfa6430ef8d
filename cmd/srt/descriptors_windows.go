package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// sealDescriptors has nothing to do: handles are inherited only where the starter names each.
func sealDescriptors() error { return nil }

// isOpen and isReadable say no: descriptors have no numbers here.
func isOpen(int) bool { return false }

func isReadable(int) bool { return false }

// isTerminal says whether one of the standard streams is a console.
func isTerminal(fd int) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(stream(fd).Fd()), &mode) == nil
}

func stream(fd int) *os.File { return [...]*os.File{os.Stdin, os.Stdout, os.Stderr}[fd] }

// writeAll reports whether all of text was written.
func writeAll(fd int, text string) bool {
	_, err := stream(fd).WriteString(text)
	return err == nil
}
