package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/srttest/conform"
	"github.com/srt-dev/srt/core/wire"
)

// attempts is the name under which the test binary makes the attempts of the table, inside.
const attempts = "conform-attempts"

func attemptsMain(text string) int {
	if err := conform.Main(text); err != nil {
		print2(err.Error())
		return 99
	}
	return 0
}

// TestConform asks a real sandbox every question of the table that the model of macOS is asked too. Without a sandbox each operation
// works, so that what is refused is refused by it.
func TestConform(t *testing.T) {
	srttest.RequireBwrap(t)
	srt, _ := installReal(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	probe := filepath.Join(t.TempDir(), attempts)
	if err := os.Symlink(self, probe); err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	names, err := conform.Cases(conform.Place{Base: "/b"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		t.Run(names[i].Name, func(t *testing.T) {
			base, err := os.MkdirTemp("", "c") // t.TempDir is too long for the address of a socket
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(base) })
			place := conform.Place{Base: base}
			world := conform.World{Proxy: wire.LinuxProxyAddr, Other: other.Addr().String()}
			for _, q := range freshTree(t, place, i).Questions {
				if q.String() == "connect proxy" {
					continue // there is none outside
				}
				freshTree(t, place, i)
				if err := world.Attempt(q); err != nil {
					t.Errorf("without a sandbox: %v: %v", q, err)
				}
			}
			c := freshTree(t, place, i)
			world.Questions = c.Questions
			out, errOut := confined(t, srt, place, &c, []string{probe, encoded(t, world)})
			if c.Error != "" {
				if !strings.Contains(errOut, c.Error) || len(out) != 0 {
					t.Errorf("got %q, want %q", errOut, c.Error)
				}
				return
			}
			if len(out) != len(c.Questions) {
				t.Fatalf("%d answers to %d questions: %s", len(out), len(c.Questions), errOut)
			}
			for j, q := range c.Questions {
				if (out[j] == "") != q.Allowed("linux") {
					t.Errorf("%v: got %q, to be allowed: %v", q, out[j], q.Allowed("linux"))
				}
			}
		})
	}
}

// freshTree makes the tree of a case anew, with somebody on the sockets beside the working directory.
func freshTree(t *testing.T, place conform.Place, i int) conform.Case {
	t.Helper()
	cases, err := conform.Cases(place)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(place.Base); err != nil {
		t.Fatal(err)
	}
	if err := cases[i].Build(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sock", "sock2"} {
		l, err := net.Listen("unix", place.Base+"/outside/"+name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
	}
	return cases[i]
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// confined runs the attempts in a sandbox and gives the answers.
func confined(t *testing.T, srt string, place conform.Place, c *conform.Case, argv []string) (answers []string, errOut string) {
	t.Helper()
	var stderr strings.Builder
	cmd := exec.Command(srt, append([]string{"--settings", settingsFile(t, c.Settings)}, argv...)...)
	cmd.Dir, cmd.Stderr = place.Dir(), &stderr
	cmd.Env = append(os.Environ(), "HOME="+place.Home())
	out, err := cmd.Output()
	if err != nil {
		return nil, stderr.String()
	}
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return answers, stderr.String()
}
