package main

import "golang.org/x/sys/unix"

// fread is FREAD of <sys/fcntl.h>: the input queue.
const fread = 1

func flushInput(tty int) { _ = unix.IoctlSetPointerInt(tty, unix.TIOCFLUSH, fread) }
