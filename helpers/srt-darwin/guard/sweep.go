// Package guard is the verb guard: it stays beside one command, and when srt is gone (macOS ends nothing by itself when a parent is
// killed) it kills what still runs of the command. It must never kill a process that is not the command's.
package guard

import (
	"errors"
	"fmt"
	"strings"
)

// Process is one line of the process table.
type Process struct {
	Pid, Parent, Group, Session int
}

// System is the process table of the caller's processes, without those that have ended.
type System interface {
	Processes() ([]Process, error)
	Environment(pid int) []string // nil when it cannot be read
	Stop(pid int)                 // SIGSTOP
	Kill(pid int)                 // SIGKILL
}

// Command says by what the processes of a command are known.
type Command struct {
	Pid    int    // of its first process, which leads a process group; 0: not known
	TmpDir string // the run's own, which TMPDIR names; "": not known
}

// rounds bounds the search for processes that are being made while others are stopped.
const rounds = 100

// Sweep ends every process of the command that can be known as one: those of its process group and session, all their descendants, and
// what carries its TMPDIR, and the descendants of that. They are stopped first, so that none makes another meanwhile. What has given up
// all of these marks (its parent ended, a session of its own, a new environment) is not found: the process table says no more.
func Sweep(sys System, c Command, self int) error {
	found := map[int]bool{}
	for range rounds {
		table, err := sys.Processes()
		if err != nil {
			return fmt.Errorf("list processes: %w", err)
		}
		fresh := members(sys, c, self, table, found)
		if len(fresh) == 0 {
			return kill(sys, table, found)
		}
		for _, pid := range fresh {
			found[pid] = true
			sys.Stop(pid)
		}
	}
	table, err := sys.Processes()
	return errors.Join(err, kill(sys, table, found), errors.New("the command made processes faster than they could be stopped"))
}

// kill kills what was found and is still there.
func kill(sys System, table []Process, found map[int]bool) error {
	for _, p := range table {
		if found[p.Pid] {
			sys.Kill(p.Pid)
		}
	}
	return nil
}

// members gives the processes of the command in table that are not found yet.
func members(sys System, c Command, self int, table []Process, found map[int]bool) []int {
	parents, is := map[int]int{}, map[int]bool{}
	for _, p := range table {
		parents[p.Pid] = p.Parent
		is[p.Pid] = found[p.Pid] || c.leads(p)
	}
	for _, p := range table {
		if !is[p.Pid] && c.marks(sys.Environment(p.Pid)) {
			is[p.Pid] = true
		}
	}
	var out []int
	for _, p := range table {
		if p.Pid <= 1 || p.Pid == self || found[p.Pid] {
			continue
		}
		for pid, steps := p.Pid, 0; pid > 1 && pid != self && steps <= len(table); pid, steps = parents[pid], steps+1 {
			if is[pid] {
				out = append(out, p.Pid)
				break
			}
		}
	}
	return out
}

// leads says that p is known by its numbers.
func (c Command) leads(p Process) bool {
	return c.Pid > 1 && (p.Pid == c.Pid || p.Group == c.Pid || p.Session == c.Pid)
}

// marks says that an environment names the command's own temporary directory.
func (c Command) marks(env []string) bool {
	if c.TmpDir == "" {
		return false
	}
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, "TMPDIR="); ok && value == c.TmpDir {
			return true
		}
	}
	return false
}
