package fileplan

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/srt-dev/srt/core/pathrule"
	"github.com/srt-dev/srt/core/pathrule/memfs"
	"github.com/srt-dev/srt/core/srttest"
	"github.com/srt-dev/srt/core/wire"
)

// driverEnv turns the test binary into the program that works inside the sandbox.
const driverEnv = "SRT_TEST_DRIVER"

func TestMain(m *testing.M) {
	if os.Getenv(driverEnv) != "" {
		drive(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// order is one operation for the driver; the answer is an error text, "" for success.
type order struct {
	Op pathrule.Op
	A  string
	B  string
}

func drive(in io.Reader, out io.Writer) {
	d, e := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var o order
		if d.Decode(&o) != nil {
			return
		}
		text := ""
		if err := o.do(); err != nil {
			text = err.Error()
			if errors.Is(err, syscall.EXDEV) {
				text = "EXDEV"
			}
		}
		if e.Encode(text) != nil {
			return
		}
	}
}

func (o order) do() error {
	open := func(flags int) error {
		f, err := os.OpenFile(o.A, flags|syscall.O_NONBLOCK, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		switch {
		case flags&os.O_WRONLY != 0:
			_, err = f.WriteString("changed")
		case flags&syscall.O_DIRECTORY != 0:
			_, err = f.Readdirnames(1)
		default:
			_, err = f.Read(make([]byte, 1))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	switch o.Op {
	case pathrule.OpRead:
		return open(os.O_RDONLY)
	case pathrule.OpList:
		return open(os.O_RDONLY | syscall.O_DIRECTORY)
	case pathrule.OpStat:
		_, err := os.Stat(o.A)
		return err
	case pathrule.OpWrite:
		return open(os.O_WRONLY)
	case pathrule.OpCreate:
		return open(os.O_WRONLY | os.O_CREATE)
	case pathrule.OpMkdir:
		return os.Mkdir(o.A, 0o755)
	case pathrule.OpRemove:
		return os.Remove(o.A)
	case pathrule.OpRename:
		return syscall.Rename(o.A, o.B) // os.Rename looks first
	case pathrule.OpLink:
		return os.Link(o.A, o.B)
	case pathrule.OpSymlink:
		return os.Symlink(o.B, o.A)
	case pathrule.OpChmod:
		return os.Chmod(o.A, 0o755)
	case pathrule.OpTruncate:
		return os.Truncate(o.A, 3)
	}
	return errors.ErrUnsupported
}

// kernelTable is all that the real table protects among the names that the generator uses, git's last.
var kernelTable = []wire.Protected{{Name: ".claude/hooks", Dir: true}, {Name: ".claude/commands", Dir: true}, {Name: ".vscode", Dir: true}, {Name: ".bashrc"},
	{Name: ".claude/agents", Dir: true}, {Name: ".claude/settings.json"}, {Name: ".claude/settings.local.json"},
	{Name: ".git/hooks", Dir: true}, {Name: ".git/config"}}

// TestPolicyAndKernelAgree is TestPolicyAndPlanAgree with the built srt in place of the model: what a command may do in a real sandbox is
// what the evaluator says. srt reads the real tree, the evaluator the same tree in memory.
func TestPolicyAndKernelAgree(t *testing.T) {
	srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	s := theSeed()
	var sum tally
	for n, started := 0, 0; started < *kernelCases; n++ {
		g := gen{rand.New(rand.NewPCG(s, uint64(n)))}
		mem := g.tree()
		files := g.policy(mem)
		if len(files.Protected) > 0 {
			files.Protected = kernelTable
			if !files.GitRules {
				files.Protected = kernelTable[: len(kernelTable)-2 : len(kernelTable)-2]
			}
		}
		for _, l := range [][]wire.PathEntry{files.DenyRead, files.AllowRead, files.AllowWrite, files.DenyWrite} {
			for i := range l {
				l[i].Path = strings.TrimSuffix(l[i].Path, "/**") // as settings are resolved
				l[i].Glob = l[i].Glob && strings.ContainsAny(l[i].Path, "*?[")
			}
		}
		p, err := pathrule.NewWith(files, mem, pathrule.Options{Dir: "/"})
		if err != nil || topLinks(mem) {
			continue // a refused policy, or links that would lead out of the temporary directory
		}
		started++
		w := begin(t, srt, fmt.Sprintf("seed %d case %d", s, n), p, mem, files)
		for range 150 {
			op := pathrule.Op(1 + g.IntN(int(pathrule.OpTruncate)))
			o := order{op, g.somewhere(mem), g.somewhere(mem)}
			if op == pathrule.OpSymlink {
				o.B = g.target()
			}
			w.ask(t, o, &sum)
		}
		w.end(t)
	}
	t.Logf("seed %d: %d questions, %d denied", s, sum.asked, sum.denied)
}

// namesProtected says that a path exists and that it is a protected sequence of names, or lies in one.
func namesProtected(mem *memfs.FS, p string, files wire.FilePolicy) bool {
	real, kind := pathrule.Resolve(mem, path.Dir(p))
	if kind == pathrule.Missing || mem.Lstat(path.Join(real, path.Base(p))) == pathrule.Missing {
		return false
	}
	for _, s := range files.Protected {
		if strings.Contains(path.Join(real, path.Base(p))+"/", "/"+s.Name+"/") {
			return true
		}
	}
	return false
}

func topLinks(mem *memfs.FS) bool {
	return mem.Lstat("/w") != pathrule.Dir || mem.Lstat("/o") != pathrule.Dir
}

func (o order) inMemory(mem *memfs.FS) error {
	switch o.Op {
	case pathrule.OpRename, pathrule.OpLink:
		return mem.Pair(o.Op, o.A, o.B)
	case pathrule.OpSymlink:
		return mem.Symlink(o.B, o.A)
	}
	return mem.Do(o.Op, o.A)
}

// kernel is one running sandbox with the driver in it, over a copy of a tree in memory at dir.
type kernel struct {
	dir    string
	cmd    *exec.Cmd
	in     io.WriteCloser
	answer *json.Decoder
	stderr strings.Builder
	which  string // seed and case, for messages
}

func startKernel(t *testing.T, srt string, mem *memfs.FS, files wire.FilePolicy) *kernel {
	t.Helper()
	k := &kernel{}
	var err error
	if k.dir, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for _, p := range mem.Paths() {
		switch mem.Lstat(p) {
		case pathrule.Dir:
			err = os.Mkdir(k.dir+p, 0o755)
		case pathrule.Link:
			err = os.Symlink(k.real(mem.Readlink(p)), k.dir+p)
		default:
			text := string(mem.ReadFile(p))
			if target, ok := strings.CutPrefix(text, "gitdir: "); ok {
				text = "gitdir: " + k.real(target)
			}
			err = os.WriteFile(k.dir+p, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	settings := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(settings, k.settings(files), 0o644); err != nil {
		t.Fatal(err)
	}
	k.cmd = exec.Command(srt, "--settings", settings, "--", os.Args[0])
	k.cmd.Dir = "/"
	k.cmd.Env = append(os.Environ(), driverEnv+"=1")
	k.cmd.Stderr = &k.stderr
	if k.in, err = k.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k.answer = json.NewDecoder(bufio.NewReader(out))
	return k
}

// real gives the path on the disk; relative texts stay.
func (k *kernel) real(p string) string {
	if strings.HasPrefix(p, "/") {
		return k.dir + p
	}
	return p
}

func (k *kernel) settings(files wire.FilePolicy) []byte {
	type literal struct {
		Path    string `json:"path"`
		Literal bool   `json:"literal"`
	}
	list := func(entries []wire.PathEntry) []any {
		out := []any{}
		for _, e := range entries {
			if e.Glob {
				out = append(out, k.dir+e.Path)
			} else {
				out = append(out, literal{k.dir + e.Path, true})
			}
		}
		return out
	}
	lifted := []string{}
	kept := map[string]bool{}
	for _, p := range files.Protected {
		kept[p.Name] = true
	}
	for _, p := range kernelTable {
		if !kept[p.Name] {
			lifted = append(lifted, p.Name)
		}
	}
	b, err := json.Marshal(map[string]any{"mandatoryDenySearchDepth": files.ScanDepth, "filesystem": map[string]any{"denyRead": list(files.DenyRead), "allowRead": list(files.AllowRead),
		"allowWrite": list(files.AllowWrite), "denyWrite": list(files.DenyWrite), "allowProtected": lifted}})
	if err != nil {
		panic(err)
	}
	return b
}

func (k *kernel) ask(t *testing.T, o order) string {
	t.Helper()
	o.A, o.B = k.real(o.A), k.real(o.B)
	var answer string
	if err := json.NewEncoder(k.in).Encode(o); err != nil {
		t.Fatalf("%s: %v; %s", k.which, err, k.stderr.String())
	}
	if err := k.answer.Decode(&answer); err != nil {
		t.Fatalf("%s: no answer: %v; %s", k.which, err, k.stderr.String())
	}
	return answer
}

func (k *kernel) stop(t *testing.T) {
	t.Helper()
	k.in.Close()
	if err := k.cmd.Wait(); err != nil {
		t.Fatalf("%s: %v; %s", k.which, err, k.stderr.String())
	}
}

// differs compares what is on the disk now with the tree in memory.
func (k *kernel) differs(mem *memfs.FS) string {
	want := map[string]bool{}
	for _, p := range mem.Paths() {
		want[p] = true
	}
	diff := ""
	err := filepath.WalkDir(k.dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || p == k.dir {
			return err
		}
		q := strings.TrimPrefix(p, k.dir)
		kind := kindOf(uint32(map[fs.FileMode]int{0: syscall.S_IFREG, fs.ModeDir: syscall.S_IFDIR, fs.ModeSymlink: syscall.S_IFLNK}[e.Type()]))
		if !want[q] || kind != mem.Lstat(q) {
			diff += fmt.Sprintf("%s is on the disk; ", q)
		}
		delete(want, q)
		return nil
	})
	for q := range want {
		diff += fmt.Sprintf("%s is not on the disk; ", q)
	}
	if err != nil {
		diff += err.Error()
	}
	return diff
}
