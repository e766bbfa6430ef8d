package winapi

import (
	"os"

	"golang.org/x/sys/windows"
)

var procSetCtrlHandler = kernel32.NewProc("SetConsoleCtrlHandler")

// console is a pseudo console.
type console struct{ h windows.Handle }

// NewConsole implements Inner. The command never gets the user's console, where it could type into the shell that started srt.
func (*Real) NewConsole(in, out Stream, columns, rows int) (Console, error) {
	c := &console{}
	err := windows.CreatePseudoConsole(windows.Coord{X: cells(columns), Y: cells(rows)}, windows.Handle(in.Fd()), windows.Handle(out.Fd()), 0, &c.h)
	if err != nil {
		return nil, errOf(err)
	}
	return c, nil
}

func cells(n int) int16 { return int16(min(max(n, 1), 32767)) }

// Resize implements Console.
func (c *console) Resize(columns, rows int) error {
	return errOf(windows.ResizePseudoConsole(c.h, windows.Coord{X: cells(columns), Y: cells(rows)}))
}

// Close implements Console.
func (c *console) Close() error {
	windows.ClosePseudoConsole(c.h)
	return nil
}

// HearCtrlC takes back that this process and its children ignore Ctrl-C: processes started with a logon begin a group of their own,
// and such a group does not hear it.
func (*Real) HearCtrlC() error {
	if r, _, err := procSetCtrlHandler.Call(0, 0); r == 0 {
		return errOf(err)
	}
	return nil
}

// Interrupt implements Inner.
func (*Real) Interrupt(brk bool) error {
	event := uint32(windows.CTRL_C_EVENT)
	if brk {
		event = windows.CTRL_BREAK_EVENT
	}
	return errOf(windows.GenerateConsoleCtrlEvent(event, 0))
}

// SystemDir implements Inner.
func (*Real) SystemDir() (string, error) {
	d, err := windows.GetSystemDirectory()
	return d, errOf(err)
}

// Exists implements Inner.
func (*Real) Exists(path string) bool {
	info, err := os.Stat(long(path))
	return err == nil && !info.IsDir()
}
