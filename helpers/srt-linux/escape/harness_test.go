package escape

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/srt-dev/srt/core/srttest"
	"golang.org/x/sys/unix"
)

// who can make an attack succeed without a sandbox. The control is run by nobody else.
type who int

const (
	anybody who = iota
	rootOnly
	nobody // without a sandbox it is not tried: it would harm the machine, or nobody can
)

func (w who) can() bool { return w == anybody || w == rootOnly && os.Geteuid() == 0 }

// A stage is what one attack has to itself.
type stage struct {
	Work   string // a directory that the policy makes writable; the same for all attacks is its parent, the working directory
	Out    string // a directory that it does not; holds the file "victim"
	Secret string // what victim and everything else outside that must not be read holds
	Host   host
}

// An attack is one try, made inside. It brings back what it got hold of; an error says why it got nothing.
type attack struct {
	name    string
	control who
	try     func(s stage) (loot string, err error)
}

// What an attack came to.
type outcome struct {
	Loot string
	Err  string
	Hung bool
	e    string
}

// A class is the attacks that one sandbox is started for.
type class struct {
	settings func(base string) string
	prepare  func(t *testing.T, s stage)                         // makes what an attack needs, outside
	state    func(s stage) string                                // what must not change outside; nil: nothing is looked at
	through  func(s stage, before, after string, o outcome) bool // whether an attack got through; nil: the state changed
	start    func(t *testing.T, cmd *exec.Cmd, base string)      // changes how the attacker is started; nil: not at all
	mayLack  bool                                                // kernels differ in what they have: a control that finds nothing is told, not failed
	attacks  []attack
}

var classes = map[string]class{}

const (
	classVar = "SRT_ESCAPE_CLASS"
	baseVar  = "SRT_ESCAPE_BASE"
	hostVar  = "SRT_ESCAPE_HOST"
	freeVar  = "SRT_ESCAPE_CONTROL" // set in the control
	patience = 10 * time.Second
)

func TestMain(m *testing.M) {
	if os.Getenv(listenerVar) != "" {
		fmt.Fprintln(os.Stderr, behindListener(os.Args[1:]))
		os.Exit(1)
	}
	if os.Getenv(containerVar) != "" {
		fmt.Fprintln(os.Stderr, inContainer(os.Args[1:]))
		os.Exit(1)
	}
	switch dir := os.Getenv(restrictedVar); {
	case filepath.Base(os.Args[0]) == "bwrap":
		fmt.Fprintln(os.Stderr, asBwrap(os.Args))
		os.Exit(1)
	case dir != "" && !strings.HasPrefix(dir, "inside:"):
		if err := restrict(dir, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if name := os.Getenv(classVar); name != "" {
		os.Exit(attackAll(name))
	}
	os.Exit(m.Run())
}

func stageOf(base, name string, h host) stage {
	n := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return stage{Work: filepath.Join(base, "work", n), Out: filepath.Join(base, "out", n), Secret: "secret of " + n, Host: h}
}

// attackAll is the attacker: it runs every attack of a class on a thread of its own and prints what each came to.
func attackAll(name string) int {
	var h host
	if err := json.Unmarshal([]byte(os.Getenv(hostVar)), &h); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	out := map[string]outcome{}
	for _, a := range classes[name].attacks {
		if os.Getenv(freeVar) != "" && !a.control.can() {
			continue
		}
		s := stageOf(os.Getenv(baseVar), a.name, h)
		done := make(chan outcome, 1)
		go func() {
			runtime.LockOSThread() // never unlocked: what the attack did to its thread ends with it
			defer func() {
				if r := recover(); r != nil {
					done <- outcome{Err: fmt.Sprint("panic: ", r)}
				}
			}()
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				done <- outcome{Err: "unshare: " + err.Error()}
				return
			}
			loot, err := a.try(s)
			o := outcome{Loot: loot}
			if err != nil {
				o.Err = err.Error()
				if e, ok := errors.AsType[unix.Errno](err); ok {
					o.e = unix.ErrnoName(e)
				}
			}
			done <- o
		}()
		select {
		case o := <-done:
			if o.e != "" {
				o.Err = o.e + ": " + o.Err
			}
			out[a.name] = o
		case <-time.After(patience):
			out[a.name] = outcome{Hung: true}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return 1
	}
	return 0
}

// TestEscapes runs every class twice: in the sandbox, where nothing may get through, and without it, where everything must.
func TestEscapes(t *testing.T) {
	srttest.RequireBwrap(t)
	srt := srttest.Built(t, "bin/srt")
	for name, c := range classes {
		t.Run(name, func(t *testing.T) {
			for _, h := range []how{sandboxed, control} {
				got := c.run(t, name, srt, h)
				for _, a := range c.attacks {
					c.judge(t, a, got[a.name], h)
				}
			}
		})
	}
}

// how the attacker is started.
type how int

const (
	control   how = iota
	sandboxed     // by srt
	weaker        // by srt with enableWeakerNestedSandbox, where no supervisor can run
	contained     // by srt with enableWeakerNestedSandbox, where no fresh /proc can be mounted
)

// places are the variables that make this binary a place in which a sandbox is weaker.
var places = map[how]string{weaker: listenerVar, contained: containerVar}

type result struct {
	outcome
	through bool
}

func (c class) judge(t *testing.T, a attack, r result, h how) {
	inside := h != control
	switch {
	case inside && r.Hung:
		t.Errorf("%s: hangs in the sandbox", a.name)
	case inside && r.through:
		t.Errorf("%s: GOT THROUGH: %q, %s", a.name, r.Loot, r.Err)
	case inside && strings.HasPrefix(r.Err, "panic"):
		t.Errorf("%s: %s", a.name, r.Err)
	case !inside && a.control.can() && !r.through && c.mayLack && lacks(r.Err):
		t.Logf("%s: not on this machine: %s", a.name, r.Err)
	case !inside && a.control.can() && !r.through:
		t.Errorf("%s: fails without a sandbox too, so it proves nothing: %q, %s", a.name, r.Loot, r.Err)
	}
}

// lacks says whether an error means that the kernel was built without what was asked for.
func lacks(err string) bool {
	return strings.HasPrefix(err, "ENOENT:") || strings.HasPrefix(err, "ENOSYS:")
}

// run makes the stages, starts the attacker and looks at what it did.
func (c class) run(t *testing.T, name, srt string, way how) map[string]result {
	t.Helper()
	base := t.TempDir()
	h := startHost(t, base)
	before := map[string]string{}
	attacks := map[string]stage{}
	for _, a := range c.attacks {
		s := stageOf(base, a.name, h)
		if _, twice := attacks[a.name]; twice {
			t.Fatalf("two attacks are called %q", a.name)
		}
		attacks[a.name] = s
		for _, d := range []string{s.Work, s.Out} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		write(t, s.Out+"/victim", s.Secret)
		if c.prepare != nil {
			c.prepare(t, s)
		}
		if c.state != nil {
			before[a.name] = c.state(s)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	if way != control {
		settings := filepath.Join(t.TempDir(), "settings.json")
		write(t, settings, c.settings(base))
		cmd = exec.CommandContext(ctx, srt, "--settings", settings, self)
		if place := places[way]; place != "" {
			write(t, settings, weakened(c.settings(base)))
			cmd = exec.CommandContext(ctx, self, srt, "--settings", settings, self)
			cmd.Env = append(cmd.Env, place+"=1")
			if way == contained {
				cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
			}
		}
	} else if cmd.Env = append(cmd.Env, freeVar+"=1"); os.Geteuid() == 0 { // the control may mount and rename the machine, where nobody sees it
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS | unix.CLONE_NEWUTS}
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir = filepath.Join(base, "work")
	cmd.Env = append(append(cmd.Env, os.Environ()...), classVar+"="+name, baseVar+"="+base, hostVar+"="+string(text))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.start != nil {
		c.start(t, cmd, base)
	}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", way, err, stderr.String())
	}
	var got map[string]outcome
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatalf("%v: %v\n%s%s", way, err, stdout.String(), stderr.String())
	}
	results := map[string]result{}
	for _, a := range c.attacks {
		o, ran := got[a.name]
		if !ran && (way != control || a.control.can()) {
			t.Fatalf("%s did not run", a.name)
		}
		s := attacks[a.name]
		after := ""
		if c.state != nil {
			after = c.state(s)
		}
		r := result{outcome: o, through: after != before[a.name]}
		if c.through != nil {
			r.through = c.through(s, before[a.name], after, o)
		}
		if r.through && c.state != nil {
			r.Loot += " | " + difference(before[a.name], after)
		}
		results[a.name] = r
	}
	return results
}

// lootHasSecret is the judgement on attacks that read.
func lootHasSecret(s stage, _, _ string, o outcome) bool { return strings.Contains(o.Loot, s.Secret) }

// reached is the judgement on calls made with arguments that do nothing: an answer other than a refusal came from the code behind it.
func reached(_ stage, _, _ string, o outcome) bool {
	for _, refusal := range []string{"EPERM", "EACCES", "ENOSYS", "EROFS", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ENOENT"} {
		if strings.HasPrefix(o.Err, refusal+":") {
			return false
		}
	}
	return !o.Hung
}
