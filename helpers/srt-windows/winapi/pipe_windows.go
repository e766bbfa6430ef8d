package winapi

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

const (
	pipeBuffer   = 64 << 10
	pipeWait     = 30_000 // milliseconds: how long a runner may take to get as far as its first word
	rejectRemote = 0x8    // PIPE_REJECT_REMOTE_CLIENTS
)

type listener struct {
	h    windows.Handle
	name string
	used bool
}

// NewPipe implements Host: one instance, one client, this machine only, and an error when somebody has made one of that name before.
func (*Real) NewPipe(name string, d sd.Descriptor) (Listener, error) {
	p, err := utf16(name)
	if err != nil {
		return nil, errOf(err)
	}
	a, err := attributes(d, false)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateNamedPipe(p, windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED|windows.FILE_FLAG_FIRST_PIPE_INSTANCE,
		windows.PIPE_TYPE_BYTE|windows.PIPE_READMODE_BYTE|windows.PIPE_WAIT|rejectRemote, 1, pipeBuffer, pipeBuffer, 0, a)
	if err != nil {
		return nil, errOf(err)
	}
	return &listener{h: h, name: name}, nil
}

// Accept implements Listener.
func (l *listener) Accept(pid uint32) (io.ReadWriteCloser, error) {
	event, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return nil, errOf(err)
	}
	defer windows.CloseHandle(event)
	o := &windows.Overlapped{HEvent: event}
	err = windows.ConnectNamedPipe(l.h, o)
	if errors.Is(err, windows.ERROR_IO_PENDING) {
		var n uint32
		if got, waitErr := windows.WaitForSingleObject(event, pipeWait); waitErr != nil || got != windows.WAIT_OBJECT_0 {
			cancelErr := windows.CancelIoEx(l.h, o)
			_ = windows.GetOverlappedResult(l.h, o, &n, true) // the memory of o must not be in use any more
			return nil, errors.Join(fmt.Errorf("the runner did not speak within %d seconds", pipeWait/1000), errOf(waitErr), errOf(cancelErr))
		}
		err = windows.GetOverlappedResult(l.h, o, &n, false)
	}
	if err != nil && !errors.Is(err, windows.ERROR_PIPE_CONNECTED) { // connected: the client was faster
		return nil, errOf(err)
	}
	var client uint32
	if err := windows.GetNamedPipeClientProcessId(l.h, &client); err != nil {
		return nil, errOf(err)
	}
	if client != pid {
		return nil, fmt.Errorf("process %d connected in place of the runner %d", client, pid)
	}
	l.used = true
	return os.NewFile(uintptr(l.h), l.name), nil
}

// Close implements Listener.
func (l *listener) Close() error {
	if l.used {
		return nil // the connection owns the handle
	}
	return errOf(windows.CloseHandle(l.h))
}

// Connect is the runner's end of NewPipe; it refuses a pipe that another process than server made.
func (*Real) Connect(name string, server uint32) (io.ReadWriteCloser, error) {
	p, err := utf16(name)
	if err != nil {
		return nil, errOf(err)
	}
	const identify = windows.SECURITY_SQOS_PRESENT | windows.SECURITY_IDENTIFICATION // the server may not act as this account
	h, err := windows.CreateFile(p, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_OVERLAPPED|identify, 0)
	if err != nil {
		return nil, errOf(err)
	}
	var owner uint32
	if err := windows.GetNamedPipeServerProcessId(h, &owner); err != nil || owner != server {
		return nil, errors.Join(fmt.Errorf("process %d holds the pipe in place of %d", owner, server), errOf(err), errOf(windows.CloseHandle(h)))
	}
	return os.NewFile(uintptr(h), name), nil
}

// Pipe implements Inner.
func (*Real) Pipe() (r, w Stream, err error) {
	a, b, err := os.Pipe()
	if err != nil {
		return nil, nil, errOf(err)
	}
	return a, b, nil
}

// Null implements Inner.
func (*Real) Null() (Stream, error) {
	f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, errOf(err)
	}
	return f, nil
}

// Streams implements Inner.
func (*Real) Streams() [3]Stream { return [3]Stream{os.Stdin, os.Stdout, os.Stderr} }
