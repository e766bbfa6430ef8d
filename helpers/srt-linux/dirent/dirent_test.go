package dirent

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func open(t *testing.T, dir string) int {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// More names than one system call gives, the longest and odd ones among them, each once and with its type.
func TestEveryEntryOnce(t *testing.T) {
	dir := t.TempDir()
	want := map[string]byte{"..a": unix.DT_REG, "new\nline": unix.DT_REG, "sub": unix.DT_DIR, "link": unix.DT_LNK}
	for i := range 2000 {
		want[fmt.Sprintf("%0*d", 1+i%255, i)] = unix.DT_REG
	}
	for name, typ := range want {
		var err error
		switch p := dir + "/" + name; typ {
		case unix.DT_REG:
			err = os.WriteFile(p, nil, 0o644)
		case unix.DT_DIR:
			err = os.Mkdir(p, 0o755)
		case unix.DT_LNK:
			err = os.Symlink("nowhere", p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	err := Visit(open(t, dir), func(name []byte, typ byte) bool {
		seen++
		if w, ok := want[string(name)]; !ok || typ != w && typ != unix.DT_UNKNOWN {
			t.Errorf("%q has type %d, want %d (%v)", name, typ, w, ok)
		}
		return true
	})
	if err != nil || seen != len(want) {
		t.Errorf("%d entries (%v), want %d", seen, err, len(want))
	}
}

func TestVisitEndsWhenItIsTold(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(dir+"/"+name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	if err := Visit(open(t, dir), func(name []byte, _ byte) bool { names = append(names, string(name)); return len(names) < 2 }); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(names); len(names) != 2 || names[0] == names[1] {
		t.Errorf("visited %q", names)
	}
}

func TestErrorOfTheSystemCall(t *testing.T) {
	fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := Visit(fd, func([]byte, byte) bool { return true }); err != unix.ENOTDIR {
		t.Errorf("got %v", err)
	}
}
