package srttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// NoSkip is the environment variable that turns a missing need into a failure when it is "1".
const NoSkip = "SRT_NO_SKIP"

// Beginnings of the messages of a skip; scripts/test knows them.
const (
	needsRoot     = "needs root"
	needsOrdinary = "needs an ordinary user"
)

// RequireRoot skips the test unless it runs as root.
func RequireRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("%s, runs as uid %d", needsRoot, os.Geteuid())
	}
}

// RequireOrdinaryUser skips the test when it runs as root.
func RequireOrdinaryUser(t testing.TB) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skipf("%s, runs as root", needsOrdinary)
	}
}

// RequireTool skips the test unless every program is on PATH, and gives the absolute path of the first.
func RequireTool(t testing.TB, names ...string) string {
	t.Helper()
	first := ""
	for _, name := range names {
		p, err := exec.LookPath(name)
		if err != nil {
			missing(t, "needs the program %q: %v", name, err)
			return ""
		}
		if first == "" {
			first = p
		}
	}
	return first
}

// RequireBwrap skips the test unless bubblewrap works here for this user, and gives its absolute path. It does not look at PATH, as
// srt does not.
func RequireBwrap(t testing.TB) string {
	t.Helper()
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin"} {
		p := filepath.Join(dir, "bwrap")
		if _, err := os.Stat(p); err != nil {
			continue
		}
		out, err := exec.Command(p, "--unshare-all", "--ro-bind", "/", "/", "--", "/bin/true").CombinedOutput()
		if err != nil {
			missing(t, "needs a bubblewrap that works: %s: %v: %s", p, err, strings.TrimSpace(string(out)))
			return ""
		}
		return p
	}
	missing(t, "needs bubblewrap (apt-get install bubblewrap)")
	return ""
}

// RequireUserNamespaces skips the test unless this user can make a user namespace.
func RequireUserNamespaces(t testing.TB) {
	t.Helper()
	if err := tryUserNamespace(); err != nil {
		missing(t, "needs user namespaces: %v", err)
	}
}

// Root is the directory of the source tree (the one with go.work) that the test runs in.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatalf("source tree: %v", err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
	}
	t.Fatalf("source tree: no go.work here or above")
	return ""
}

// Built skips the test unless scripts/build has left a program at the path, relative to Root ("bin/srt"), and gives its absolute path.
func Built(t testing.TB, path string) string {
	t.Helper()
	p := filepath.Join(Root(t), path)
	if _, err := os.Stat(p); err != nil {
		missing(t, "needs %s (scripts/build): %v", path, err)
		return ""
	}
	return p
}

// missing skips the test, or fails it under NoSkip.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(NoSkip) == "1" {
		t.Fatalf("not allowed to skip: "+format, args...)
		return
	}
	t.Skipf("NOT TESTED: "+format, args...)
}
