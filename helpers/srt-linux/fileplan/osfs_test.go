package fileplan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/wire"
)

// tree makes files below a temporary directory: "a/b/" is a directory, "a/f = text" a file, "a/l -> target" a link.
func tree(t testing.TB, entries ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path, text, isFile := strings.Cut(e, " = ")
		link, target, isLink := strings.Cut(e, " -> ")
		if isLink {
			path = link
		}
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case isLink:
			err = os.Symlink(target, full)
		case strings.HasSuffix(path, "/"):
			err = os.MkdirAll(full, 0o755)
		case isFile:
			err = os.WriteFile(full, []byte(text), 0o644)
		default:
			err = os.WriteFile(full, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// relative takes the temporary directory out of texts.
func relative(dir string, texts []string) []string {
	out := []string{}
	for _, s := range texts {
		out = append(out, strings.ReplaceAll(s, dir, "$W"))
	}
	return out
}

func TestPlanOnTheRealFileSystem(t *testing.T) {
	w := tree(t, ".bashrc", "a/.vscode/tasks.json", "a/b/.bashrc", "a/b/c/.bashrc", "a/secret", ".git/HEAD", ".git/config", ".git/hooks/pre-commit", ".git/objects/", ".git/refs/", "l -> a")
	v, notes, err := Plan(wire.FilePolicy{AllowWrite: entries(w), DenyRead: entries(w + "/l/secret"), Protected: table, GitRules: true, ScanDepth: 3}, Options{Dir: w + "/l"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"write $W/", "readonly $W/.bashrc", "readonly $W/.git/config", "readonly $W/.git/hooks/", "readonly $W/a/.vscode/", "readonly $W/a/b/.bashrc", "readonly $W/l@", "hide $W/a/secret"}
	if got := relative(w, steps(v)); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if v.Cwd != w+"/a" || v.ScanDepth != 3 || time.Since(time.Unix(0, v.StartedNs)) > time.Minute {
		t.Errorf("cwd %q, depth %d, started %d", v.Cwd, v.ScanDepth, v.StartedNs)
	}
	if len(notes) != 0 {
		t.Errorf("notes %q", notes)
	}
}

func TestHardLinksOfExplicitEntriesAreNoted(t *testing.T) {
	w := tree(t, "f", "g")
	if err := os.Link(w+"/f", w+"/second"); err != nil {
		t.Fatal(err)
	}
	_, notes, err := Plan(wire.FilePolicy{AllowWrite: entries(w), DenyWrite: entries(w+"/f", w+"/g")}, Options{Dir: w, Debug: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`"$W/f": has a second name (hard link); "$W/f" does not cover that one`}
	if got := relative(w, notes); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A FIFO where a configuration file belongs must not make the start wait for a writer.
func TestNothingBlocks(t *testing.T) {
	w := tree(t, ".git/HEAD", ".git/objects/", ".git/refs/", "sub/x")
	for _, f := range []string{"/.git/config", "/sub/.git", "/.git/commondir"} {
		if err := unix.Mkfifo(w+f, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := Plan(wire.FilePolicy{AllowWrite: entries(w), GitRules: true, Protected: table, ScanDepth: 3}, Options{Dir: w})
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("blocked")
	}
}

func TestHostFS(t *testing.T) {
	w := tree(t, "d/f = text", "l -> d", "broken -> gone")
	if err := unix.Mkfifo(w+"/p", 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHostFS(time.Now().UnixNano())
	for path, want := range map[string]pathrule.Kind{"/d": pathrule.Dir, "/d/f": pathrule.File, "/l": pathrule.Link, "/broken": pathrule.Link, "/p": pathrule.Other, "/gone": pathrule.Missing, "/d/f/x": pathrule.Missing} {
		if got := h.Lstat(w + path); got != want {
			t.Errorf("%s: kind %d, want %d", path, got, want)
		}
	}
	var got []string
	if err := h.ReadDir(w, func(name []byte, kind pathrule.Kind) { got = append(got, string(name)) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"broken", "d", "l", "p"}) {
		t.Errorf("lists %q", got)
	}
	none := func([]byte, pathrule.Kind) { t.Error("lists something") }
	if err := h.ReadDir(w+"/l", none); err == nil {
		t.Error("follows a link")
	}
	if err := h.ReadDir("/proc/self", none); err != nil {
		t.Error(err)
	}
	if h.Readlink(w+"/l") != "d" || h.Readlink(w+"/d") != "" {
		t.Error("reads links wrongly")
	}
	if string(h.ReadFile(w+"/d/f")) != "text" || h.ReadFile(w+"/l/f") != nil || h.ReadFile(w+"/p") != nil || h.ReadFile(w) != nil {
		t.Error("reads files wrongly")
	}
	if h.BornAfterStart(w + "/d") {
		t.Error("an old directory counts as new")
	}
	time.Sleep(20 * time.Millisecond) // birth times come from a clock that ticks
	if err := os.Mkdir(w+"/new", 0o755); err != nil {
		t.Fatal(err)
	}
	if !h.BornAfterStart(w + "/new") {
		t.Skip("this file system keeps no birth times")
	}
}

func TestBigFilesAreCut(t *testing.T) {
	w := tree(t, "f = "+strings.Repeat("x", maxFile+10))
	if n := len(newHostFS(0).ReadFile(w + "/f")); n != maxFile {
		t.Errorf("%d bytes", n)
	}
}

func TestUnreadableDirectoriesAreNoted(t *testing.T) {
	w := tree(t, "d/x")
	if err := os.Chmod(w+"/d", 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(w+"/d", 0o755)
	_, notes, err := Plan(wire.FilePolicy{AllowWrite: entries(w), Protected: table, ScanDepth: 3}, Options{Dir: w})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`"$W/d": not searched for protected names: permission denied`}
	if os.Getuid() == 0 {
		want = []string{}
	}
	if got := relative(w, notes); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestMountTable(t *testing.T) {
	got := parseTable(`22 27 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
27 1 252:1 / / rw - ext4 /dev/root rw
30 27 0:9 / /mnt/a\040b rw - autofs auto rw,fd=6
31 30 0:10 / /mnt/a\040b rw - nfs4 host:/x rw
32 27 0:11 / /mnt/\134c master:1 propagate_from:2 - cgroup2 c rw
rubbish
`).skip
	if len(got) != 2 || got["/sys"] != "sysfs" || got[`/mnt/\c`] != "cgroup2" {
		t.Errorf("got %q", got)
	}
}

func FuzzMountTable(f *testing.F) {
	f.Add("30 27 0:9 / /mnt/a\\040b rw - autofs auto rw,fd=6\n")
	f.Add("1 1 0:1 / \\777 rw - proc x")
	f.Fuzz(func(t *testing.T, table string) {
		for point, typ := range parseTable(table).skip {
			if !skippedTypes[typ] || strings.Contains(point, "\n") && !strings.Contains(table, "\\012") {
				t.Fatalf("%q gives %q at %q", table, typ, point)
			}
		}
	})
}
