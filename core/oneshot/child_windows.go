package oneshot

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/srt-dev/srt/core/wire"
)

// child is a process of srt with pipes as standard input and output. It inherits these, srt's stderr, and nothing else.
type child struct {
	name    string
	process *os.Process
	in      *os.File // what it reads
	out     *os.File // what it writes
}

func startChild(path string, args ...string) (*child, error) {
	fault := func(err error) error {
		return &wire.Fault{Code: wire.CodePeerGone, Op: "start", Path: path, Detail: cause(err)}
	}
	env, err := ChildEnv()
	if err != nil {
		return nil, fault(err)
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, fault(err)
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, fault(err)
	}
	defer theirOut.Close()
	// A process group of its own gets no Ctrl-C of the console.
	p, err := os.StartProcess(path, append([]string{path}, args...), &os.ProcAttr{Env: env, Files: []*os.File{theirIn, theirOut, os.Stderr},
		Sys: &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}})
	if err != nil {
		in.Close()
		out.Close()
		return nil, fault(err)
	}
	return &child{name: path, process: p, in: in, out: out}, nil
}

// ChildEnv is the environment of a process of srt: built, because the caller's could change what runs outside the sandbox. Without the
// system directory Windows finds no provider of sockets, without the profile not the folder of the user's data.
func ChildEnv() ([]string, error) {
	root, err := windows.GetSystemWindowsDirectory()
	if err != nil {
		return nil, err
	}
	profile, err := windows.GetCurrentProcessToken().GetUserProfileDirectory()
	if err != nil {
		return nil, err
	}
	return []string{"SystemRoot=" + root, "SystemDrive=" + root[:2], "USERPROFILE=" + profile}, nil
}

// end frees everything and leaves no process.
func (c *child) end() {
	_ = c.process.Kill() // one that has ended is what is wanted
	_, _ = c.process.Wait()
	_ = c.in.Close()
	_ = c.out.Close()
}
