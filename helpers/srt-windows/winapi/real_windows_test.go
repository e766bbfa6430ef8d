package winapi

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/helpers/srt-windows/quote"
	"github.com/srt-dev/srt/helpers/srt-windows/sd"
)

func TestMain(m *testing.M) {
	switch os.Getenv("SRT_TEST_CHILD") {
	case "args":
		for _, a := range os.Args[1:] {
			fmt.Printf("%q\n", a)
		}
		os.Exit(0)
	case "exit":
		code, err := strconv.ParseUint(os.Args[1], 0, 32)
		if err != nil {
			os.Exit(99)
		}
		os.Exit(int(code))
	case "sleep":
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// wine says that the test runs on Wine, where some calls only pretend.
func wine() bool { return os.Getenv("SRT_WINE") == "1" }

// tempDir is t.TempDir, left behind under Wine 8, where Go cannot remove files.
func tempDir(t *testing.T) string {
	t.Helper()
	if !wine() {
		return t.TempDir()
	}
	d, err := os.MkdirTemp("", "srt-test")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDescriptorsAgreeWithWindows(t *testing.T) {
	for name, d := range map[string]sd.Descriptor{
		"a usual one": {Owner: sd.Administrators, Group: sd.LocalSystem, AutoInherited: true, DACL: []sd.ACE{
			{Kind: sd.Deny, Flags: sd.Inherit, Mask: sd.MaskWrite, SID: "S-1-5-21-1-2-3-1002"}, {Mask: sd.MaskAll, Flags: sd.Inherit | sd.InheritOnly, SID: "S-1-5-21-1-2-3-1001"},
			{Flags: sd.Inherited | sd.ContainerInherit, Mask: 0x1200A9, SID: sd.Users}, {Flags: sd.ObjectInherit | sd.NoPropagate, Mask: 1, SID: sd.Everyone}}},
		"protected, empty list":    {Owner: sd.LocalSystem, Group: sd.LocalSystem, Protected: true},
		"application packages":     {Owner: sd.LocalSystem, Group: sd.LocalSystem, DACL: []sd.ACE{{Mask: 1, SID: sd.AllAppPackages}, {Mask: 1, SID: sd.Restricted}}},
		"an identifier of a root":  {Owner: sd.LocalSystem, Group: sd.LocalSystem, DACL: []sd.ACE{{Mask: sd.MaskModify, SID: sd.ForRoot("x")}}},
		"owner rights and creator": {Owner: sd.LocalSystem, Group: sd.LocalSystem, DACL: []sd.ACE{{Mask: sd.ReadControl, SID: sd.OwnerRights}, {Flags: sd.Inherit, Mask: 1, SID: sd.CreatorOwner}}},
	} {
		t.Run(name, func(t *testing.T) {
			ours, err := native(d)
			if err != nil {
				t.Fatal(err)
			}
			if !ours.IsValid() {
				t.Error("Windows does not take our bytes")
			}
			theirs, err := windows.SecurityDescriptorFromString(d.String())
			if err != nil {
				t.Fatalf("Windows does not read %s: %v", d, err)
			}
			back, err := readBack(theirs)
			if err != nil || back.String() != d.String() {
				t.Errorf("Windows reads %s as %s (%v)", d, back, err)
			}
		})
	}
}

func TestCommandLineToArgv(t *testing.T) {
	for _, words := range quote.Hostile() {
		argv := append([]string{`C:\Program Files\x y\p.exe`}, words...)
		line, err := quote.Argv(argv)
		if err != nil {
			t.Fatal(err)
		}
		got, err := windows.DecomposeCommandLine(line)
		if err != nil || !slices.Equal(got, argv) {
			t.Errorf("%q became %q by %s (%v)", argv, got, line, err)
		}
	}
}

// TestArgumentsArrive starts a process with all hostile words at once and some vectors apart.
func TestArgumentsArrive(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	vectors := quote.Hostile()
	for _, words := range append(vectors[len(vectors)-8:], vectors[:3]...) {
		line, err := quote.Argv(append([]string{self}, words...))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "SRT_TEST_CHILD=args")
		cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: line}
		out, err := cmd.Output()
		want := ""
		for _, w := range words {
			want += fmt.Sprintf("%q\n", w)
		}
		if err != nil || string(out) != want {
			t.Errorf("%q arrived as %s (%v)", words, out, err)
		}
	}
}

func TestBatchArgumentsAreNoCommands(t *testing.T) {
	dir := tempDir(t)
	file := filepath.Join(dir, "b.cmd")
	if err := os.WriteFile(file, []byte("@exit /b 0\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, "mark")
	system, err := windows.GetSystemDirectory()
	if err != nil {
		t.Fatal(err)
	}
	for _, attack := range []string{`&echo x>` + mark, `"&echo x>` + mark + `&"`, `|echo x>` + mark, "%COMSPEC:~0,0%&echo x>" + mark} {
		line, err := quote.Batch(filepath.Join(system, "cmd.exe"), file, []string{attack})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(system, "cmd.exe"))
		cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: line}
		out, runErr := cmd.CombinedOutput()
		if _, err := os.Stat(mark); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%q ran a command (%s, %v)", attack, out, runErr)
		}
	}
}

func startChild(t *testing.T, kind string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	line, err := quote.Argv(append([]string{self}, args...))
	if err != nil {
		t.Fatal(err)
	}
	w, err := words(StartSpec{Program: self, Line: line, Env: append(os.Environ(), "SRT_TEST_CHILD="+kind), Dir: tempDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	info := windows.StartupInfo{Cb: 104}
	p := &process{}
	if err := windows.CreateProcess(w.program, w.line, nil, nil, false, windows.CREATE_SUSPENDED|windows.CREATE_UNICODE_ENVIRONMENT, &w.env[0], w.dir, &info, &p.info); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestExitCodesAreWhole(t *testing.T) {
	for _, code := range []uint32{0, 1, 255, 256, 0x7FFFFFFF, 0xC0000005, 0xFFFFFFFF} {
		p := startChild(t, "exit", strconv.FormatUint(uint64(code), 10))
		if err := p.Resume(); err != nil {
			t.Fatal(err)
		}
		if got, err := p.Wait(); err != nil || got != code {
			t.Errorf("ended with 0x%x, Wait says 0x%x (%v)", code, got, err)
		}
		if err := errors.Join(p.Kill(), p.Close()); err != nil {
			t.Errorf("after its end: %v", err)
		}
	}
}

func TestJobEndsItsProcesses(t *testing.T) {
	r := &Real{}
	j, err := r.NewJob(JobSpec{Limits: 0x2000 | 0x400, UI: 0xFF})
	if err != nil {
		t.Fatal(err)
	}
	p := startChild(t, "sleep")
	if err := errors.Join(j.Assign(p), p.Resume()); err != nil {
		t.Fatal(err)
	}
	if facts, err := j.Facts(); !wine() && (err != nil || facts != (JobSpec{0x2400, 0xFF})) {
		t.Errorf("the job says %+v, %v", facts, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _, _ = p.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("the process outlived its job")
		_ = p.Kill()
	}
}

func TestRegistry(t *testing.T) {
	r := &Real{}
	path := `SOFTWARE\srt-test-` + strconv.Itoa(os.Getpid())
	d := sd.Descriptor{Protected: true, DACL: []sd.ACE{{Mask: 0xF003F, Flags: sd.ContainerInherit, SID: sd.Administrators}, {Mask: 0xF003F, Flags: sd.ContainerInherit, SID: sd.LocalSystem}}}
	if err := r.KeyCreate(path, d); errors.Is(err, ErrAccessDenied) {
		t.Skip("needs an administrator")
	} else if err != nil {
		t.Fatal(err)
	}
	for _, v := range []Value{{Kind: KindString, String: "text ü"}, {Kind: KindBinary, Binary: []byte{0, 1, 255}}, {Kind: KindNumber, Number: 0xFFFFFFFE}} {
		if err := r.ValueSet(path, "v", v); err != nil {
			t.Fatal(err)
		}
		got, err := r.ValueGet(path, "v")
		if err != nil || got.Kind != v.Kind || got.String != v.String || got.Number != v.Number || !bytes.Equal(got.Binary, v.Binary) {
			t.Errorf("wrote %+v, read %+v, %v", v, got, err)
		}
	}
	if err := r.KeyCreate(path+`\below`, d); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"delete value": r.ValueDelete(path, "v"), "delete key": r.KeyDelete(path)} {
		if err != nil && what == "delete key" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := r.ValueGet(path, "v"); !errors.Is(err, ErrFileNotFound) {
		t.Errorf("after all: %v", err)
	}
	if err := r.KeyDelete(path); !errors.Is(err, ErrFileNotFound) {
		t.Errorf("twice: %v", err)
	}
}

func TestSecrets(t *testing.T) {
	r := &Real{}
	sealed, err := r.Protect([]byte("secret"), []byte("e"))
	if err != nil || bytes.Contains(sealed, []byte("secret")) {
		t.Fatalf("%x, %v", sealed, err)
	}
	if plain, err := r.Unprotect(sealed, []byte("e")); err != nil || string(plain) != "secret" {
		t.Errorf("%q, %v", plain, err)
	}
	if plain, err := r.Unprotect(sealed, []byte("f")); err == nil {
		t.Errorf("another program's entropy gave %q", plain)
	}
}

func TestSelf(t *testing.T) {
	r := &Real{}
	sid, err := r.UserSID()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sd.ParseSID(string(sid)); err != nil {
		t.Error(err)
	}
	pid, started, err := r.ProcessIdentity()
	if err != nil || pid != uint32(os.Getpid()) {
		t.Fatalf("%d, %v", pid, err)
	}
	for _, c := range []struct {
		pid  uint32
		at   uint64
		want bool
	}{{pid, started, true}, {pid, started + 1, false}, {0xFFFFFFF0, 1, false}} {
		if got, err := r.ProcessAlive(c.pid, c.at); got != c.want || err != nil {
			t.Errorf("alive %d %d: %v, %v", c.pid, c.at, got, err)
		}
	}
}
