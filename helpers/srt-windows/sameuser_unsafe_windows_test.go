package main

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
	"github.com/srt-dev/srt/helpers/srt-windows/winapi"
)

// sameUser starts the runner as the user that tests run under, because Wine logs nobody on, and believes in its job, because Wine does
// not answer for limits. Pipes are the real ones.
type sameUser struct{ *winapi.Real }

type noDesktop struct{}

func (noDesktop) Name() string { return "" }
func (noDesktop) Close() error { return nil }

func (sameUser) NewDesktop(_, _ sd.Descriptor) (winapi.Desktop, error) { return noDesktop{}, nil }

type believed struct {
	h    windows.Handle
	spec winapi.JobSpec
}

func (sameUser) NewJob(s winapi.JobSpec) (winapi.Job, error) {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	limit := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: s.Limits}}
	_, err = windows.SetInformationJobObject(h, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limit)), uint32(unsafe.Sizeof(limit)))
	return &believed{h, s}, err
}

func (b *believed) Assign(p winapi.Process) error {
	return windows.AssignProcessToJobObject(b.h, p.(*child).info.Process)
}
func (b *believed) Facts() (winapi.JobSpec, error) { return b.spec, nil }
func (b *believed) Close() error                   { return windows.CloseHandle(b.h) }

type child struct{ info windows.ProcessInformation }

func (sameUser) StartAs(_, _ string, s winapi.StartSpec) (winapi.Process, error) {
	program, err := windows.UTF16PtrFromString(s.Program)
	if err != nil {
		return nil, err
	}
	line, err := windows.UTF16PtrFromString(s.Line)
	if err != nil {
		return nil, err
	}
	var env []uint16
	for _, e := range append(s.Env, "SRT_WINE=1") {
		u, err := windows.UTF16FromString(e)
		if err != nil {
			return nil, err
		}
		env = append(env, u...)
	}
	env = append(env, 0)
	info := windows.StartupInfo{Flags: windows.STARTF_USESTDHANDLES}
	info.Cb = uint32(unsafe.Sizeof(info))
	for i, to := range []*windows.Handle{&info.StdInput, &info.StdOutput, &info.StdErr} {
		*to = windows.Handle(s.Streams[i].Fd())
		if err := windows.SetHandleInformation(*to, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return nil, err
		}
	}
	c := &child{}
	err = windows.CreateProcess(program, line, nil, nil, true, sameUserFlags, &env[0], nil, &info, &c.info)
	return c, err
}

// sameUserFlags: as after a logon the runner has a console of its own, which nobody sees, and leads a group that does not hear Ctrl-C.
const sameUserFlags = windows.CREATE_SUSPENDED | windows.CREATE_UNICODE_ENVIRONMENT | windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP

func (c *child) Pid() uint32   { return c.info.ProcessId }
func (c *child) Resume() error { _, err := windows.ResumeThread(c.info.Thread); return err }
func (c *child) Wait() (uint32, error) {
	_, err := windows.WaitForSingleObject(c.info.Process, windows.INFINITE)
	var code uint32
	return code, errors.Join(err, windows.GetExitCodeProcess(c.info.Process, &code))
}
func (c *child) Kill() error  { return windows.TerminateProcess(c.info.Process, 1) }
func (c *child) Close() error { return windows.CloseHandle(c.info.Process) }
