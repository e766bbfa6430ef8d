//go:build linux || darwin

package launch

import "golang.org/x/sys/unix"

// jobControlled says whether somebody of this session stands above srt's process group: a shell that would see it stop and could
// continue it. Without one the group is what POSIX calls orphaned.
func jobControlled() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	group := unix.Getpgrp()
	for pid := unix.Getppid(); pid > 0; {
		ppid, pgrp, sid, ok := lineage(pid)
		if !ok || sid != session {
			return false
		}
		if pgrp != group {
			return true
		}
		pid = ppid
	}
	return false
}
