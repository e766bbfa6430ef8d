//go:build linux || darwin

package hostfs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
)

// tree makes a directory with one of each kind and gives its path without links.
func tree(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.MkdirAll(root+"/Dir/Café", 0o755), os.WriteFile(root+"/Dir/File", []byte("text"), 0o644), os.Symlink("Dir/File", root+"/link"),
		os.Symlink("/System/Volumes/Data/Users/u", root+"/data"), syscall.Mkfifo(root+"/fifo", 0o600), os.Mkdir(root+"/fresh", 0o700),
		os.WriteFile(root+"/prog", nil, 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestLooking(t *testing.T) {
	root, f := tree(t), New()
	for path, want := range map[string]pathrule.Kind{"/Dir": pathrule.Dir, "/Dir/File": pathrule.File, "/link": pathrule.Link, "/fifo": pathrule.Other, "/none": pathrule.Missing, "/Dir/File/x": pathrule.Missing} {
		if got := f.Lstat(root + path); got != want {
			t.Errorf("%s: kind %v, want %v", path, got, want)
		}
	}
	var names []string
	if err := f.ReadDir(root, func(name []byte, kind pathrule.Kind) {
		names = append(names, string(name))
		if want := f.Lstat(root + "/" + string(name)); kind != want {
			t.Errorf("%s: kind %v, want %v", name, kind, want)
		}
	}); err != nil || !slices.Equal(names, []string{"Dir", "data", "fifo", "fresh", "link", "prog"}) {
		t.Errorf("names %q, %v", names, err)
	}
	if err := f.ReadDir("/dev", func(name []byte, _ pathrule.Kind) { t.Errorf("/dev/%s", name) }); err != nil {
		t.Error(err)
	}
	if err := f.ReadDir(root+"/none", nil); err == nil {
		t.Error("a directory that is not there was listed")
	}
	if got := f.Readlink(root + "/link"); got != "Dir/File" {
		t.Errorf("link %q", got)
	}
	if got := f.Readlink(root + "/data"); got != "/Users/u" {
		t.Errorf("a link through the data volume: %q", got)
	}
	up := strings.Repeat("../", strings.Count(root, "/")) // Dir lies one deeper
	if err := os.Symlink(up+"../System/Volumes/Data/Users/u", root+"/Dir/relative"); err != nil {
		t.Fatal(err)
	}
	if got := f.Readlink(root + "/Dir/relative"); got != "/Users/u" {
		t.Errorf("a relative link through the data volume: %q", got)
	}
	if got := string(f.ReadFile(root + "/Dir/File")); got != "text" {
		t.Errorf("content %q", got)
	}
	for _, path := range []string{"/link", "/fifo", "/Dir", "/none"} {
		if got := f.ReadFile(root + path); got != nil {
			t.Errorf("%s has content %q", path, got)
		}
	}
}

func TestReal(t *testing.T) {
	root, f := tree(t), New()
	if real, n := f.Real("/"); real != "/" || n != 1 {
		t.Errorf("the root is %q, %d", real, n)
	}
	for path, exists := range map[string]string{"/Dir/File": "/Dir/File", "/Dir/none/x": "/Dir", "/link": "/link", "": ""} {
		real, n := f.Real(root + path)
		if real != root+path || real[:n] != root+exists {
			t.Errorf("%s: %q, of which %q exists, want %q", path, real, real[:n], exists)
		}
	}
	// As on a volume that ignores case and normal forms: Lstat finds what is spelt otherwise in the directory.
	f.names[root+"/"] = []string{"dIR"}
	f.names[root+"/dIR/"] = []string{"x", "Cafe\u0301"}
	if err := os.Symlink("Dir", root+"/dIR"); err != nil && f.Lstat(root+"/dIR") == pathrule.Missing {
		t.Fatal(err)
	}
	if real, n := f.Real(root + "/Dir/Café/y"); real != root+"/dIR/Cafe\u0301/y" || !strings.HasSuffix(real[:n], "Cafe\u0301") {
		t.Errorf("real %q, exists %q", real, real[:n])
	}
}

func TestFresh(t *testing.T) {
	root, f := tree(t), New()
	if err := f.Fresh(root + "/fresh"); err != nil {
		t.Errorf("fresh: %v", err)
	}
	for path, want := range map[string]string{"/Dir": "is open to others (mode 0755)", "/prog": "is not a directory", "/none": "lstat " + root + "/none: no such file or directory"} {
		if err := f.Fresh(root + path); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if err := os.WriteFile(root+"/fresh/x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Fresh(root + "/fresh"); err == nil || err.Error() != "is not empty" {
		t.Errorf("with a file in it: %v", err)
	}
}

func TestExecutable(t *testing.T) {
	root, f := tree(t), New()
	if err := f.Executable(root + "/prog"); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]string{"/Dir": "is a directory", "/fifo": "is not a regular file", "/Dir/File": "permission denied", "/link": "permission denied"} {
		if err := f.Executable(root + path); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
