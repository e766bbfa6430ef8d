package journal

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestFile(t *testing.T) {
	dir := ""
	if os.Getenv("SRT_WINE") == "1" { // Go cannot remove files on Wine 8
		var err error
		if dir, err = os.MkdirTemp("", "srt-test"); err != nil {
			t.Fatal(err)
		}
	} else {
		dir = t.TempDir()
	}
	f := File{filepath.Join(dir, "srt")}
	unlock, err := f.Lock()
	if runtime.GOOS != "windows" {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("got %v", err)
		}
	} else if err != nil {
		t.Fatal(err)
	} else {
		defer func() {
			if err := unlock(); err != nil {
				t.Error(err)
			}
		}()
	}
	if b, err := f.Load(); b != nil || err != nil {
		t.Fatalf("nothing yet: %q, %v", b, err)
	}
	for _, text := range []string{"one", "two"} {
		if err := f.Save([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := f.Load(); string(b) != text || err != nil {
			t.Fatalf("%q, %v", b, err)
		}
	}
	names, err := os.ReadDir(f.Dir)
	if err != nil || len(names) != 2 {
		t.Errorf("%v, %v", names, err)
	}
}
