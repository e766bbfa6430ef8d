package main

import "golang.org/x/sys/unix"

func flushInput(tty int) { _ = unix.IoctlSetInt(tty, unix.TCFLSH, unix.TCIFLUSH) }
