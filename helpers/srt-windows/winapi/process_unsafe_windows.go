package winapi

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

var procQueryJob = kernel32.NewProc("QueryInformationJobObject")

type process struct{ info windows.ProcessInformation }

// Pid implements Process.
func (p *process) Pid() uint32 { return p.info.ProcessId }

// Resume implements Process.
func (p *process) Resume() error {
	_, err := windows.ResumeThread(p.info.Thread)
	return errOf(err)
}

// Wait implements Process.
func (p *process) Wait() (uint32, error) {
	if _, err := windows.WaitForSingleObject(p.info.Process, windows.INFINITE); err != nil {
		return 0, errOf(err)
	}
	var code uint32
	err := windows.GetExitCodeProcess(p.info.Process, &code)
	return code, errOf(err)
}

// Kill implements Process.
func (p *process) Kill() error {
	err := errOf(windows.TerminateProcess(p.info.Process, 1))
	if errors.Is(err, ErrAccessDenied) { // what Windows says of a process that has ended
		return nil
	}
	return err
}

// Close implements Process.
func (p *process) Close() error {
	return errors.Join(errOf(windows.CloseHandle(p.info.Thread)), errOf(windows.CloseHandle(p.info.Process)))
}

type job struct{ h windows.Handle }

// NewJob implements Host.
func (*Real) NewJob(s JobSpec) (Job, error) {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, errOf(err)
	}
	j := &job{h}
	limit := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: s.Limits}}
	if _, err = windows.SetInformationJobObject(h, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limit)), uint32(unsafe.Sizeof(limit))); err == nil {
		ui := windows.JOBOBJECT_BASIC_UI_RESTRICTIONS{UIRestrictionsClass: s.UI}
		_, err = windows.SetInformationJobObject(h, windows.JobObjectBasicUIRestrictions, uintptr(unsafe.Pointer(&ui)), uint32(unsafe.Sizeof(ui)))
	}
	if err != nil {
		return nil, errors.Join(errOf(err), j.Close())
	}
	return j, nil
}

// Assign implements Job.
func (j *job) Assign(p Process) error {
	return errOf(windows.AssignProcessToJobObject(j.h, p.(*process).info.Process))
}

// Facts implements Job.
func (j *job) Facts() (JobSpec, error) { return jobFacts(j.h) }

// jobFacts asks a job; 0 is the one that this process is in.
func jobFacts(h windows.Handle) (JobSpec, error) {
	var limit windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	var ui windows.JOBOBJECT_BASIC_UI_RESTRICTIONS
	for _, q := range []struct {
		class uintptr
		to    unsafe.Pointer
		size  uintptr
	}{{windows.JobObjectExtendedLimitInformation, unsafe.Pointer(&limit), unsafe.Sizeof(limit)}, {windows.JobObjectBasicUIRestrictions, unsafe.Pointer(&ui), unsafe.Sizeof(ui)}} {
		if r, _, err := procQueryJob.Call(uintptr(h), q.class, uintptr(q.to), q.size, 0); r == 0 {
			return JobSpec{}, errOf(err)
		}
	}
	return JobSpec{Limits: limit.BasicLimitInformation.LimitFlags, UI: ui.UIRestrictionsClass}, nil
}

// OwnJob implements Prober.
func (*Real) OwnJob() (JobSpec, error) { return jobFacts(0) }

// Close implements Job.
func (j *job) Close() error { return errOf(windows.CloseHandle(j.h)) }
