package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// cost is what one run of a command took.
type cost struct{ wallMs, cpuMs float64 }

// timed runs a command to its end. The processor time is that of all descendants that were waited for.
func timed(argv []string, dir string) (cost, error) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	start := time.Now()
	err := c.Run()
	wall := time.Since(start)
	if err != nil {
		return cost{}, fmt.Errorf("%v: %w: %s", argv, err, bytes.TrimSpace(stderr.Bytes()))
	}
	cpu := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return cost{float64(wall.Microseconds()) / 1000, float64(cpu.Microseconds()) / 1000}, nil
}

// startup measures `srt true` against raw bwrap.
func (b *bench) startup() error {
	raw := append(b.raw(), "true")
	for _, v := range []struct{ name, settings string }{
		{"`srt true`, default settings", `{}`},
		{"the same, one domain allowed", `{"network":{"allowedDomains":["example.com"]}}`},
		{"the same, working directory writable", `{"filesystem":{"allowWrite":["."]}}`},
	} {
		argv := append(b.sandbox(v.settings), "true")
		wall, cpu := newSeries(v.name, "ms", "raw bwrap"), newSeries(v.name+", processor", "ms", "raw bwrap")
		err := inTurn(b.rounds(20), func(sandboxed bool) (cost, error) {
			if sandboxed {
				return timed(argv, b.dir)
			}
			return timed(raw, b.dir)
		}, wall, cpu)
		if err != nil {
			return err
		}
		b.report.add(wall, cpu)
	}
	return nil
}

// raw is the floor: the command line of bubblewrap that a command goes behind.
func (b *bench) raw() []string {
	return []string{b.bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--unshare-pid"}
}

// crowdSize is how many runs start at once.
const crowdSize = 50

// crowd measures runs that start at once in one directory; each must succeed.
func (b *bench) crowd() error {
	s := newSeries("50 `srt true` at once", "ms", "raw bwrap")
	ours, raw := append(b.sandbox(`{"filesystem":{"allowWrite":["."]}}`), "true"), append(b.raw(), "true")
	together := func(argv []string) (cost, error) {
		errs := make([]error, crowdSize)
		var all sync.WaitGroup
		start := time.Now()
		for i := range errs {
			all.Go(func() { _, errs[i] = timed(argv, b.dir) })
		}
		all.Wait()
		return cost{wallMs: float64(time.Since(start).Microseconds()) / 1000}, errors.Join(errs...)
	}
	err := inTurn(b.rounds(5), func(sandboxed bool) (cost, error) {
		if sandboxed {
			return together(ours)
		}
		return together(raw)
	}, s, newSeries("", "", ""))
	b.report.add(s)
	return err
}

// ending measures from the command's last instruction to the end of srt.
func (b *bench) ending() error {
	s := newSeries("the command's exit to srt's", "ms", "raw bwrap")
	last := []string{b.self, "client", "stamp"}
	ours, raw := append(b.sandbox(`{}`), last...), append(b.raw(), last...)
	since := func(argv []string) (cost, error) {
		out, err := exec.Command(argv[0], argv[1:]...).Output()
		end := time.Now().UnixNano()
		if err != nil {
			return cost{}, fmt.Errorf("%v: %w", argv, err)
		}
		stamp, err := strconv.ParseInt(string(bytes.TrimSpace(out)), 10, 64)
		return cost{wallMs: float64(end-stamp) / 1e6}, err
	}
	err := inTurn(b.rounds(20), func(sandboxed bool) (cost, error) {
		if sandboxed {
			return since(ours)
		}
		return since(raw)
	}, s, newSeries("", "", ""))
	b.report.add(s)
	return err
}

// next measures commands of one session. The session needs srt's own library, which this program does not link: the benchmark of core/sandbox
// measures the pairs, and its medians are one round here.
func (b *bench) next() error {
	if b.session == "" {
		fmt.Fprintln(os.Stderr, "bench: the next command of a session: left out: no -session")
		return nil
	}
	s := newSeries("next command of a session", "ms", "raw bwrap")
	for range b.rounds(5) {
		c := exec.Command(b.session, "-test.run=^$", "-test.bench=^BenchmarkNextCommand$", fmt.Sprintf("-test.benchtime=%dx", b.rounds(20)))
		c.Dir = "core/sandbox"
		out, err := c.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		metric := map[string]float64{}
		f := strings.Fields(string(out))
		for i, unit := range f {
			if i > 0 {
				metric[unit], _ = strconv.ParseFloat(f[i-1], 64)
			}
		}
		if metric["srt-ms"] == 0 || metric["bwrap-ms"] == 0 {
			return fmt.Errorf("no medians in %s", out)
		}
		s.add(metric["srt-ms"], metric["bwrap-ms"])
	}
	b.report.add(s)
	return nil
}

// sandbox gives the beginning of a command line that runs under these settings.
func (b *bench) sandbox(settings string) []string {
	file := filepath.Join(b.dir, fmt.Sprintf("settings-%d.json", b.report.nextFile()))
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		fatal(err)
	}
	return []string{b.srt, "--settings", file, "--"}
}
