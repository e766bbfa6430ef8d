package deps

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// What scripts/build left: static, without a build id or a path of the machine that built it. scripts/test builds first.
func TestBinariesAreStaticAndAnonymous(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks at ELF files")
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Programs {
		if !slices.Contains(p.Systems, "linux") {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			file := filepath.Join(root, "libexec", "srt", p.Name)
			if p.Name == "srt" {
				file = filepath.Join(root, "bin", "srt")
			}
			if _, err := os.Stat(file); err != nil {
				if os.Getenv("SRT_NO_SKIP") == "1" {
					t.Fatal(err)
				}
				t.Skipf("NOT TESTED: needs scripts/build: %v", err)
			}
			f, err := elf.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for _, h := range f.Progs {
				if h.Type == elf.PT_INTERP || h.Type == elf.PT_DYNAMIC {
					t.Errorf("%s is linked dynamically (%v)", file, h.Type)
				}
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{abs + "/", strings.TrimSpace(string(goroot)) + "/src"} {
				if bytes.Contains(text, []byte(word)) {
					t.Errorf("%s contains the path %q", file, word)
				}
			}
			info, err := buildinfo.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range info.Settings {
				if s.Key == "CGO_ENABLED" && s.Value != "0" {
					t.Errorf("%s was built with cgo", file)
				}
			}
		})
	}
}
