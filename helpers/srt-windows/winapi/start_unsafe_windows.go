package winapi

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

var procCreateProcessWithLogon = advapi32.NewProc("CreateProcessWithLogonW")

const (
	logonWithProfile  = 1
	pseudoConsoleAttr = 0x20016
	handleListAttr    = 0x20002
)

// environment gives the block that CreateProcess takes: each entry and the whole end in a zero.
func environment(env []string) ([]uint16, error) {
	var block []uint16
	for _, e := range env {
		u, err := windows.UTF16FromString(e)
		if err != nil {
			return nil, errOf(err)
		}
		block = append(block, u...)
	}
	if len(block) == 0 {
		block = append(block, 0)
	}
	return append(block, 0), nil
}

// started is what every way of starting a process needs in the form that Windows takes.
type startWords struct {
	program, line, dir, desktop *uint16
	env                         []uint16
}

func words(s StartSpec) (startWords, error) {
	var w startWords
	var err error
	for _, f := range []struct {
		to   **uint16
		from string
	}{{&w.program, s.Program}, {&w.line, s.Line}, {&w.dir, s.Dir}, {&w.desktop, s.Desktop}} {
		if f.from == "" {
			continue
		}
		if *f.to, err = utf16(f.from); err != nil {
			return w, errOf(err)
		}
	}
	w.env, err = environment(s.Env)
	return w, err
}

// inheritable marks the streams, and only those, as handles that a child gets.
func inheritable(streams [3]Stream) ([]windows.Handle, error) {
	var out []windows.Handle
	for _, st := range streams {
		if st == nil {
			continue
		}
		h := windows.Handle(st.Fd())
		if err := windows.SetHandleInformation(h, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return nil, errOf(err)
		}
		out = append(out, h)
	}
	return out, nil
}

func streamHandles(s *windows.StartupInfo, streams [3]Stream) {
	s.Flags |= windows.STARTF_USESTDHANDLES
	for i, to := range []*windows.Handle{&s.StdInput, &s.StdOutput, &s.StdErr} {
		if streams[i] != nil {
			*to = windows.Handle(streams[i].Fd())
		}
	}
}

// StartAs implements Host.
func (*Real) StartAs(user, password string, s StartSpec) (Process, error) {
	w, err := words(s)
	if err != nil {
		return nil, err
	}
	u, err := utf16(user)
	if err != nil {
		return nil, errOf(err)
	}
	here, err := utf16(".") // this machine, not a domain
	if err != nil {
		return nil, errOf(err)
	}
	p, err := utf16(password)
	if err != nil {
		return nil, errOf(err)
	}
	if _, err := inheritable(s.Streams); err != nil {
		return nil, err
	}
	info := windows.StartupInfo{Desktop: w.desktop, Flags: windows.STARTF_USESHOWWINDOW, ShowWindow: windows.SW_HIDE}
	info.Cb = uint32(unsafe.Sizeof(info))
	streamHandles(&info, s.Streams)
	var out windows.ProcessInformation
	r, _, err := procCreateProcessWithLogon.Call(uintptr(unsafe.Pointer(u)), uintptr(unsafe.Pointer(here)), uintptr(unsafe.Pointer(p)), logonWithProfile,
		uintptr(unsafe.Pointer(w.program)), uintptr(unsafe.Pointer(w.line)), windows.CREATE_SUSPENDED|windows.CREATE_UNICODE_ENVIRONMENT,
		uintptr(unsafe.Pointer(&w.env[0])), uintptr(unsafe.Pointer(w.dir)), uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&out)))
	runtime.KeepAlive(s)
	if r == 0 {
		return nil, errOf(err)
	}
	return &process{out}, nil
}

// Start implements Token.
func (t *token) Start(s StartSpec, c Console) (Process, error) {
	w, err := words(s)
	if err != nil {
		return nil, err
	}
	handles, err := inheritable(s.Streams)
	if err != nil {
		return nil, err
	}
	list, err := windows.NewProcThreadAttributeList(2)
	if err != nil {
		return nil, errOf(err)
	}
	defer list.Delete()
	var info windows.StartupInfoEx
	info.Cb, info.Desktop = uint32(unsafe.Sizeof(info)), w.desktop
	if pc, ok := c.(*console); ok {
		if err := list.Update(pseudoConsoleAttr, *(*unsafe.Pointer)(unsafe.Pointer(&pc.h)), unsafe.Sizeof(pc.h)); err != nil {
			return nil, errOf(err)
		}
		info.Flags |= windows.STARTF_USESTDHANDLES // with no handles: those of the pseudo console, and not this process's own
	} else if len(handles) > 0 {
		if err := list.Update(handleListAttr, unsafe.Pointer(&handles[0]), uintptr(len(handles))*unsafe.Sizeof(handles[0])); err != nil {
			return nil, errOf(err)
		}
		streamHandles(&info.StartupInfo, s.Streams)
	}
	info.ProcThreadAttributeList = list.List()
	var out windows.ProcessInformation
	err = windows.CreateProcessAsUser(t.t, w.program, w.line, nil, nil, len(handles) > 0,
		windows.CREATE_SUSPENDED|windows.CREATE_UNICODE_ENVIRONMENT|windows.EXTENDED_STARTUPINFO_PRESENT, &w.env[0], w.dir, &info.StartupInfo, &out)
	runtime.KeepAlive(s)
	runtime.KeepAlive(c)
	if err != nil {
		return nil, errOf(err)
	}
	return &process{out}, nil
}
