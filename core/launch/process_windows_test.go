package launch

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/wire"
)

// TestMain lets the test program be the one of a plan.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "planned" {
		os.Exit(planned(os.Args[2]))
	}
	os.Exit(m.Run())
}

// planned writes what it was given into file, stays until srt has ended, and ends with a status that has all 32 bits.
func planned(file string) int {
	var text strings.Builder
	dir, _ := os.Getwd()
	data, err := io.ReadAll(handle(3))
	fmt.Fprintf(&text, "dir %s\nenv %s\ndata %q %v\n", dir, strings.Join(os.Environ(), " "), data, err)
	if err := os.WriteFile(file+".new", []byte(text.String()), 0o600); err != nil {
		return 1
	}
	if err := os.Rename(file+".new", file); err != nil {
		return 1
	}
	if rest, err := io.ReadAll(handle(4)); err != nil || len(rest) > 0 {
		return 2
	}
	return 0xC0000135
}

func handle(number int) *os.File {
	h, _ := strconv.ParseUint(os.Getenv(wire.HandleVariable(number)), 10, 64)
	return os.NewFile(uintptr(h), "handle")
}

// TestExecuteOnWine: a plan gets its data, its folder, its environment and nothing else, hears of srt's end, and its whole status counts.
func TestExecuteOnWine(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "srt-test")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "said")
	t.Setenv("SRT_SECRET", "x")
	data := strings.Repeat("request ", 100_000) // far more than a pipe holds
	p, err := execute(wire.LaunchPlan{Argv: []string{self, "planned", file}, Env: []string{"SystemRoot=" + os.Getenv("SystemRoot"), "A=b"}, Dir: dir,
		Descriptors: []wire.Descriptor{{Number: 3, Kind: wire.FDData, Data: []byte(data)}, {Number: 4, Kind: wire.FDLifetime}}})
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for deadline := time.Now().Add(time.Minute); said == "" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		b, _ := os.ReadFile(file)
		said = string(b)
	}
	if !strings.Contains(said, "dir "+dir+"\n") || !strings.Contains(said, " A=b") && !strings.Contains(said, "env A=b") || !strings.Contains(said, fmt.Sprintf("data %q <nil>\n", data)) {
		t.Errorf("the program of the plan said %.300s", said)
	}
	if strings.Contains(said, "SRT_SECRET=") {
		t.Errorf("srt's own environment came along: %.300s", said)
	}
	p.end(time.Minute)
	if code, err := p.wait(); err != nil || code != 0xC0000135 {
		t.Errorf("status 0x%x, %v", code, err)
	}
}

func TestExecuteRefusesOnWine(t *testing.T) {
	for want, plan := range map[string]wire.LaunchPlan{
		`execute the plan: it is empty`:                                     {},
		`execute the plan "control": it wants a descriptor that nobody has`: {Argv: []string{`C:\x.exe`}, Descriptors: []wire.Descriptor{{Number: 4, Kind: wire.FDControl}}},
		`execute "C:\\nowhere\\x.exe": `:                                    {Argv: []string{`C:\nowhere\x.exe`}},
	} {
		if _, err := execute(plan); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
