package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/srttest/ptytest"
)

// onTerminal runs srt with a fake helper on a terminal. Its proxyd asks about every connection.
func onTerminal(t *testing.T, stdin bool, args ...string) (p *ptytest.Terminal, home string) {
	t.Helper()
	dir := t.TempDir()
	if err := install(dir); err != nil {
		t.Fatal(err)
	}
	home = t.TempDir()
	cmd := exec.Command(filepath.Join(dir, "bin/srt"), args...)
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "SHELL=/bin/bash"}
	return ptytest.Start(t, cmd, stdin), home
}

const connectTwice = `answer() { exec 3<>/dev/tcp/127.0.0.1/$FAKE_PORT && cat <&3; }; echo "first=$(answer)"; echo "second=$(answer)"; read -t 20 x; echo "read=$x"`

const question = "allow it [o]nce, for this [r]un, [s]ave to settings, [d]eny? "

func TestAsk(t *testing.T) {
	srttest.RequireTool(t, "bash")
	for name, tc := range map[string]struct {
		stdin   bool
		answers []string // one per question
		expect  []string
		saved   string
	}{
		"deny, and not asked again":            {true, []string{"d"}, []string{"first=false", "second=false"}, ""},
		"for this run, and not asked again":    {true, []string{"r"}, []string{"first=true", "second=true"}, ""},
		"once, and asked again":                {true, []string{"once", "n"}, []string{"second=false"}, ""},
		"saved":                                {true, []string{"s"}, []string{"saved to ", "first=true", "second=true"}, `{"network":{"allowedDomains":["example.com:8080"]}}` + "\n"},
		"an answer that is none, then another": {true, []string{"what\no, r, s or d? r"}, []string{"first=true"}, ""},
		"no stdin":                             {false, []string{"r"}, []string{"first=true", "second=true"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, home := onTerminal(t, tc.stdin, "--ask", "-c", connectTwice)
			for _, a := range tc.answers {
				p.Expect("srt: the command wants to reach example.com:8080")
				p.Expect(question)
				first, rest, more := strings.Cut(a, "\n")
				p.Type(first + "\n")
				if more {
					i := strings.LastIndexByte(rest, ' ')
					p.Expect(rest[:i+1])
					p.Type(rest[i+1:] + "\n")
				}
			}
			for _, text := range tc.expect {
				p.Expect(text)
			}
			if tc.stdin { // the command has its terminal back
				p.Type("line\n")
				p.Expect("read=line")
			}
			saved, _ := os.ReadFile(filepath.Join(home, ".srt-settings.json"))
			if string(saved) != tc.saved {
				t.Errorf("saved %q, want %q", saved, tc.saved)
			}
		})
	}
}

func TestAskIsNotAskedOfARawTerminal(t *testing.T) {
	srttest.RequireTool(t, "bash", "stty")
	p, _ := onTerminal(t, true, "--ask", "-c", "stty raw -echo; "+connectTwice)
	p.Expect("first=false")
	p.Expect("second=false")
}

func TestAskWithoutTerminal(t *testing.T) {
	srttest.RequireTool(t, "bash")
	dir := t.TempDir()
	if err := install(dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "bin/srt"), "--ask", "-c", connectTwice)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin", "SHELL=/bin/bash"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "first=false\nsecond=false\n") {
		t.Errorf("got %q, %v", out, err)
	}
}
