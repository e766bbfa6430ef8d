package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// idleTunnels is how many tunnels are held open.
const idleTunnels = 1000

// idle measures what held tunnels cost: processes and memory of the whole tree of srt, less those of the load generator.
func (b *bench) idle() error {
	o, err := serve()
	if err != nil {
		return err
	}
	defer o.close()
	argv := append(b.sandbox(o.settings()), b.self, "client", "idle", o.echo.Addr().String())
	memory, processes := newSeries("1,000 idle tunnels, memory", "MB", "one tunnel"), newSeries("1,000 idle tunnels, processes", "", "one tunnel")
	for range b.rounds(3) {
		var got [2]holding
		for i, n := range []int{idleTunnels, 1} {
			if got[i], err = b.held(append(argv, strconv.Itoa(n), "0s")); err != nil {
				return err
			}
		}
		memory.add(got[0].pssMB, got[1].pssMB)
		processes.add(float64(got[0].processes), float64(got[1].processes))
	}
	b.report.add(memory, processes)
	return nil
}

type holding struct {
	pssMB     float64
	processes int
}

// memory measures what srt and its helpers hold while a command runs that asks nothing of them.
func (b *bench) memory() error {
	still := []string{b.self, "client", "idle", "nothing", "0", "0s"}
	ours, floor := append(b.sandbox(`{}`), still...), append(b.raw(), still...)
	s := newSeries("memory of the whole tree, default settings", "MB", "raw bwrap")
	for range b.rounds(5) {
		a, err := b.held(ours)
		if err != nil {
			return err
		}
		f, err := b.held(floor)
		if err != nil {
			return err
		}
		s.add(a.pssMB, f.pssMB)
	}
	b.report.add(s)
	return nil
}

// held runs argv, which is the load generator in some sandbox, until it holds what it shall, and measures all but the load generator.
func (b *bench) held(argv []string) (holding, error) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Stderr, c.Env = b.dir, os.Stderr, withoutProxies(os.Environ())
	stdin, err := c.StdinPipe()
	if err != nil {
		return holding{}, err
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		return holding{}, err
	}
	if err := c.Start(); err != nil {
		return holding{}, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "held\n" {
		_ = c.Process.Kill()
		_ = c.Wait()
		return holding{}, fmt.Errorf("the tunnels were not opened: %q, %w", line, err)
	}
	time.Sleep(200 * time.Millisecond)
	h, err := measure(c.Process.Pid, b.self)
	stdin.Close()
	if werr := c.Wait(); err == nil {
		err = werr
	}
	return h, err
}

// measure adds up the descendants of pid, but for those that run the program besides.
func measure(pid int, besides string) (holding, error) {
	parents := map[int][]int{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return holding{}, err
	}
	for _, d := range dirs {
		id, err := strconv.Atoi(filepath.Base(d))
		stat, serr := os.ReadFile(filepath.Join(d, "stat"))
		if err != nil || serr != nil {
			continue // ended meanwhile
		}
		rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
		f := strings.Fields(rest)
		parent, err := strconv.Atoi(f[1])
		if err != nil {
			return holding{}, fmt.Errorf("%s/stat: %w", d, err)
		}
		parents[parent] = append(parents[parent], id)
	}
	var h holding
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		queue = append(queue, parents[id]...)
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id))
		if strings.HasPrefix(string(cmdline), besides+"\x00") {
			continue
		}
		h.processes++
		kb, err := pss(id)
		if err != nil {
			return holding{}, err
		}
		h.pssMB += float64(kb) / 1024
	}
	return h, nil
}

func pss(pid int) (kb int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
			return strconv.Atoi(f[1])
		}
	}
	return 0, nil // a kernel thread or a process that has just ended
}
