package guard

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// table is the machine's process table.
type table struct{}

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// Processes lists the caller's processes.
func (table) Processes() ([]Process, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		return nil, err
	}
	out := make([]Process, 0, len(list))
	for i := range list {
		p := &list[i]
		if p.Proc.P_stat == zombie {
			continue
		}
		session, err := unix.Getsid(int(p.Proc.P_pid))
		if err != nil {
			session = 0 // it has just ended
		}
		out = append(out, Process{Pid: int(p.Proc.P_pid), Parent: int(p.Eproc.Ppid), Group: int(p.Eproc.Pgid), Session: session})
	}
	return out, nil
}

// Environment reads what kern.procargs2 has: the number of arguments, the program, NULs, arguments, environment, each with a NUL.
func (table) Environment(pid int) []string {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil
	}
	return parseArguments(raw, binary.NativeEndian.Uint32)
}
