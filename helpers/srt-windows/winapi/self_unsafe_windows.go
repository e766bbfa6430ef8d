package winapi

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

const stillRunning = 258 // WAIT_TIMEOUT

// UserSID implements Self.
func (*Real) UserSID() (sd.SID, error) {
	u, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", errOf(err)
	}
	return sd.SID(u.User.Sid.String()), nil
}

// Elevated implements Self.
func (*Real) Elevated() (bool, error) { return windows.GetCurrentProcessToken().IsElevated(), nil }

func startOf(h windows.Handle) (uint64, error) {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return 0, errOf(err)
	}
	return uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime), nil
}

// ProcessAlive implements Self. A process that may not be looked at is alive.
func (*Real) ProcessAlive(pid uint32, started uint64) (bool, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, pid)
	switch e := errOf(err); {
	case errors.Is(e, Errno(87)): // no such process
		return false, nil
	case errors.Is(e, ErrAccessDenied):
		return true, nil
	case e != nil:
		return false, e
	}
	defer windows.CloseHandle(h)
	at, err := startOf(h)
	if err != nil || at != started {
		return false, err
	}
	event, err := windows.WaitForSingleObject(h, 0)
	return event == stillRunning, errOf(err)
}

// ProcessIdentity implements Self.
func (*Real) ProcessIdentity() (uint32, uint64, error) {
	at, err := startOf(windows.CurrentProcess())
	return windows.GetCurrentProcessId(), at, err
}

// ProgramData implements Self.
func (*Real) ProgramData() (string, error) {
	p, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0)
	return p, errOf(err)
}

// Profile is that of the token, as the system says. Where it does not (Wine asks the environment for more than the profile), the
// environment does: it is the user's own, or was built by srt.
func (*Real) Profile() (string, error) {
	p, err := windows.GetCurrentProcessToken().GetUserProfileDirectory()
	if env := os.Getenv("USERPROFILE"); err != nil && env != "" {
		return env, nil
	}
	return p, errOf(err)
}

// LocalAppData is the folder of this user's own data.
func (r *Real) LocalAppData() (string, error) {
	p, err := r.Profile()
	return p + `\AppData\Local`, err
}

// Executable implements Self.
func (*Real) Executable() (string, error) { return os.Executable() }

// ProcessesOf implements Self. It needs an administrator to see every process.
func (*Real) ProcessesOf(sid sd.SID) ([]uint32, error) {
	if err := enableDebug(); err != nil {
		return nil, err
	}
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, errOf(err)
	}
	defer windows.CloseHandle(snap)
	var out []uint32
	var entry windows.ProcessEntry32
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(snap, &entry); err == nil; err = windows.Process32Next(snap, &entry) {
		if owner, ok := ownerOf(entry.ProcessID); ok && owner == sid {
			out = append(out, entry.ProcessID)
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, errOf(err)
	}
	return out, nil
}

func ownerOf(pid uint32) (sd.SID, bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return "", false // gone, or a protected process of the system
	}
	defer windows.CloseHandle(h)
	var t windows.Token
	if err := windows.OpenProcessToken(h, windows.TOKEN_QUERY, &t); err != nil {
		return "", false
	}
	defer t.Close()
	u, err := t.GetTokenUser()
	if err != nil {
		return "", false
	}
	return sd.SID(u.User.Sid.String()), true
}

// enableDebug lets an administrator open processes whose list does not name administrators, as the runner's does not.
func enableDebug() error {
	var t windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ADJUST_PRIVILEGES|windows.TOKEN_QUERY, &t); err != nil {
		return errOf(err)
	}
	defer t.Close()
	name, err := utf16("SeDebugPrivilege")
	if err != nil {
		return errOf(err)
	}
	p := windows.Tokenprivileges{PrivilegeCount: 1}
	if err := windows.LookupPrivilegeValue(nil, name, &p.Privileges[0].Luid); err != nil {
		return errOf(err)
	}
	p.Privileges[0].Attributes = windows.SE_PRIVILEGE_ENABLED
	return errOf(windows.AdjustTokenPrivileges(t, false, &p, 0, nil, nil)) // one that is not held is not an error; processes then stay unseen
}

// Terminate implements Self.
func (*Real) Terminate(pid uint32) error {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE|windows.SYNCHRONIZE, false, pid)
	if errors.Is(errOf(err), Errno(87)) {
		return ErrFileNotFound
	}
	if err != nil {
		return errOf(err)
	}
	defer windows.CloseHandle(h)
	err = windows.TerminateProcess(h, 1) // one that is ending already is refused, and no call ends one before it returns
	if event, waitErr := windows.WaitForSingleObject(h, endMilliseconds); waitErr == nil && event == windows.WAIT_OBJECT_0 {
		return nil
	}
	return errOf(err)
}

const endMilliseconds = 5000
