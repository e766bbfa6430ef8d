package elevate

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

var procShellExecuteEx = windows.NewLazySystemDLL("shell32.dll").NewProc("ShellExecuteExW")

// shellExecuteInfo is SHELLEXECUTEINFOW for 64-bit Windows; a test holds its size.
type shellExecuteInfo struct {
	size                              uint32
	mask                              uint32
	window                            windows.Handle
	verb, file, parameters, directory *uint16
	show                              int32
	instance                          windows.Handle
	idList                            uintptr
	class                             *uint16
	classKey                          windows.Handle
	hotKey                            uint32
	icon                              windows.Handle
	process                           windows.Handle
}

const (
	noCloseProcess = 0x40
	noAsync        = 0x100
	noUI           = 0x400 // errors come back; the question itself is asked all the same
)

// Run starts self elevated with the parameters, waits, and gives its exit status.
func Run(self, parameters string) (status int, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := windows.CoInitializeEx(0, windows.COINIT_APARTMENTTHREADED|windows.COINIT_DISABLE_OLE1DDE); err == nil {
		defer windows.CoUninitialize()
	}
	info := shellExecuteInfo{mask: noCloseProcess | noAsync | noUI, show: windows.SW_SHOWNORMAL}
	info.size = uint32(unsafe.Sizeof(info))
	for _, f := range []struct {
		to   **uint16
		from string
	}{{&info.verb, "runas"}, {&info.file, self}, {&info.parameters, parameters}, {&info.directory, filepath.Dir(self)}} {
		if *f.to, err = windows.UTF16PtrFromString(f.from); err != nil {
			return 0, fmt.Errorf("elevate %q: %w", self, err)
		}
	}
	if r, _, callErr := procShellExecuteEx.Call(uintptr(unsafe.Pointer(&info))); r == 0 {
		if errors.Is(callErr, syscall.Errno(windows.ERROR_CANCELLED)) {
			return 0, ErrDeclined
		}
		return 0, fmt.Errorf("elevate %q: %w", self, callErr)
	}
	if info.process == 0 {
		return 0, fmt.Errorf("elevate %q: Windows started nothing", self)
	}
	defer windows.CloseHandle(info.process)
	if _, err := windows.WaitForSingleObject(info.process, windows.INFINITE); err != nil {
		return 0, fmt.Errorf("wait for the elevated %q: %w", self, err)
	}
	var code uint32
	if err := windows.GetExitCodeProcess(info.process, &code); err != nil {
		return 0, fmt.Errorf("ask how the elevated %q ended: %w", self, err)
	}
	return int(code), nil
}
