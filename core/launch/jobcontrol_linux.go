package launch

import (
	"os"
	"strconv"
	"strings"
)

// lineage reads the parent, the process group and the session of pid.
func lineage(pid int) (ppid, pgrp, sid int, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, 0, false
	}
	// "pid (name) state ppid pgrp session …"; the name may hold anything, also ")".
	text := string(stat)
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(f) < 4 {
		return 0, 0, 0, false
	}
	n := [3]int{}
	for i := range n {
		if n[i], err = strconv.Atoi(f[i+1]); err != nil {
			return 0, 0, 0, false
		}
	}
	return n[0], n[1], n[2], true
}
