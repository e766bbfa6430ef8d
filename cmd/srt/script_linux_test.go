package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/srt-dev/srt/core/srttest"
)

// The test binary is srt, its helper and proxyd, by the name under which it is installed.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "srt":
		main()
	case "srt-linux":
		os.Exit(fakeHelperMain(os.Args[1]))
	case "proxyd":
		os.Exit(fakeProxyMain())
	case attempts:
		os.Exit(attemptsMain(os.Args[1]))
	case "go-client":
		os.Exit(goClientMain(os.Args[1]))
	}
	os.Exit(m.Run())
}

// install puts srt with a fake helper and a fake proxyd below dir, as the build leaves the real ones.
func install(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, place := range []string{"bin/srt", "libexec/srt/srt-linux", "libexec/srt/proxyd"} {
		path := filepath.Join(dir, place)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := link(self, path); err != nil {
			return err
		}
	}
	return nil
}

// link gives the file another name, by copying where the file system has to.
func link(from, to string) error {
	if err := os.Link(from, to); err == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// status runs a command and wants exactly this exit status: status 125 srt --nope.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Check(err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func runScripts(t *testing.T, dir, srt string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": status},
		Setup: func(e *testscript.Env) error {
			bin := filepath.Dir(srt)
			if srt == "" {
				if err := install(filepath.Join(e.WorkDir, ".install")); err != nil {
					return err
				}
				bin = filepath.Join(e.WorkDir, ".install", "bin")
			}
			home := filepath.Join(e.WorkDir, "home")
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			e.Setenv("PATH", bin+":/usr/local/bin:/usr/bin:/bin")
			e.Setenv("HOME", home)
			e.Setenv("SHELL", "/bin/sh")
			return nil
		},
	})
}

// TestScripts are sessions that a user could have typed, with a helper that makes no sandbox.
func TestScripts(t *testing.T) {
	srttest.RequireTool(t, "bash")
	runScripts(t, "testdata/script", "")
}

// TestSandboxScripts are the same with the real thing.
func TestSandboxScripts(t *testing.T) {
	srttest.RequireBwrap(t)
	srttest.RequireTool(t, "bash", "curl")
	srttest.Built(t, "libexec/srt/srt-linux")
	srttest.Built(t, "libexec/srt/proxyd")
	runScripts(t, "testdata/sandbox", srttest.Built(t, "bin/srt"))
}
