package escape

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
	"golang.org/x/sys/unix"
)

// Ubuntu's AppArmor restriction without AppArmor: an ordinary user sees its switch in /proc/sys/kernel, and a bubblewrap whose children
// have no capability. Without the profile that lets it work at all, bubblewrap fails; see restrictedHook.
const (
	restrictedVar  = "SRT_ESCAPE_RESTRICTED" // the directory of the stage; in its test, "inside:" before it
	restrictedUid  = 1001
	restrictedReal = "/proc/sys/kernel/bwrap"
	// restrictedHook is a shell script that runs before bubblewrap; when it fails, so does bubblewrap. $1 says what for.
	restrictedHook = "/proc/sys/kernel/hook"
)

// TestRestricted runs TestInsideRestricted as an ordinary user of such a machine.
func TestRestricted(t *testing.T) {
	srttest.RequireRoot(t)
	bwrap := srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	dir, err := os.MkdirTemp("/tmp", "srt-restricted-") // everybody may pass
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", bwrap, filepath.Dir(filepath.Dir(srt)))
	cmd.Env = append(os.Environ(), restrictedVar+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// restrict makes the stage in its own mount namespace, which is shared with sandboxes as that of a machine is, and runs the test there.
func restrict(dir, bwrap, tree string) error {
	try := func(err error, what string) error {
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	self, err1 := os.Readlink("/proc/self/exe")
	real, err2 := os.ReadFile(bwrap) // a bind mount of it would be a peer, and receive what is mounted over it
	err := errors.Join(err1, err2,
		try(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), "private"),
		try(unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""), "shared"),
		try(unix.Mount("stage", dir, "tmpfs", 0, "mode=755"), "stage"))
	for _, d := range []string{"kernel", "proc", "tmp", "late", "tree/bin", "tree/libexec"} {
		err = errors.Join(err, os.MkdirAll(dir+"/"+d, 0o755))
	}
	for _, f := range []string{"test", "tree/go.work"} {
		err = errors.Join(err, os.WriteFile(dir+"/"+f, nil, 0o755))
	}
	bind := func(from, to string) error { return try(unix.Mount(from, to, "", unix.MS_BIND, ""), to) }
	settings, _ := filepath.Glob("/proc/sys/kernel/*")
	for _, f := range settings { // bubblewrap and others read some; not all may be read
		if value, err := os.ReadFile(f); err == nil {
			_ = os.WriteFile(dir+"/kernel/"+filepath.Base(f), value, 0o644)
		}
	}
	err = errors.Join(err,
		os.WriteFile(dir+"/kernel/bwrap", real, 0o755),
		os.WriteFile(dir+"/kernel/apparmor_restrict_unprivileged_userns", []byte("1\n"), 0o644),
		os.Chmod(dir+"/kernel", 0o777), os.Chmod(dir+"/tmp", 0o777|os.ModeSticky),
		try(unix.Mount("proc", dir+"/proc", "proc", 0, ""), "a /proc that shows all, else nobody may mount another"),
		bind(self, dir+"/test"), bind(self, bwrap),
		bind(tree+"/bin", dir+"/tree/bin"), bind(tree+"/libexec", dir+"/tree/libexec"),
		try(unix.Mount(dir+"/kernel", "/proc/sys/kernel", "", unix.MS_BIND|unix.MS_REC, ""), "switch"))
	if err != nil {
		return err
	}
	cmd := exec.Command(dir+"/test", "-test.run=^TestInsideRestricted$", "-test.v")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir+"/tree", os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), restrictedVar+"=inside:"+dir, "HOME="+dir+"/tmp", "TMPDIR="+dir+"/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: restrictedUid, Gid: restrictedUid}, Pdeathsig: unix.SIGKILL}
	asks, asked, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.ExtraFiles = []*os.File{asked}
	if err := cmd.Start(); err != nil {
		return err
	}
	asked.Close()
	var b [1]byte
	for n, _ := asks.Read(b[:]); n == 1; n, _ = asks.Read(b[:]) { // a byte on descriptor 3: mount something, as a desktop does with a stick
		if err := unix.Mount("stick", dir+"/late", "tmpfs", 0, "uid="+strconv.Itoa(restrictedUid)); err != nil {
			return err
		}
	}
	return cmd.Wait()
}

// asBwrap is bubblewrap under the restriction.
func asBwrap(args []string) error {
	var kept []string
	what := "try"
	for i := 0; i < len(args); i++ {
		if args[i] == "--cap-add" {
			i++
			continue
		}
		if args[i] == "--" {
			if len(args) > i+2 && args[i+2] == "init" {
				what = "start"
			}
			kept = append(kept, args[i:]...)
			break
		}
		kept = append(kept, args[i])
	}
	if _, err := os.Stat(restrictedHook); err == nil {
		hook := exec.Command("/bin/sh", restrictedHook, what)
		hook.Stderr = os.Stderr
		if err := hook.Run(); err != nil {
			os.Exit(1)
		}
	}
	return syscall.Exec(restrictedReal, kept, os.Environ())
}

// TestInsideRestricted runs every class where bubblewrap makes the mounts, and what is particular to that.
func TestInsideRestricted(t *testing.T) {
	stage, inside := strings.CutPrefix(os.Getenv(restrictedVar), "inside:")
	if !inside {
		return // TestRestricted starts it
	}
	t.Setenv(restrictedVar, "")
	srt := srttest.Built(t, "bin/srt")
	for name, c := range classes {
		t.Run(name, func(t *testing.T) {
			got := c.run(t, name, srt, sandboxed)
			for _, a := range c.attacks {
				c.judge(t, a, got[a.name], sandboxed)
			}
		})
	}
	for name, c := range restrictedCases {
		t.Run(name, func(t *testing.T) { c.run(t, srt, stage) })
	}
}

// A restrictedCase is one start, in a working directory of its own that holds sub/kept, sub/secret and other/, and is writable.
type restrictedCase struct {
	settings string // in the place of "filesystem"
	hook     string // before bubblewrap starts the sandbox, in the working directory
	broken   string // what bubblewrap says instead of working
	command  string
	outside  string // run once the command has made the file "ready"; "mount" mounts
	status   int
	stdout   string
	says     []string
}

var restrictedCases = map[string]restrictedCase{
	"an ordinary run says how it is weaker": {command: "cat sub/kept; echo x >new; touch .bashrc", settings: `"allowWrite":["."]`, stdout: "secret", status: 1,
		says: []string{"srt: warning: bubblewrap makes the mounts here", "deny file-write", "/.bashrc"}},
	"an allowWrite path that is missing": {settings: `"allowWrite":["new"]`, command: "mkdir new", status: 1, says: []string{"it does not exist, and where bubblewrap makes the mounts"}},
	"all is writable, but no kernel file system": {settings: `"allowWrite":["/"]`, command: "awk '{m[$5]=substr($6,1,2)} END {print m[\"/\"], m[\"/sys\"]}' /proc/self/mountinfo",
		stdout: "rw ro\n"},
	"its own pipe by a name": {settings: `"allowWrite":["."]`, command: "echo x >/dev/stdout; echo y >>/proc/self/fd/1; echo z | tee /dev/stdout", stdout: "x\ny\nz\nz\n"},
	"a link in a directory's place": {hook: "mv sub old; ln -s other sub; touch other/kept", settings: `"allowWrite":["."],"denyWrite":["sub/kept"]`,
		command: "echo ran", status: 125, says: []string{"/sub/kept", "a symbolic link stands where the plan saw none"}},
	"a link in the place of what is writable": {hook: "mv sub old; ln -s other sub", settings: `"allowWrite":["sub"]`,
		command: "echo ran; echo x >other/x", status: 125, says: []string{"/sub", "a symbolic link stands where the plan saw none"}},
	"another directory in the place": {hook: "mv sub old; mkdir sub", settings: `"allowWrite":["sub"]`,
		command: "echo ran", status: 125, says: []string{"/sub", "is another than the plan saw"}},
	"a file system that comes later": {settings: `"allowWrite":["."]`, command: "touch ready; sleep 10; echo x >LATE/file; echo ran", outside: "mount",
		status: 125, says: []string{"/late", "mounted outside while the command ran"}},
	"a protected file that is replaced outside": {settings: `"allowWrite":["."],"denyWrite":["sub/kept"]`, outside: "echo new >n && mv n sub/kept; touch go",
		command: "touch ready; while [ ! -e go ]; do sleep 0.02; done; sleep 0.1", says: []string{"/sub/kept", "replaced or removed outside"}},

	"a machine without the profile": {broken: "bwrap: setting up uid map: Permission denied", command: "true", status: 125, says: []string{
		"AppArmor lets bubblewrap make no namespaces here", "bwrap: setting up uid map: Permission denied",
		`profile bwrap /usr/bin/bwrap flags=(unconfined) {\n  userns,\n}\n' | sudo tee /etc/apparmor.d/bwrap`}},
}

func (c restrictedCase) run(t *testing.T, srt, stage string) {
	dir := t.TempDir()
	for _, d := range []string{"sub", "other"} {
		if err := os.Mkdir(dir+"/"+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"kept", "secret"} {
		write(t, dir+"/sub/"+f, "secret")
	}
	if c.broken != "" {
		c.hook = "false"
	}
	if c.hook != "" {
		write(t, restrictedHook, fmt.Sprintf("echo '%s' >&2; [ -z '%s' ] || exit 1; [ $1 = try ] && exit; cd '%s' && %s\n", c.broken, c.broken, dir, c.hook))
		t.Cleanup(func() { os.Remove(restrictedHook) })
	}
	settings := filepath.Join(t.TempDir(), "settings.json")
	write(t, settings, `{"filesystem":{`+strings.ReplaceAll(c.settings, "LATE", stage+"/late")+`}}`)
	cmd := exec.CommandContext(t.Context(), srt, "--violations", "--settings", settings, "-c", strings.ReplaceAll(c.command, "LATE", stage+"/late"))
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if c.outside != "" {
		c.meanwhile(t, dir)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != c.status || stdout.String() != c.stdout {
		t.Errorf("exit status %d, %q, want %d, %q\n%s", got, stdout.String(), c.status, c.stdout, stderr.String())
	}
	for _, want := range c.says {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr.String())
		}
	}
}

// meanwhile does something outside while the command runs.
func (c restrictedCase) meanwhile(t *testing.T, dir string) {
	for range 1000 {
		if _, err := os.Stat(dir + "/ready"); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if c.outside == "mount" {
		if _, err := unix.Write(3, []byte{1}); err != nil {
			t.Error(err)
		}
		return
	}
	sh := exec.Command("/bin/sh", "-c", c.outside)
	sh.Dir = dir
	if out, err := sh.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
