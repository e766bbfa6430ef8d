package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	raw := []string{b.bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--unshare-pid", "true"}
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

// sandbox gives the beginning of a command line that runs under these settings.
func (b *bench) sandbox(settings string) []string {
	file := filepath.Join(b.dir, fmt.Sprintf("settings-%d.json", b.report.nextFile()))
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		fatal(err)
	}
	return []string{b.srt, "--settings", file, "--"}
}
