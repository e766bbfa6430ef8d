package fileplan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/srttest"
)

// A look-up may only stand for a listing when nothing that the search wants could be missing.
func TestLookUpInsteadOfAListing(t *testing.T) {
	names := []string{".git", ".bashrc", "HEAD"}
	for name, c := range map[string]struct {
		entries        []string
		plain, subdirs string // what is found without and with subdirectories; "list" when a listing is needed
	}{
		"nothing":                      {nil, "", ""},
		"other files":                  {[]string{"a", "b"}, "", ""},
		"names":                        {[]string{"a", ".bashrc", "HEAD -> nowhere"}, ".bashrc=1 HEAD=3", ".bashrc=1 HEAD=3"},
		"a directory with a name":      {[]string{".git/x", "a"}, ".git=2", ".git=2"},
		"a directory of another name":  {[]string{".git/x", "a/"}, ".git=2", "list"},
		"only another directory":       {[]string{"a/"}, "", "list"},
		"a link to a directory":        {[]string{"a -> /tmp", ".git -> a"}, ".git=3", ".git=3"},
		"a name of another spelling":   {[]string{".Git/x"}, "", "list"},
		"a directory in the directory": {[]string{".git/x/y/"}, ".git=2", ".git=2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := openDir(t, tree(t, c.entries...))
			if got := looked(dir, names, false, 0); got != c.plain {
				t.Errorf("plain: %q, want %q", got, c.plain)
			}
			if !countsDirs(dir) {
				c.subdirs = "list"
			}
			if got := looked(dir, names, true, 0); got != c.subdirs {
				t.Errorf("with subdirectories: %q, want %q", got, c.subdirs)
			}
			if got := looked(dir, names, false, 1<<40); got != "list" {
				t.Errorf("a small directory: %q", got)
			}
		})
	}
}

func TestLookUpThatIsForbiddenMeansAListing(t *testing.T) {
	srttest.RequireOrdinaryUser(t) // root may search every directory
	path := tree(t, ".bashrc")
	dir := openDir(t, path)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
	if got := looked(dir, []string{".bashrc"}, false, 0); got != "list" {
		t.Errorf("got %q", got)
	}
}

// A search of large directories marks what a search of small ones does.
func TestProtectedNamesInALargeDirectory(t *testing.T) {
	entries := []string{"large/.bashrc", "large/.git/config = [core]", "large/.git/HEAD = ref: refs/heads/main", "large/.git/objects/", "large/.git/refs/"}
	for i := range 1000 {
		entries = append(entries, fmt.Sprintf("large/a-file-with-a-longer-name-%d", i))
	}
	root := tree(t, entries...)
	if got := looked(openDir(t, filepath.Join(root, "large")), []string{".bashrc"}, false, largeDir); got != ".bashrc=1" {
		t.Errorf("a directory of %d files counts as small: %q", len(entries), got)
	}
	for _, more := range []string{"", "large/sub/.bashrc"} {
		if more != "" {
			if err := os.MkdirAll(filepath.Join(root, "large/sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, more), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		byName, byListing := map[string]pathrule.Kind{}, map[string]pathrule.Kind{}
		h := newHostFS(0)
		names := []string{".git", ".bashrc", "HEAD"}
		wanted := func(into map[string]pathrule.Kind) func([]byte, pathrule.Kind) {
			return func(name []byte, kind pathrule.Kind) {
				if kind == pathrule.Dir || slices.Contains(names, string(name)) {
					into[string(name)] = kind
				}
			}
		}
		if err := h.Find(filepath.Join(root, "large"), names, true, wanted(byName)); err != nil {
			t.Fatal(err)
		}
		if err := h.ReadDir(filepath.Join(root, "large"), wanted(byListing)); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(byName) != fmt.Sprint(byListing) {
			t.Errorf("looked up %v, listed %v", byName, byListing)
		}
	}
}

func openDir(t *testing.T, path string) int {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// looked shows what was found as "name=kind …", sorted.
func looked(dir int, names []string, dirs bool, large int64) string {
	found, all := lookUp(dir, names, dirs, large)
	if !all {
		return "list"
	}
	var out []string
	for _, e := range found {
		out = append(out, fmt.Sprintf("%s=%d", e.name, e.kind))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
