package sandbox

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
)

var (
	libexec  string // with srt's programs, built for these tests; "" when that failed
	problem  string // why
	many     = flag.Int("many", 200, "how many commands the test for leaks runs one after the other")
	atOnce   = flag.Int("atonce", 50, "how many commands run at the same time")
	managers = flag.Int("managers", 8, "how many Managers there are one after the other")
	deaths   = flag.Int("deaths", 12, "how many times something is killed while commands run")
)

// The programs are built once from the sources beside this package: what is tested here is all of them together.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "embed" {
		embed(os.Args[2], os.Args[3])
	}
	flag.Parse()
	dir, err := os.MkdirTemp("", "srt-sandbox-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := build(filepath.Join(dir, "libexec")); err != nil {
		problem = err.Error()
	} else {
		libexec = filepath.Join(dir, "libexec")
		os.Setenv("SRT_TEST_LIBEXEC", libexec) // for the examples, which are another package
	}
	if !canSandbox() {
		flag.Set("test.skip", "^Example") // an example cannot skip itself
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// canSandbox says whether examples can run.
func canSandbox() bool {
	return libexec != "" && exec.Command("/usr/bin/bwrap", "--unshare-all", "--ro-bind", "/", "/", "--", "/bin/true").Run() == nil
}

func build(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for name, pkg := range map[string]string{"srt-linux": "./helpers/srt-linux", "srt-linux-rpc": "./helpers/srt-linux/rpc", "proxyd-rpc": "./proxyd/rpc"} {
		c := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg)
		c.Dir = "../.."
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return nil
}

// manager starts a Manager with its directory in a place of its own.
func manager(t testing.TB, cfg Config, opts ...Option) *Manager {
	t.Helper()
	srttest.RequireBwrap(t)
	if libexec == "" {
		t.Fatal(problem)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	m, err := New(context.Background(), cfg, append([]Option{WithLibexec(libexec), WithDir(dir)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closed := make(chan struct{})
		go func() {
			m.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(60 * time.Second):
			t.Error("Close does not return")
		}
	})
	return m
}
