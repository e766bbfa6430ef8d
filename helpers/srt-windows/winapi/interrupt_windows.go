package winapi

import "golang.org/x/sys/windows"

// OnInterrupt calls f for each Ctrl-C and Ctrl-Break of this process's console, and keeps the process alive through them. Go itself
// does not tell the two apart. Closing the console still ends the process, and with it the job.
func (*Real) OnInterrupt(f func(brk bool)) error {
	handler := windows.NewCallback(func(event uint32) uintptr {
		if event > windows.CTRL_BREAK_EVENT {
			return 0
		}
		f(event == windows.CTRL_BREAK_EVENT)
		return 1
	})
	if r, _, err := procSetCtrlHandler.Call(handler, 1); r == 0 {
		return errOf(err)
	}
	return nil
}
