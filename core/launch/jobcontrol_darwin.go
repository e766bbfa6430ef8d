package launch

import "golang.org/x/sys/unix"

// lineage asks the kernel for the parent, the process group and the session of pid.
func lineage(pid int) (ppid, pgrp, sid int, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, 0, 0, false
	}
	sid, err = unix.Getsid(pid)
	return int(info.Eproc.Ppid), int(info.Eproc.Pgid), sid, err == nil
}
