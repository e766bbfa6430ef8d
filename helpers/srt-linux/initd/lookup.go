package initd

import (
	"strings"

	"github.com/srt-dev/srt/core/wire"
	"golang.org/x/sys/unix"
)

// defaultPath is searched when the command's environment has no PATH, as execvp(3) does.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// lookup finds the program for name as execvp(3) does, in the sandbox's view and with the command's PATH. Faults are CodeNotFound
// (exit status 127) or CodeNotExec (126).
func lookup(name string, env []string) (string, error) {
	if name == "" {
		return "", notFound(name)
	}
	if strings.Contains(name, "/") {
		return name, executable(name)
	}
	path := defaultPath
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
			break
		}
	}
	var first error
	for dir := range strings.SplitSeq(path, ":") {
		if dir == "" {
			dir = "."
		}
		var st unix.Stat_t
		if unix.Stat(dir+"/"+name, &st) != nil {
			continue // not there, or in a directory that cannot be searched
		}
		err := executable(dir + "/" + name)
		if err == nil {
			return dir + "/" + name, nil
		}
		if f := err.(*wire.Fault); f.Code == wire.CodeNotExec && first == nil {
			first = err
		}
	}
	if first != nil {
		return "", first
	}
	return "", notFound(name)
}

func notFound(name string) *wire.Fault {
	return &wire.Fault{Code: wire.CodeNotFound, Op: "run", Path: name, Detail: "command not found"}
}

// notExecuted is the fault of a program that was found and that the kernel does not execute.
func notExecuted(path string, e unix.Errno) *wire.Fault {
	f := &wire.Fault{Code: wire.CodeNotExec, Op: "run", Path: path, Detail: e.Error()}
	switch e {
	case unix.ENOENT:
		f.Detail, f.Hint = "the interpreter or loader that it names does not exist", "head -1 "+path+" shows the one that a script names"
	case unix.ENOEXEC:
		f.Hint = "a script needs a first line such as #!/bin/sh; without one: srt sh " + path
	}
	return f
}

func executable(path string) error {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	switch {
	case err == unix.ENOENT || err == unix.ENOTDIR:
		return notFound(path)
	case err != nil:
		return &wire.Fault{Code: wire.CodeNotExec, Op: "run", Path: path, Detail: err.Error()}
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return &wire.Fault{Code: wire.CodeNotExec, Op: "run", Path: path, Detail: "is a directory"}
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return &wire.Fault{Code: wire.CodeNotExec, Op: "run", Path: path, Detail: err.Error()}
	}
	return nil
}
