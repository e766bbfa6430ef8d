package guard

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// table is the machine's process table. On Linux it serves tests: there the kernel ends a sandbox.
type table struct{}

// Processes lists the caller's processes.
func (table) Processes() ([]Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var out []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has just ended
		}
		// "pid (name) state ppid pgrp session …"; the name may hold anything.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 4 || f[0] == "Z" {
			continue
		}
		p := Process{Pid: pid}
		for i, n := range []*int{&p.Parent, &p.Group, &p.Session} {
			if *n, err = strconv.Atoi(f[i+1]); err != nil {
				return nil, err
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// Environment reads the environment that a process was started with.
func (table) Environment(pid int) []string {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	return strings.Split(string(raw), "\x00")
}
