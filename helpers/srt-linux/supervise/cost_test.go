package supervise

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/srt-dev/srt/helpers/srt-linux/view"
	"golang.org/x/sys/unix"
)

func init() { insiders["cost"] = cost }

// usualNames are about as many rules as a real command has.
func usualNames(dir string) []view.Name {
	n := sequence(".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc", ".zprofile", ".profile", ".ripgreprc", ".mcp.json", ".zshenv", ".zlogin", ".envrc",
		".vscode/", ".idea/", ".claude/commands/", ".claude/agents/", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/",
		".git/hooks/", ".git/config", ".git/commondir", ".git/config.worktree", ".git/info/attributes")
	for i := range 20 {
		n = append(n, view.Name{Kind: view.NamePath, Path: fmt.Sprintf("%s/deny/%d/secret", dir, i), Rule: "deny"})
	}
	return n
}

// cost prints the nanoseconds that one call takes, in the median.
func cost(args []string) {
	runtime.LockOSThread()
	n, _ := strconv.Atoi(args[1])
	check("exists", os.WriteFile("exists", nil, 0o644))
	l, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	check("bind", unix.Bind(l, &unix.SockaddrUnix{Name: "cost.sock"}))
	check("listen", unix.Listen(l, 4096))
	var spent []time.Duration
	timed := func(f func() error) {
		start := time.Now()
		err := f()
		spent = append(spent, time.Since(start))
		check(args[0], err)
	}
	for i := range n {
		fd := -1
		switch args[0] {
		case "create":
			name := "n" + strconv.Itoa(i) // fresh: making a name again that was just removed is slow on ext4
			timed(func() (err error) { fd, err = unix.Open(name, unix.O_CREAT|unix.O_WRONLY|unix.O_EXCL, 0o644); return })
		case "existing":
			timed(func() (err error) { fd, err = unix.Open("exists", unix.O_CREAT|unix.O_WRONLY, 0o644); return })
		case "mkdir":
			name := "d" + strconv.Itoa(i)
			timed(func() error { return unix.Mkdir(name, 0o755) })
		case "rename":
			from, to := "exists", "other"
			if i&1 == 1 {
				from, to = to, from
			}
			timed(func() error { return unix.Rename(from, to) })
		case "connect":
			fd, _ = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			timed(func() error { return unix.Connect(fd, &unix.SockaddrUnix{Name: "cost.sock"}) })
			c, _, _ := unix.Accept(l)
			unix.Close(c)
		}
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	slices.Sort(spent) // the median: other work on the machine must not count
	fmt.Println(spent[len(spent)/2].Nanoseconds())
}

func TestHotPathAllocatesNothing(t *testing.T) {
	for _, kind := range []string{"create", "existing", "mkdir", "rename"} {
		dir := workDir(t, 0)
		o := run(t, setup{Dir: dir, Inside: "cost", Args: []string{kind, "3000"}, Names: usualNames(dir)})
		if o.Mallocs > 1000 || o.Collections > 0 {
			t.Errorf("%s: %d allocations and %d collections for 3,000 calls; output %q", kind, o.Mallocs, o.Collections, o.Out)
		}
	}
}

func BenchmarkCalls(b *testing.B) {
	for _, kind := range []string{"create", "existing", "mkdir", "rename", "connect"} {
		for _, plain := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/plain=%v", kind, plain), func(b *testing.B) {
				dir := workDir(b, 0)
				o := run(b, setup{Dir: dir, Inside: "cost", Args: []string{kind, "20000"}, Plain: plain, Names: usualNames(dir)})
				ns, err := strconv.Atoi(strings.TrimSpace(o.Out))
				if err != nil {
					b.Fatal(o.Out)
				}
				for b.Loop() { // the sandbox measured itself
				}
				b.ReportMetric(float64(ns), "ns/call")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkUntar extracts 20,000 tiny files into fresh directories, plain and supervised in turn, and reports the ratio. (Removing an old
// tree just before makes ext4 search and hides the cost.)
func BenchmarkUntar(b *testing.B) {
	src := workDir(b, 0)
	for i := range 200 {
		for j := range 100 {
			p := filepath.Join(src, "t", strconv.Itoa(i), strconv.Itoa(j))
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(p, []byte("tiny\n"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	archive := filepath.Join(src, "t.tar")
	if out, err := exec.Command("tar", "cf", archive, "-C", src, "t").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	dir := workDir(b, 0)
	var took, cpu [2]time.Duration
	n := 0
	for b.Loop() {
		for i, plain := range []bool{true, false} {
			d := filepath.Join(dir, fmt.Sprint(n, plain))
			if err := os.Mkdir(d, 0o755); err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			o := run(b, setup{Dir: d, Argv: []string{"tar", "xf", archive}, Plain: plain, Names: usualNames(dir)})
			took[i] += time.Since(start)
			cpu[i] += o.CPU
			if o.Status != 0 {
				b.Fatal(o.Out)
			}
		}
		n++
	}
	b.ReportMetric(float64(took[0].Milliseconds())/float64(n), "plain-ms")
	b.ReportMetric(float64(took[1].Milliseconds())/float64(n), "supervised-ms")
	b.ReportMetric(float64(took[1])/float64(took[0]), "ratio")
	b.ReportMetric(float64(cpu[0].Milliseconds())/float64(n), "plain-cpu-ms")
	b.ReportMetric(float64(cpu[1].Milliseconds())/float64(n), "supervised-cpu-ms")
	b.ReportMetric(float64(cpu[1])/float64(cpu[0]), "cpu-ratio")
}
